//! Asynchronous copies: from global to shared memory, while the thread goes on.
//!
//! A thread's copies are collected in groups, in order; it waits until all but its last so many groups are done. Then it
//! sees what it copied, and the other threads see it behind a [`barrier`](crate::lang::barrier). Two tiles ahead:
//!
//! ```text
//! buffer.slice(0, 0, 1).async_copy(p);                    commit_group();
//! buffer.slice(0, 1, 1).async_copy(p + step);             commit_group();
//! wait_group(1); barrier();                               // the first tile is here, the second may be under way
//! ```
//!
//! The simulator stops a kernel that touches what a copy may still be bringing. Chips before sm_80 have no such copies:
//! an instance for one doesn't pass the check. There a tile waits in registers, which is a cost to be seen: `load` it,
//! and `store` it where the other source waits; a comptime parameter chooses between the two.

use quadpair_layouts::{Layout, banks};

use crate::ir::OpKind;
use crate::lang::ops::{check_mask, describe, has_its_warp, pointed_to, text};
use crate::lang::{Shared, Tile, Trace};

/// What the error for an older chip calls it.
const NAME: &str = "an asynchronous copy";

/// The first architecture that has it.
const FIRST_SM: u32 = 80;

/// The most groups that one waits for all but.
const MOST_GROUPS: usize = 8;

impl Shared {
    /// Begins to copy the elements at these addresses to the view, which has their shape and type.
    ///
    /// A thread copies 4, 8 or 16 bytes at once, which must lie side by side in both memories: its neighbours' addresses
    /// must be known to follow one another and the first to be a multiple, as by
    /// [`multiple_of`](crate::lang::multiple_of).
    #[track_caller]
    pub const fn async_copy(self, trace: &mut Trace<'_>, pointer: Tile) {
        self.copied(trace, "async_copy", pointer, None);
    }

    /// The same where the mask holds; elsewhere the view gets zeros and nothing is read. The mask must be known to be the
    /// same for the elements of a copy.
    #[track_caller]
    pub const fn async_copy_masked(self, trace: &mut Trace<'_>, pointer: Tile, mask: Tile) {
        check_mask(trace, "async_copy_masked", &pointer, &mask);
        self.copied(trace, "async_copy_masked", pointer, Some(mask));
    }

    #[track_caller]
    const fn copied(self, trace: &mut Trace<'_>, op: &str, pointer: Tile, mask: Option<Tile>) {
        let own = self.memory;
        trace.needs(op, NAME, FIRST_SM);
        let ty = pointed_to(trace, op, &pointer);
        if !ty.dtype.is(own.dtype) {
            let text = describe(text(op), &pointer).push(" to shared memory of ").push(own.dtype.name());
            trace.fail(text.push("; load the tile, convert it with `as` and store it"));
        }
        let layout = pointer.tiled(trace, op);
        self.same_shape(trace, op, &layout);
        self.side_by_side(trace, op, &layout);
        has_its_warp(trace, op, &pointer);
        let mask = match mask {
            Some(mask) => Some(mask.value),
            None => None,
        };
        trace.effect(OpKind::AsyncCopy { memory: own, pointer: pointer.value, mask });
    }

    /// Checks that a thread has at least 4 bytes in one place of the memory.
    #[track_caller]
    const fn side_by_side(&self, trace: &mut Trace<'_>, op: &str, layout: &Layout) {
        if trace.failed() {
            return;
        }
        let dtype = self.memory.dtype;
        let vector = banks::store(layout, &self.memory.layout, dtype.bits()).vector;
        if vector * (dtype.bytes() as usize) < 4 {
            let text = text(op)
                .push("a thread has ")
                .number(vector)
                .push(if vector == 1 { " element of " } else { " elements of " })
                .push(dtype.name());
            let text =
                text.push(" in one place of the shared memory, 4, 8 or 16 bytes are copied at once; take a layout ");
            trace
                .fail(text.push("with at least ").number(4 / dtype.bytes() as usize).push(" registers along its rows"));
        }
    }
}

/// Makes a group of the copies begun since the last.
#[track_caller]
pub const fn commit_group(trace: &mut Trace<'_>) {
    trace.needs("commit_group", NAME, FIRST_SM);
    trace.effect(OpKind::CommitGroup);
}

/// Waits until all of the thread's groups are done but its last `groups`. Other threads' copies are seen behind a barrier.
#[track_caller]
pub const fn wait_group(trace: &mut Trace<'_>, groups: usize) {
    trace.needs("wait_group", NAME, FIRST_SM);
    if groups > MOST_GROUPS {
        let text = text("wait_group").number(groups).push(" groups may be under way, ").number(MOST_GROUPS);
        trace.fail(text.push(" at most; wait for more of them"));
    }
    trace.effect(OpKind::WaitGroup(groups as u32));
}
