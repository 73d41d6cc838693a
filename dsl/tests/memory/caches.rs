//! Loads and stores that tell the caches something: the PTX says it, and the result is the same.

use quadpair::prelude::*;
use quadpair::{Backend, Instance, Target};

use crate::harness::{keep, simulator};

/// A copy with every hint of a load in turn.
#[kernel(grid = [1])]
pub fn copies(x: Ptr<f32>, out: PtrMut<f32>, n: i32, #[comptime] load: LoadOptions, #[comptime] store: StoreOptions) {
    let i = arange(blocked([256], [4], [32], [2], [0]));
    let inside = i < n;
    let value = load_with(x + i, load.mask(inside, -1.0));
    store_with(out + i, value * 2.0, store);
    store_with(out + i, load_with(x + i, load.mask(inside, value)) + 1.0, store.mask(inside));
}

fn ptx(load: LoadOptions, store: StoreOptions) -> String {
    let (x, out) = ((0..200).map(|i| i as f32).collect::<Vec<_>>(), vec![0.0_f32; 256]);
    let instance = Instance::new("copies", Copies { load, store });
    check!(instance, CopiesArgs { reads(x), writes(out), n: 200 }, |out: &[f32]| {
        let expected = |i: usize| if i < 200 { i as f32 + 1.0 } else { -2.0 };
        assert!(out.iter().enumerate().all(|(i, &out)| out == expected(i)), "{out:?}");
    });
    instance.program(simulator().target()).unwrap().ptx().to_owned()
}

#[test]
fn hints_are_qualifiers() {
    let (load, store) = (LoadOptions::new(), StoreOptions::new());
    let loads = [
        (load, "ld.global.f32"),
        (load.cache(LoadCache::Global), "ld.global.cg.f32"),
        (load.cache(LoadCache::Streaming), "ld.global.cs.f32"),
        (load.cache(LoadCache::LastUse), "ld.global.lu.f32"),
        (load.cache(LoadCache::Volatile), "ld.global.cv.f32"),
        (load.volatile(), "ld.volatile.global.f32"),
    ];
    let stores = [
        (store, "st.global.f32"),
        (store.cache(StoreCache::Global), "st.global.cg.f32"),
        (store.cache(StoreCache::Streaming), "st.global.cs.f32"),
        (store.cache(StoreCache::WriteThrough), "st.global.wt.f32"),
        (store.volatile(), "st.volatile.global.f32"),
    ];
    for (i, (load, load_text)) in loads.into_iter().enumerate() {
        let (store, store_text) = stores[i % stores.len()];
        let text = ptx(load, store);
        assert!(text.contains(load_text) && text.contains(store_text), "{load_text} and {store_text} in\n{text}");
    }
}

#[test]
fn eviction_needs_a_later_ptx() {
    let target = simulator().target();
    let newer = Target { isa: (7, 4), ..target };
    let older = Target { isa: (6, 4), ..target };
    for (evict, text) in [
        (Evict::First, "L1::evict_first"),
        (Evict::Last, "L1::evict_last"),
        (Evict::Unchanged, "L1::evict_unchanged"),
        (Evict::NoAllocate, "L1::no_allocate"),
    ] {
        let kernel = Copies { load: LoadOptions::new().evict(evict), store: StoreOptions::new().evict(evict) };
        let instance = Instance::new("copies", kernel);
        let program = instance.program(newer).unwrap();
        for access in ["ld", "st"] {
            assert!(program.ptx().contains(&format!("{access}.global.{text}.f32")), "{}", program.ptx());
        }
        let error = instance.program(older).unwrap_err().to_string();
        let words = "needs PTX 7.4; the target sm_70 is written in PTX 6.4";
        assert!(error.contains("caches.rs:") && error.ends_with(words), "{error}");
    }
    keep(&Instance::new("copies", Copies { load: LoadOptions::new(), store: StoreOptions::new() }));
}

#[test]
fn hints_exclude_one_another() {
    let load = LoadOptions::new().cache(LoadCache::Streaming).volatile();
    let instance = Instance::new("copies", Copies { load, store: StoreOptions::new() });
    let error = instance.program(simulator().target()).unwrap_err().to_string();
    assert!(
        error.ends_with("load_with: an access can have one of cache, evict and volatile, this has several"),
        "{error}"
    );
}
