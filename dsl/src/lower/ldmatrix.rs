//! Loads from shared memory as whole matrices, where the layouts are those of `ldmatrix`.
//!
//! The algebra says whether a load is one, which lane gives which row's address and which register gets what. An address
//! is linear in the thread's number as that of every access is, only by other bases.

use quadpair_layouts::{Layout, MatrixLoad};

use super::Lowering;
use super::linear::ThreadMap;
use super::num::Num;
use super::shared::Window;
use crate::element::DType;
use crate::ir::Memory;
use crate::ptx::{Address, Class, Op, Operand, Reg};
use crate::runtime::Target;

/// Bytes of a matrix's row, which is aligned to them.
const ROW: u32 = 16;

/// How a tile is loaded as matrices, if it is on this target.
pub(crate) fn matrix_load(memory: &Memory, tile: &Layout, target: Target) -> Option<MatrixLoad> {
    let has_it = target.sm >= 75 && target.isa >= (6, 5);
    has_it.then(|| MatrixLoad::of(tile, &memory.layout, memory.dtype.bits())).flatten()
}

impl Lowering<'_> {
    /// Loads a tile as matrices; nothing where it is no such load.
    pub(super) fn load_matrices(&mut self, memory: &Memory, window: &Window, tile: &Layout) -> Option<Vec<Num>> {
        let load = matrix_load(memory, tile, self.target)?;
        // A view at a run-time place may begin inside a row.
        if self.emit.divisor_of(window.start) < ROW {
            return None;
        }
        let warps = (0..tile.warp_bits()).map(|i| tile.warp_basis(i));
        let bases: Vec<u32> = load.lane_bases().into_iter().chain(warps).collect();
        let map = ThreadMap::from_columns(bases.into_iter().map(|basis| window.move_by(basis)).collect());
        let (repeated, mut held) = (tile.repeated_registers() as usize, vec![Num::int(0); tile.registers()]);
        for register in (0..tile.registers()).filter(|r| r & (repeated | load.moved() as usize) == 0) {
            let place = self.shared_place(window, &map, register, tile.apply(register, 0, 0), Num::Bool(true));
            let address = Address { base: Operand::Reg(place.base), offset: place.offset };
            let dst: Vec<Reg> = (0..load.matrices).map(|_| self.emit.fresh(Class::B32)).collect();
            self.emit.push(Op::LdMatrix { transposed: load.transposed, dst: dst.clone(), address });
            for (matrix, word) in dst.into_iter().enumerate() {
                for (element, num) in self.elements_of(memory.dtype, load.pack, word).into_iter().enumerate() {
                    held[register | load.register(matrix, element)] = num;
                }
            }
        }
        Some((0..held.len()).map(|r| held[r & !repeated]).collect())
    }

    /// The elements of a word.
    fn elements_of(&mut self, dtype: DType, pack: usize, word: Reg) -> Vec<Num> {
        match dtype {
            DType::F32 => vec![Num::Reg(self.recast(word, Class::F32))],
            _ => self.unpacked(dtype, pack, &[word]),
        }
    }
}
