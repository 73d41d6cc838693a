//! What a call has to know about a backend's memory before it launches: how long it is and how it's aligned; and how
//! memory is lent to one launch after another.
//!
//! A [`Backend`] only passes memory on, and a launch takes what it is passed. Checking that a view stays inside its
//! buffer needs the buffer's length, and wide loads need addresses that are multiples of 16 bytes. A call of two launches
//! lends its memory to each: what the first writes ([`Memory::halves`]) the second reads ([`Memory::written`]).

use quadpair::{Backend, Element, LaunchError, Program};
use std::sync::Arc;

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
    /// The same memory to read, for one launch.
    fn lend<'b, T: Element>(memory: &'b Self::Ref<'_, T>) -> Self::Ref<'b, T>;
    /// The same memory to write, for one launch.
    fn lend_mut<'b, T: Element>(memory: &'b mut Self::Mut<'_, T>) -> Self::Mut<'b, T>;
    /// What launches wrote, to be read by another.
    fn written<'b, T: Element>(memory: &'b Self::Mut<'_, T>) -> Self::Ref<'b, T>;
    /// The first `at` elements of memory to write, and the others. It must have as many.
    fn halves<'b, T: Element>(memory: &'b mut Self::Mut<'_, T>, at: usize) -> [Self::Mut<'b, T>; 2];
    /// How many blocks of a program run at the same time; a launch of fewer leaves some of the chip idle. In the
    /// simulator 1: it has no multiprocessors to fill.
    ///
    /// # Errors
    /// The program can't be loaded.
    fn blocks_at_once(&self, program: &Arc<Program>) -> Result<usize, LaunchError>;
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
    fn lend<'b, T: Element>(memory: &'b Self::Ref<'_, T>) -> Self::Ref<'b, T> {
        memory
    }
    fn lend_mut<'b, T: Element>(memory: &'b mut Self::Mut<'_, T>) -> Self::Mut<'b, T> {
        memory
    }
    fn written<'b, T: Element>(memory: &'b Self::Mut<'_, T>) -> Self::Ref<'b, T> {
        memory
    }
    fn halves<'b, T: Element>(memory: &'b mut Self::Mut<'_, T>, at: usize) -> [Self::Mut<'b, T>; 2] {
        memory.split_at_mut(at).into()
    }
    fn blocks_at_once(&self, _: &Arc<Program>) -> Result<usize, LaunchError> {
        Ok(1)
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
    fn lend<'b, T: Element>(memory: &'b Self::Ref<'_, T>) -> Self::Ref<'b, T> {
        memory.slice(..)
    }
    fn lend_mut<'b, T: Element>(memory: &'b mut Self::Mut<'_, T>) -> Self::Mut<'b, T> {
        memory.slice_mut(..)
    }
    fn written<'b, T: Element>(memory: &'b Self::Mut<'_, T>) -> Self::Ref<'b, T> {
        memory.as_view()
    }
    fn halves<'b, T: Element>(memory: &'b mut Self::Mut<'_, T>, at: usize) -> [Self::Mut<'b, T>; 2] {
        memory.split_at_mut(at).into()
    }
    fn blocks_at_once(&self, program: &Arc<Program>) -> Result<usize, LaunchError> {
        Ok(self.load(program)?.blocks_at_once() as usize)
    }
}
