//! What a call has to know about a backend's memory before it launches: how long it is and how it's aligned.
//!
//! A [`Backend`] only passes memory on. Checking that a view stays inside its buffer needs the buffer's length, and wide
//! loads need addresses that are multiples of 16 bytes.

use quadpair::{Backend, Element};

/// A backend whose memory can be measured.
pub trait Memory: Backend {
    /// Elements of memory to read.
    fn length<T: Element>(&self, memory: &Self::Ref<'_, T>) -> usize;
    /// Elements of memory to write.
    fn length_mut<T: Element>(&self, memory: &Self::Mut<'_, T>) -> usize;
    /// Whether memory to read starts at a multiple of `bytes`.
    fn is_aligned<T: Element>(&self, memory: &Self::Ref<'_, T>, bytes: usize) -> bool;
    /// Whether memory to write starts at a multiple of `bytes`.
    fn is_aligned_mut<T: Element>(&self, memory: &Self::Mut<'_, T>, bytes: usize) -> bool;
}

impl Memory for quadpair::sim::Simulator {
    fn length<T: Element>(&self, memory: &Self::Ref<'_, T>) -> usize {
        memory.len()
    }
    fn length_mut<T: Element>(&self, memory: &Self::Mut<'_, T>) -> usize {
        memory.len()
    }
    // The simulator gives each slice an address of its own, which is a multiple of any access' width.
    fn is_aligned<T: Element>(&self, _: &Self::Ref<'_, T>, _: usize) -> bool {
        true
    }
    fn is_aligned_mut<T: Element>(&self, _: &Self::Mut<'_, T>, _: usize) -> bool {
        true
    }
}

impl Memory for quadpair::cuda::Cuda {
    fn length<T: Element>(&self, memory: &Self::Ref<'_, T>) -> usize {
        memory.len()
    }
    fn length_mut<T: Element>(&self, memory: &Self::Mut<'_, T>) -> usize {
        memory.len()
    }
    fn is_aligned<T: Element>(&self, memory: &Self::Ref<'_, T>, bytes: usize) -> bool {
        self.address(memory).is_multiple_of(bytes as u64)
    }
    fn is_aligned_mut<T: Element>(&self, memory: &Self::Mut<'_, T>, bytes: usize) -> bool {
        self.address(memory).is_multiple_of(bytes as u64)
    }
}
