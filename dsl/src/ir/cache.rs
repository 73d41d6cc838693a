//! What loads and stores tell the caches.
//!
//! Nothing here changes what a kernel computes. A hint becomes a qualifier, `ld.global.cs.b32`; hints of one access
//! exclude one another, as they do in PTX.

/// Which caches a load goes through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LoadCache {
    /// All of them.
    #[default]
    All,
    /// The second level only, which all multiprocessors share.
    Global,
    /// All of them, to be evicted first: data that is read once.
    Streaming,
    /// All of them, and not needed after this load.
    LastUse,
    /// None: the value is fetched again.
    Volatile,
}

/// Which caches a store goes through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StoreCache {
    /// All of them; memory gets the value when it leaves the last.
    #[default]
    WriteBack,
    /// The second level only.
    Global,
    /// All of them, to be evicted first: data that is not read soon.
    Streaming,
    /// Through all of them to the memory of the system.
    WriteThrough,
}

/// How long the first-level cache keeps what an access brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Evict {
    /// As long as anything else.
    #[default]
    Normal,
    /// Shorter.
    First,
    /// Longer.
    Last,
    /// As long as it would have stayed without this access.
    Unchanged,
    /// It isn't brought there at all.
    NoAllocate,
}

/// What an access tells the caches, as PTX spells it; empty where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    cache: &'static str,
    evict: Evict,
    volatile: bool,
}

impl Hint {
    /// Nothing.
    pub const NONE: Hint = Hint { cache: "", evict: Evict::Normal, volatile: false };

    /// That of a load.
    pub const fn of_load(cache: LoadCache, evict: Evict, volatile: bool) -> Hint {
        let cache = match cache {
            LoadCache::All => "",
            LoadCache::Global => "cg",
            LoadCache::Streaming => "cs",
            LoadCache::LastUse => "lu",
            LoadCache::Volatile => "cv",
        };
        Hint { cache, evict, volatile }
    }

    /// That of a store.
    pub const fn of_store(cache: StoreCache, evict: Evict, volatile: bool) -> Hint {
        let cache = match cache {
            StoreCache::WriteBack => "",
            StoreCache::Global => "cg",
            StoreCache::Streaming => "cs",
            StoreCache::WriteThrough => "wt",
        };
        Hint { cache, evict, volatile }
    }

    /// How many things it says; PTX has room for one.
    pub const fn count(&self) -> usize {
        !self.cache.is_empty() as usize + self.evicts() as usize + self.volatile as usize
    }

    /// Whether it says how long the first level keeps it.
    pub const fn evicts(&self) -> bool {
        !matches!(self.evict, Evict::Normal)
    }

    /// Its qualifiers.
    pub fn qualifiers(&self) -> Vec<String> {
        let evict = match self.evict {
            Evict::Normal => "",
            Evict::First => "L1::evict_first",
            Evict::Last => "L1::evict_last",
            Evict::Unchanged => "L1::evict_unchanged",
            Evict::NoAllocate => "L1::no_allocate",
        };
        let said = [if self.volatile { "volatile" } else { "" }, self.cache, evict];
        said.into_iter().filter(|own| !own.is_empty()).map(str::to_owned).collect()
    }
}
