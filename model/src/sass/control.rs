//! The control that the assembler writes into each instruction, from Volta on.
//!
//! The hardware doesn't compare registers: the assembler counts for it. An instruction of fixed latency says how many cycles
//! the warp stalls after it. One of variable latency, such as a load, takes one of six counters (scoreboards): one when its
//! result is written, one when its operands are read; whoever needs either waits for that counter.
//!
//! An instruction has 128 bits, of which 105 to 125 are this: stall (4 bits), yield (1), the counter of the write (3, 7 is
//! none), of the read (3), and a mask of those waited for (6). The second word `0x000fc800078e00ff` of an instruction has
//! `0x000fc8 << 40 >> 41 & 0x1fffff = 0x7e4`: stall 4, yield 0, no counters, waits for none.

/// Counters of a warp.
pub const COUNTERS: usize = 6;

/// What an instruction waits for and signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Cycles until the warp's next instruction.
    pub stall: u8,
    /// The counter that is held until the result is written.
    pub write: Option<u8>,
    /// The counter that is held until the operands are read.
    pub read: Option<u8>,
    /// The counters that have to be free, a bit each.
    pub wait: u8,
}

impl Control {
    /// The control in the upper word of an instruction.
    pub const fn of(upper: u64) -> Self {
        let bits = upper >> 41;
        Self {
            stall: (bits & 15) as u8,
            write: counter(bits >> 5),
            read: counter(bits >> 8),
            wait: (bits >> 11 & 63) as u8,
        }
    }

    /// The counters that have to be free.
    pub fn waits(self) -> impl Iterator<Item = usize> {
        (0..COUNTERS).filter(move |counter| self.wait >> counter & 1 == 1)
    }
}

const fn counter(bits: u64) -> Option<u8> {
    match bits & 7 {
        counter @ 0..6 => Some(counter as u8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_the_assembler_puts_them() {
        let plain = Control { stall: 4, write: None, read: None, wait: 0 };
        assert_eq!(Control::of(0x000fc800078e00ff), plain);
        // A load that takes counter 0 for its result.
        let load = Control::of(0x000e220000002600);
        assert_eq!((load.stall, load.write, load.read, load.wait), (1, Some(0), None, 0));
        // Waits for counter 0, then for counter 2.
        assert_eq!(Control::of(0x001fe200078e00ff).waits().collect::<Vec<_>>(), [0]);
        assert_eq!(Control::of(0x004fe200078e00ff).waits().collect::<Vec<_>>(), [2]);
        let all = Control::of(0x1fffff << 41);
        assert_eq!(all, Control { stall: 15, write: None, read: None, wait: 63 });
        let read = Control::of((5 << 8 | 7 << 5 | 2) << 41);
        assert_eq!((read.read, read.write, read.stall), (Some(5), None, 2));
    }
}
