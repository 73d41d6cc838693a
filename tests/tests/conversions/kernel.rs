//! A kernel that does nothing but convert: it loads a tile in one layout, converts it, checks every register of every
//! thread against a load in the other layout, and stores the tile.

use quadpair::lang::{Operand, Tile, Trace, arange, device_assert, load, operators, store};
use quadpair::{Backend, Element, Kernel};
use quadpair_layouts::{Bound, Layout};
use std::marker::PhantomData;

/// A conversion of a tile of `T`.
#[derive(Clone, Copy, Debug)]
pub struct Convert<T> {
    pub from: Layout,
    /// Layouts on the way.
    pub through: [Layout; 2],
    /// How many of them.
    pub stops: usize,
    pub to: Layout,
    pub bound: Bound,
    pub element: PhantomData<T>,
}

impl<T: Element> Kernel for Convert<T> {
    const NAME: &'static str = "convert";
    type Args<'a, B: Backend> = (B::Ref<'a, T>, B::Mut<'a, T>);

    fn trace(&self, trace: &mut Trace<'_>) {
        let (elements, out) = (trace.pointer::<T>("elements", false), trace.pointer::<T>("out", true));
        let size = [self.from.shape().len()];
        let own = addresses(trace, elements, self.from.reshape(size));
        let tile = load(trace, own);
        let mut moved = shaped(trace, tile, &self.to);
        for layout in &self.through[..self.stops] {
            moved = moved.convert_layout(trace, *layout);
        }
        let moved = moved.convert_layout_within(trace, self.to, self.bound);
        let moved = moved.reshape(trace, size);
        let right = addresses(trace, elements, self.to.reshape(size));
        let right = Operand::Tile(load(trace, right));
        let right = operators::eq(trace, Operand::Tile(moved), right);
        device_assert(trace, right, "a register got another element than its own");
        let out = addresses(trace, out, self.to.reshape(size));
        store(trace, out, moved);
    }

    fn grid<B: Backend>(&self, _: &Self::Args<'_, B>) -> [u32; 3] {
        [1, 1, 1]
    }

    fn bind<'a, B: Backend>((elements, out): Self::Args<'a, B>) -> Vec<B::Arg<'a>> {
        vec![B::pointer(elements), B::pointer_mut(out)]
    }
}

/// The address of each element of a layout.
fn addresses(trace: &mut Trace<'_>, first: Tile, layout: Layout) -> Tile {
    let numbers = arange(trace, layout);
    operators::add(trace, Operand::Tile(first), Operand::Tile(numbers))
}

/// The tile in the shape of a layout.
fn shaped(trace: &mut Trace<'_>, tile: Tile, layout: &Layout) -> Tile {
    let shape = layout.shape();
    let e = |dim| shape.extent(dim);
    match shape.rank() {
        1 => tile,
        2 => tile.reshape(trace, [e(0), e(1)]),
        3 => tile.reshape(trace, [e(0), e(1), e(2)]),
        _ => tile.reshape(trace, [e(0), e(1), e(2), e(3)]),
    }
}
