//! Integers and bits.

use crate::harness::{check, evaluate, operands};

const EDGES: [u64; 9] = [0, 1, 5, 31, u64::MAX, 0x8000, 0x7fff_ffff, 0x8000_0000, 0x8000_0000_0000_0000];

/// Operations that every width has, for one pair of Rust types.
macro_rules! width {
    ($bits:expr, $class:expr, $unsigned:ty, $signed:ty, $wide:expr) => {
        let all = operands($bits, &EDGES);
        let classes: String = [$class; 4].iter().collect();
        let two = |name: &str, function: &dyn Fn($unsigned, $unsigned) -> $unsigned| {
            let text = format!("{name} $0, $1, $2;");
            check(&text, &classes[..3], &all, |[a, b, ..]| function(a as $unsigned, b as $unsigned) as u64);
        };
        let signed = |function: fn($signed, $signed) -> $signed| {
            move |a: $unsigned, b: $unsigned| function(a as $signed, b as $signed) as $unsigned
        };
        let (u, s, b) = (format!("u{}", $bits), format!("s{}", $bits), format!("b{}", $bits));
        two(&format!("add.{s}"), &<$unsigned>::wrapping_add);
        two(&format!("sub.{u}"), &<$unsigned>::wrapping_sub);
        two(&format!("mul.lo.{s}"), &<$unsigned>::wrapping_mul);
        two(&format!("mul.hi.{u}"), &|a, b| ((a as u128 * b as u128) >> $bits) as $unsigned);
        two(&format!("mul.hi.{s}"), &signed(|a, b| ((a as i128 * b as i128) >> $bits) as $signed));
        two(&format!("min.{u}"), &|a, b| a.min(b));
        two(&format!("max.{u}"), &|a, b| a.max(b));
        two(&format!("min.{s}"), &signed(|a, b| a.min(b)));
        two(&format!("max.{s}"), &signed(|a, b| a.max(b)));
        two(&format!("and.{b}"), &|a, b| a & b);
        two(&format!("or.{b}"), &|a, b| a | b);
        two(&format!("xor.{b}"), &|a, b| a ^ b);
        // A division by zero is all ones.
        two(&format!("div.{u}"), &|a, b| a.checked_div(b).unwrap_or(<$unsigned>::MAX));
        two(&format!("div.{s}"), &signed(|a, b| if b == 0 { -1 } else { a.wrapping_div(b) }));
        let divisible: Vec<_> = all.iter().copied().filter(|[_, b, ..]| *b != 0).collect();
        check(&format!("rem.{u} $0, $1, $2;"), &classes[..3], &divisible, |[a, b, ..]| {
            (a as $unsigned % b as $unsigned) as u64
        });
        check(&format!("rem.{s} $0, $1, $2;"), &classes[..3], &divisible, |[a, b, ..]| {
            (a as $signed).wrapping_rem(b as $signed) as $unsigned as u64
        });
        let one = |name: &str, function: fn($unsigned) -> $unsigned| {
            check(&format!("{name} $0, $1;"), &classes[..2], &all, |[a, ..]| function(a as $unsigned) as u64);
        };
        one(&format!("not.{b}"), |a| !a);
        one(&format!("neg.{s}"), |a| a.wrapping_neg());
        one(&format!("abs.{s}"), |a| (a as $signed).wrapping_abs() as $unsigned);
        check(&format!("mad.lo.{s} $0, $1, $2, $3;"), &classes, &all, |[a, b, c, _]| {
            (a as $unsigned).wrapping_mul(b as $unsigned).wrapping_add(c as $unsigned) as u64
        });
        let shift = format!("{}{}r", $class, $class);
        check(&format!("shl.{b} $0, $1, $2;"), &shift, &all, |[a, n, ..]| {
            if n as u32 >= $bits { 0 } else { ((a as $unsigned) << (n as u32)) as u64 }
        });
        check(&format!("shr.{u} $0, $1, $2;"), &shift, &all, |[a, n, ..]| {
            if n as u32 >= $bits { 0 } else { ((a as $unsigned) >> (n as u32)) as u64 }
        });
        check(&format!("shr.{s} $0, $1, $2;"), &shift, &all, |[a, n, ..]| {
            ((a as $signed) >> (n as u32).min($bits - 1)) as $unsigned as u64
        });
        for (name, function) in COMPARES {
            check(&format!("setp.{name}.{u} $0, $1, $2;"), &format!("p{}{}", $class, $class), &all, |[a, b, ..]| {
                function((a as $unsigned).cmp(&(b as $unsigned))).into()
            });
            check(&format!("setp.{name}.{s} $0, $1, $2;"), &format!("p{}{}", $class, $class), &all, |[a, b, ..]| {
                function((a as $signed).cmp(&(b as $signed))).into()
            });
        }
        check(&format!("selp.{b} $0, $1, $2, $3;"), &format!("{0}{0}{0}p", $class), &all, |[a, b, c, _]| {
            if c as u32 != 0 { a } else { b }
        });
    };
}

