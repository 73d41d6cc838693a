//! What is loaded in a context, shared by all who run programs there.
//!
//! To assemble a program takes long next to a launch, so a context does it once, whichever of its streams asks first.
//! A cache lives as long as somebody uses it and keeps no context alive: when the last [`Cuda`](super::Cuda) of a context
//! is dropped, its programs are unloaded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cudarc::driver::CudaContext;

use super::error::CudaError;
use super::module::Module;
use crate::runtime::Program;

/// The programs loaded in one context, by the address of the program, which the module keeps from being used again.
#[derive(Default)]
pub(super) struct Cache(Mutex<HashMap<usize, Arc<Module>>>);

/// The caches in use.
static CACHES: Mutex<Vec<Known<CudaContext, Cache>>> = Mutex::new(Vec::new());

/// Something and what belongs to it, for as long as both are used.
type Known<K, V> = (Weak<K>, Weak<V>);

impl Cache {
    /// The cache of a context.
    pub(super) fn of(context: &Arc<CudaContext>) -> Arc<Self> {
        belonging(&mut CACHES.lock().unwrap_or_else(PoisonError::into_inner), context)
    }

    /// The program as it is loaded; `load` does it the first time, while others wait.
    pub(super) fn get(
        &self,
        program: &Arc<Program>,
        load: impl FnOnce() -> Result<Module, CudaError>,
    ) -> Result<Arc<Module>, CudaError> {
        let mut modules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Arc::as_ptr(program).addr();
        if let Some(module) = modules.get(&key) {
            return Ok(Arc::clone(module));
        }
        let module = Arc::new(load()?);
        modules.insert(key, Arc::clone(&module));
        Ok(module)
    }
}

/// What is known to belong to an equal key, else something new. Forgets what nobody uses.
fn belonging<K: PartialEq, V: Default>(known: &mut Vec<Known<K, V>>, key: &Arc<K>) -> Arc<V> {
    known.retain(|(key, value)| key.strong_count() > 0 && value.strong_count() > 0);
    let same = known.iter().filter(|known| known.0.upgrade().is_some_and(|known| known == *key));
    if let Some(value) = same.filter_map(|known| known.1.upgrade()).next() {
        return value;
    }
    let value = Arc::default();
    known.push((Arc::downgrade(key), Arc::downgrade(&value)));
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_share_and_others_do_not() {
        let mut known = Vec::<Known<u32, Mutex<u32>>>::new();
        let keys = [1, 1, 2].map(Arc::new);
        let values = [0, 1, 2].map(|i| belonging(&mut known, &keys[i]));
        assert!(Arc::ptr_eq(&values[0], &values[1]) && !Arc::ptr_eq(&values[0], &values[2]));
        assert_eq!(known.len(), 2);
    }

    #[test]
    fn what_nobody_uses_is_forgotten() {
        let mut known = Vec::<Known<u32, Mutex<u32>>>::new();
        let (kept, gone) = (Arc::new(1), Arc::new(2));
        *belonging(&mut known, &kept).lock().unwrap() = 5;
        let value = belonging(&mut known, &kept);
        assert_eq!(*value.lock().unwrap(), 0, "the first value was dropped, so this is another");
        let _still_used = belonging(&mut known, &gone);
        drop(gone);
        belonging(&mut known, &kept);
        assert_eq!(known.len(), 1);
    }
}
