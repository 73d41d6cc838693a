//! What is loaded in a context, shared by all who run programs there.
//!
//! To assemble a program takes long next to a launch, so a context does it once, whichever of its streams asks first;
//! who asks for the same program meanwhile waits, who asks for another does not. A cache lives as long as somebody uses it and keeps no context alive: when the last [`Cuda`](super::Cuda) of a context
//! is dropped, its programs are unloaded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use cudarc::driver::CudaContext;

use super::error::CudaError;
use super::idle::Idle;
use super::module::Module;
use crate::runtime::Program;

/// What belongs to one context.
#[derive(Default)]
pub(super) struct Cache {
    /// By the address of the program, which the module keeps from being used again.
    modules: RwLock<HashMap<usize, Arc<Slot>>>,
    idle: Mutex<Weak<Idle>>,
}

/// The place of one program: whoever loads it holds this.
type Slot = Mutex<Option<Arc<Module>>>;

/// The caches in use.
static CACHES: Mutex<Vec<Known<CudaContext, Cache>>> = Mutex::new(Vec::new());

/// Something and what belongs to it, for as long as both are used.
type Known<K, V> = (Weak<K>, Weak<V>);

impl Cache {
    /// The cache of a context.
    pub(super) fn of(context: &Arc<CudaContext>) -> Arc<Self> {
        belonging(&mut CACHES.lock().unwrap_or_else(PoisonError::into_inner), context)
    }

    /// The program as it is loaded; `load` does it the first time.
    pub(super) fn get(
        &self,
        program: &Arc<Program>,
        load: impl FnOnce() -> Result<Module, CudaError>,
    ) -> Result<Arc<Module>, CudaError> {
        let slot = self.slot(Arc::as_ptr(program).addr());
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = &*slot {
            return Ok(Arc::clone(module));
        }
        let module = Arc::new(load()?);
        *slot = Some(Arc::clone(&module));
        Ok(module)
    }

    fn slot(&self, key: usize) -> Arc<Slot> {
        if let Some(slot) = self.modules.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Arc::clone(slot);
        }
        Arc::clone(self.modules.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_default())
    }

    /// The context's idle stream.
    pub(super) fn idle(&self, context: &Arc<CudaContext>) -> Result<Arc<Idle>, CudaError> {
        let mut known = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(idle) = known.upgrade() {
            return Ok(idle);
        }
        let idle = Arc::new(Idle::new(context)?);
        *known = Arc::downgrade(&idle);
        Ok(idle)
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