type Order = std::cmp::Ordering;

type Holds = fn(Order) -> bool;

const COMPARES: [(&str, Holds); 6] = [
    ("eq", Order::is_eq),
    ("ne", Order::is_ne),
    ("lt", Order::is_lt),
    ("le", Order::is_le),
    ("gt", Order::is_gt),
    ("ge", Order::is_ge),
];

#[test]
fn integers_of_16_bits() {
    width!(16, 'h', u16, i16, 'r');
}

#[test]
fn integers_of_32_bits() {
    width!(32, 'r', u32, i32, 'd');
}

#[test]
fn integers_of_64_bits() {
    width!(64, 'd', u64, i64, 'd');
}

#[test]
fn wide_products() {
    let all = operands(32, &EDGES);
    check("mul.wide.u32 $0, $1, $2;", "drr", &all, |[a, b, ..]| a * b);
    check("mul.wide.s32 $0, $1, $2;", "drr", &all, |[a, b, ..]| (i64::from(a as i32) * i64::from(b as i32)) as u64);
    check("mad.wide.s32 $0, $1, $2, $3;", "drrd", &operands(64, &EDGES), |[a, b, c, _]| {
        (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64
    });
    check("mul.wide.u16 $0, $1, $2;", "rhh", &operands(16, &EDGES), |[a, b, ..]| a * b);
    check("mul.wide.s16 $0, $1, $2;", "rhh", &operands(16, &EDGES), |[a, b, ..]| {
        u64::from((i32::from(a as i16) * i32::from(b as i16)) as u32)
    });
    check("mad.hi.u32 $0, $1, $2, $3;", "rrrr", &all, |[a, b, c, _]| {
        u64::from((((a * b) >> 32) as u32).wrapping_add(c as u32))
    });
}

#[test]
fn saturating_sums() {
    let all = operands(32, &EDGES);
    check("add.sat.s32 $0, $1, $2;", "rrr", &all, |[a, b, ..]| (a as i32).saturating_add(b as i32) as u32 as u64);
    check("sub.sat.s32 $0, $1, $2;", "rrr", &all, |[a, b, ..]| (a as i32).saturating_sub(b as i32) as u32 as u64);
}

#[test]
fn bits_are_counted_and_turned() {
    let (all, wide) = (operands(32, &EDGES), operands(64, &EDGES));
    check("popc.b32 $0, $1;", "rr", &all, |[a, ..]| a.count_ones().into());
    check("popc.b64 $0, $1;", "rd", &wide, |[a, ..]| a.count_ones().into());
    check("clz.b32 $0, $1;", "rr", &all, |[a, ..]| (a as u32).leading_zeros().into());
    check("clz.b64 $0, $1;", "rd", &wide, |[a, ..]| a.leading_zeros().into());
    check("brev.b32 $0, $1;", "rr", &all, |[a, ..]| (a as u32).reverse_bits().into());
    check("brev.b64 $0, $1;", "dd", &wide, |[a, ..]| a.reverse_bits());
}

#[test]
fn funnel_shifts() {
    let all = operands(32, &EDGES);
    let pair = |a: u64, b: u64| b << 32 | a;
    check("shf.l.wrap.b32 $0, $1, $2, $3;", "rrrr", &all, |[a, b, c, _]| pair(a, b) << (c & 31) >> 32 & 0xffff_ffff);
    check("shf.r.wrap.b32 $0, $1, $2, $3;", "rrrr", &all, |[a, b, c, _]| pair(a, b) >> (c & 31) & 0xffff_ffff);
}

#[test]
fn tables_of_three_bits() {
    let all = operands(32, &EDGES);
    for table in [0x00_u64, 0x80, 0x96, 0xe8, 0xca, 0xff, 0x3c] {
        check(&format!("lop3.b32 $0, $1, $2, $3, {table};"), "rrrr", &all, |[a, b, c, _]| {
            (0..32).map(|bit| (table >> ((a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1) & 1) << bit).sum()
        });
    }
}

#[test]
fn bytes_are_permuted() {
    let check_selector = |selector: u64, a: u64, b: u64, expected: u64| {
        let result = evaluate("prmt.b32 $0, $1, $2, $3;", "rrrr", &[[a, b, selector, 0]]);
        assert_eq!(result[0], expected, "{selector:#x}");
    };
    check_selector(0x3210, 0x1122_3344, 0x5566_7788, 0x1122_3344);
    check_selector(0x5410, 0x1122_3344, 0x5566_7788, 0x7788_3344);
    check_selector(0x7632, 0x1122_3344, 0x5566_7788, 0x5566_1122);
    check_selector(0x0000, 0x1122_3344, 0x5566_7788, 0x4444_4444);
    // All selectors, a nibble at a time.
    check("prmt.b32 $0, $1, $2, $3;", "rrrr", &operands(32, &EDGES), |[a, b, c, _]| {
        let bytes: Vec<u8> = [a as u32, b as u32].into_iter().flat_map(u32::to_le_bytes).collect();
        let picked = [0, 4, 8, 12].map(|shift| {
            let byte = bytes[(c >> shift & 7) as usize];
            if c >> shift & 8 == 0 {
                byte
            } else if byte >= 128 {
                255
            } else {
                0
            }
        });
        u32::from_le_bytes(picked).into()
    });
    // Selector bit 3 spreads the byte's sign.
    check_selector(0xf8c1, 0x1122_3344, 0x8566_7788, 0xff00_ff33);
}

/// `bfe` as the manual has it: a bit at a time.
fn extract(value: u64, position: u32, length: u32, width: u32, signed: bool) -> u64 {
    let bit = |i: u32| value >> i & 1;
    let sign = if !signed || length == 0 { 0 } else { bit((position + length - 1).min(width - 1)) };
    (0..width).map(|i| if i < length && position + i < width { bit(position + i) << i } else { sign << i }).sum()
}

#[test]
fn bit_fields() {
    let edges = [0, 1, 7, 8, 16, 24, 31, 32, 63, 64, 255, 0x8765_4321_0fed_cba9];
    let (narrow, wide) = (operands(32, &edges), operands(64, &edges));
    let field = |[_, b, c, _]: [u64; 4]| ((b & 255) as u32, (c & 255) as u32);
    for (ty, signed) in [("u", false), ("s", true)] {
        let text = |bits| format!("bfe.{ty}{bits} $0, $1, $2, $3;");
        check(&text(32), "rrrr", &narrow, |own| extract(own[0], field(own).0, field(own).1, 32, signed));
        check(&text(64), "ddrr", &wide, |own| extract(own[0], field(own).0, field(own).1, 64, signed));
    }
    let insert = |from: u64, into: u64, position: u32, length: u32, width: u32| -> u64 {
        let inside = |i: u32| i >= position && i < position + length;
        (0..width).map(|i| if inside(i) { (from >> (i - position) & 1) << i } else { into & 1 << i }).sum()
    };
    let (position, length) = (5, 7);
    check("bfi.b32 $0, $1, $2, 5, 7;", "rrr", &narrow, |[a, b, ..]| insert(a, b, position, length, 32));
    check("bfi.b64 $0, $1, $2, 5, 7;", "ddd", &wide, |[a, b, ..]| insert(a, b, position, length, 64));
    check("bfi.b32 $0, $1, $2, 28, 9;", "rrr", &narrow, |[a, b, ..]| insert(a, b, 28, 9, 32));
    check("bfi.b32 $0, $1, $2, 40, 9;", "rrr", &narrow, |[_, b, ..]| b);
}

#[test]
fn packing_and_unpacking() {
    let all = operands(64, &EDGES);
    check("mov.b32 $0, {$1, $2};", "rhh", &all, |[a, b, ..]| a & 0xffff | (b & 0xffff) << 16);
    check("mov.b64 $0, {$1, $2};", "drr", &all, |[a, b, ..]| a & 0xffff_ffff | b << 32);
    check("mov.b64 $0, {$1, $2, $3, $1};", "dhhh", &all, |[a, b, c, _]| {
        a & 0xffff | (b & 0xffff) << 16 | (c & 0xffff) << 32 | a << 48
    });
    check("mov.b32 {_, $0}, $1;", "hr", &all, |[a, ..]| a >> 16 & 0xffff);
    check("mov.b64 {$0, _}, $1;", "rd", &all, |[a, ..]| a & 0xffff_ffff);
}

#[test]
fn predicates() {
    let all: Vec<[u64; 4]> = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2, 0]).collect();
    check("and.pred $0, $1, $2;", "ppp", &all, |[a, b, ..]| a & b);
    check("or.pred $0, $1, $2;", "ppp", &all, |[a, b, ..]| a | b);
    check("xor.pred $0, $1, $2;", "ppp", &all, |[a, b, ..]| a ^ b);
    check("not.pred $0, $1;", "pp", &all, |[a, ..]| 1 - a);
    check("mov.pred $0, $1;", "pp", &all, |[a, ..]| a);
    check("setp.eq.and.u32 $0, $1, $2, !$3;", "prrp", &all, |[a, b, c, _]| u64::from(a == b && c == 0));
    check("setp.eq.or.u32 $0, $1, $2, $3;", "prrp", &all, |[a, b, c, _]| u64::from(a == b || c == 1));
    check("@$2 mov.u32 $0, 7;", "rrp", &[[0, 1, 0, 0]], |_| 7);
}
