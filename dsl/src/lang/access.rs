//! Loads and stores that tell the caches something.
//!
//! ```text
//! let x = load_with(p + i, LoadOptions::new().cache(LoadCache::Streaming).mask(inside, 0.0));
//! store_with(out + i, y, StoreOptions::new().evict(Evict::First).mask(inside));
//! ```

use crate::ir::{Evict, Hint, LoadCache, OpKind, StoreCache};
use crate::lang::atomic::value_of;
use crate::lang::ops::{check_mask, check_other, check_store, has_its_warp, pointed_to, text};
use crate::lang::{Operand, Tile, Trace};

/// What a load tells the caches, and for which elements it is done.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    cache: LoadCache,
    evict: Evict,
    volatile: bool,
    mask: Option<(Tile, Operand)>,
}

impl LoadOptions {
    /// Those of [`load`](crate::lang::load).
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        LoadOptions { cache: LoadCache::All, evict: Evict::Normal, volatile: false, mask: None }
    }

    /// Through these caches.
    pub const fn cache(self, cache: LoadCache) -> Self {
        LoadOptions { cache, ..self }
    }

    /// Kept so long; needs PTX 7.4.
    pub const fn evict(self, evict: Evict) -> Self {
        LoadOptions { evict, ..self }
    }

    /// Done as often as written: the assembler neither drops nor repeats it.
    pub const fn volatile(self) -> Self {
        LoadOptions { volatile: true, ..self }
    }

    /// Only where the mask holds; elsewhere nothing is touched and the result is `other`.
    pub const fn mask(self, _trace: &mut Trace<'_>, mask: Tile, other: Operand) -> Self {
        LoadOptions { mask: Some((mask, other)), ..self }
    }
}

/// What a store tells the caches, and for which elements it is done.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    cache: StoreCache,
    evict: Evict,
    volatile: bool,
    mask: Option<Tile>,
}

impl StoreOptions {
    /// Those of [`store`](crate::lang::store).
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        StoreOptions { cache: StoreCache::WriteBack, evict: Evict::Normal, volatile: false, mask: None }
    }

    /// Through these caches.
    pub const fn cache(self, cache: StoreCache) -> Self {
        StoreOptions { cache, ..self }
    }

    /// Kept so long; needs PTX 7.4.
    pub const fn evict(self, evict: Evict) -> Self {
        StoreOptions { evict, ..self }
    }

    /// Done as often as written: the assembler neither drops nor repeats it.
    pub const fn volatile(self) -> Self {
        StoreOptions { volatile: true, ..self }
    }

    /// Only where the mask holds.
    pub const fn mask(self, _trace: &mut Trace<'_>, mask: Tile) -> Self {
        StoreOptions { mask: Some(mask), ..self }
    }
}

/// Reads the elements at these addresses, with options.
#[track_caller]
pub const fn load_with(trace: &mut Trace<'_>, pointer: Tile, options: LoadOptions) -> Tile {
    let ty = pointed_to(trace, "load_with", &pointer);
    let hint = Hint::of_load(options.cache, options.evict, options.volatile);
    check_hint(trace, "load_with", &hint);
    let (mut mask, mut other) = (None, None);
    if let Some((own, elsewhere)) = options.mask {
        check_mask(trace, "load_with", &pointer, &own);
        mask = Some(own.value);
        other = Some(check_other(trace, "load_with", &pointer, elsewhere).value);
    }
    trace.emit(OpKind::Load { pointer: pointer.value, mask, other, hint }, ty)
}

/// Writes the elements to these addresses, with options.
#[track_caller]
pub const fn store_with(trace: &mut Trace<'_>, pointer: Tile, value: Tile, options: StoreOptions) {
    check_store(trace, "store_with", &pointer, &value);
    has_its_warp(trace, "store_with", &pointer);
    let hint = Hint::of_store(options.cache, options.evict, options.volatile);
    check_hint(trace, "store_with", &hint);
    if let Some(mask) = &options.mask {
        check_mask(trace, "store_with", &pointer, mask);
    }
    let mask = value_of(options.mask);
    trace.effect(OpKind::Store { pointer: pointer.value, value: value.value, mask, hint });
}

#[track_caller]
const fn check_hint(trace: &mut Trace<'_>, name: &str, hint: &Hint) {
    if hint.count() > 1 {
        trace.fail(text(name).push("an access can have one of cache, evict and volatile, this has several"));
    }
}
