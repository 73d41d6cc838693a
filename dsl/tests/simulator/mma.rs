//! `mma.m8n8k4` against four products of 8 x 8 x 4 written as loops, with the manual's index formulas.

use half::f16;
use quadpair::Backend;
use quadpair::sim::Simulator;

use crate::harness::{Launch, kernel, sequence};

/// Row and column of element `i` of a lane's fragment of A or B; `along` is row.
fn operand(along: bool, i: usize, lane: usize) -> (usize, usize) {
    let upper = if lane >= 16 { 4 } else { 0 };
    // In its own row-major order (column-major for B) a thread has one row, otherwise one k.
    if along { (lane % 4 + upper, i) } else { (i % 4 + upper, lane % 4) }
}

/// Row and column of accumulator element `i`, in f32.
fn accumulator(i: usize, lane: usize) -> (usize, usize) {
    let x = (lane & 1) + (i & 2);
    let row = if lane < 16 { x } else { x + 4 };
    (row, (i & 4) + (lane & 2) + (i & 1))
}

/// Row and column of accumulator element `i`, in f16.
fn half_accumulator(i: usize, lane: usize) -> (usize, usize) {
    (lane % 4 + if lane < 16 { 0 } else { 4 }, i)
}

fn quadpair(lane: usize) -> usize {
    lane / 4 % 4
}

struct Case {
    a_row: bool,
    b_row: bool,
    half: bool,
}

impl Case {
    fn text(&self) -> String {
        let name = |row| if row { "row" } else { "col" };
        let (a, b) = (name(self.a_row), name(self.b_row));
        let (accumulators, ty, loads, stores) = if self.half {
            ("%r4, %r5, %r6, %r7", "f16.f16.f16.f16", "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd1+16];", "")
        } else {
            (
                "%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7",
                "f32.f16.f16.f32",
                "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1+16];\nld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%rd1+32];",
                "st.global.v4.f32 [%rd2], {%f0, %f1, %f2, %f3};\nst.global.v4.f32 [%rd2+16], {%f4, %f5, %f6, %f7};",
            )
        };
        let stores = if self.half { "st.global.v4.b32 [%rd2], {%r4, %r5, %r6, %r7};" } else { stores };
        let body = format!(
            "ld.param.u64 %rd1, [in];\nmul.wide.u32 %rd3, %r0, 48;\nadd.s64 %rd1, %rd1, %rd3;\nmul.wide.u32 %rd3, %r0, 32;\n\
             add.s64 %rd2, %rd0, %rd3;\nld.global.v4.b32 {{%r8, %r9, %r10, %r11}}, [%rd1];\n{loads}\n\
             mma.sync.aligned.m8n8k4.{a}.{b}.{ty} {{{accumulators}}}, {{%r8, %r9}}, {{%r10, %r11}}, {{{accumulators}}};\n{stores}"
        );
        kernel(".param .u64 in, .param .u64 out", &body)
    }

    fn place(&self, i: usize, lane: usize) -> (usize, usize) {
        if self.half { half_accumulator(i, lane) } else { accumulator(i, lane) }
    }

    fn check(&self) {
        let mut numbers = sequence(7).map(|x| f16::from_f32((x % 4096) as f32 / 512.0 - 4.0));
        let mut matrix = |rows: usize, columns: usize| -> Vec<Vec<Vec<f16>>> {
            (0..4).map(|_| (0..rows).map(|_| numbers.by_ref().take(columns).collect()).collect()).collect()
        };
        let (a, b, c) = (matrix(8, 4), matrix(8, 4), matrix(8, 8));
        let mut input = vec![0_u32; 32 * 12];
        for lane in 0..32 {
            let own = &mut input[12 * lane..][..12];
            let q = quadpair(lane);
            for i in 0..4 {
                let shift = i % 2 * 16;
                let (row, k) = operand(self.a_row, i, lane);
                own[i / 2] |= u32::from(a[q][row][k].to_bits()) << shift;
                // B is kept as (n, k); "col" gives a thread the k of one n.
                let (n, k) = operand(!self.b_row, i, lane);
                own[2 + i / 2] |= u32::from(b[q][n][k].to_bits()) << shift;
            }
            for i in 0..8 {
                let (row, column) = self.place(i, lane);
                let value = c[q][row][column];
                if self.half {
                    own[4 + i / 2] |= u32::from(value.to_bits()) << (i % 2 * 16);
                } else {
                    own[4 + i] = value.to_f32().to_bits();
                }
            }
        }
        let mut out = vec![0_u32; 32 * 8];
        let args = vec![Simulator::pointer(&input), Simulator::pointer_mut(&mut out)];
        let counters = Launch::threads(32).run(&self.text(), args).unwrap();
        assert_eq!(counters.mma, 1);
        for lane in 0..32 {
            let q = quadpair(lane);
            for i in 0..8 {
                let (row, column) = self.place(i, lane);
                let sum = (0..4)
                    .fold(c[q][row][column].to_f32(), |sum, k| sum + a[q][row][k].to_f32() * b[q][column][k].to_f32());
                let found = if self.half {
                    f32::from(f16::from_bits((out[8 * lane + i / 2] >> (i % 2 * 16)) as u16))
                } else {
                    f32::from_bits(out[8 * lane + i])
                };
                let expected = if self.half { f16::from_f32(sum).to_f32() } else { sum };
                assert_eq!(found, expected, "lane {lane} element {i}");
            }
        }
    }
}

#[test]
fn every_variant_multiplies() {
    for a_row in [true, false] {
        for b_row in [true, false] {
            for half in [false, true] {
                Case { a_row, b_row, half }.check();
            }
        }
    }
}
