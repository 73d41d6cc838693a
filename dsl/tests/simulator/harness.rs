//! Running PTX text, and single instructions over many operands.

use quadpair::sim::{Counters, Fault, SimArg, SimError, Simulator};
use quadpair::{Backend, LaunchError, Report, Target};

/// A chip like Volta.
const TARGET: Target = Target { sm: 70, specific: false, isa: (7, 0), shared_bytes: 98_304, threads: 1024 };

/// How many operands one launch takes: a thread each.
const THREADS: usize = 1024;

/// A launch of the only kernel of a text.
#[derive(Clone, Copy)]
pub struct Launch {
    pub blocks: u32,
    pub threads: u32,
    /// Dynamic shared memory, in bytes.
    pub shared: u32,
}

impl Launch {
    /// One block with no shared memory.
    pub fn threads(threads: u32) -> Self {
        Launch { blocks: 1, threads, shared: 0 }
    }

    pub fn run(self, ptx: &str, args: Vec<SimArg<'_>>) -> Result<Counters, SimError> {
        self.report(ptx, args).map(|report| report.counters.expect("the simulator counts"))
    }

    /// What the kernel of a text prints.
    pub fn print(self, ptx: &str, args: Vec<SimArg<'_>>) -> String {
        self.report(ptx, args).unwrap_or_else(|error| panic!("{error}")).printed
    }

    fn report(self, ptx: &str, args: Vec<SimArg<'_>>) -> Result<Report, SimError> {
        match Simulator::new(TARGET).run(ptx, "k", [self.blocks, 1, 1], self.threads, self.shared, args) {
            Ok(report) => Ok(report),
            Err(LaunchError::Simulator(error)) => Err(error),
            Err(other) => panic!("{other}"),
        }
    }

    /// The fault that a body with one output parameter ends in.
    pub fn fault(self, body: &str) -> Fault {
        let mut out = vec![0_u32; 64];
        match self.run(&kernel(".param .u64 out", body), vec![Simulator::pointer_mut(&mut out)]) {
            Err(SimError::Fault(fault)) => *fault,
            other => panic!("{other:?}"),
        }
    }

    /// What a body writes to its output parameter, of `count` words.
    pub fn words(self, body: &str, count: usize) -> Vec<u32> {
        let mut out = vec![0; count];
        let result = self.run(&kernel(".param .u64 out", body), vec![Simulator::pointer_mut(&mut out)]);
        result.unwrap_or_else(|error| panic!("{error}"));
        out
    }
}

/// A module with one kernel `k`: many registers, `%r0` the thread, `%rd0` the parameter `out`.
pub fn kernel(params: &str, body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"kernel.rs\"\n.extern .shared .align 16 .b8 dynamic[];\n\
         .visible .entry k({params})\n{{\n\
         .reg .pred %p<8>;\n.reg .b16 %h<16>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n.reg .f32 %f<32>;\n.reg .f64 %fd<8>;\n\
         ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\n{body}\nret;\n}}\n"
    )
}

/// Stores a 32-bit register for each thread, at `out[thread]`.
pub fn store(register: &str) -> String {
    format!("mul.wide.u32 %rd14, %r0, 4;\nadd.s64 %rd14, %rd14, %rd0;\nst.global.b32 [%rd14], {register};\n")
}

/// The register of operand `i`, where 0 is the result: `h`, `r`, `d` are 16, 32 and 64 bits, `f` and `g` floats of 32
/// and 64, `p` a predicate.
fn register(class: char, i: usize) -> String {
    let prefix = match class {
        'p' => "%p",
        'h' => "%h",
        'r' => "%r",
        'd' => "%rd",
        'f' => "%f",
        _ => "%fd",
    };
    format!("{prefix}{}", i + 1)
}

fn ty(class: char) -> &'static str {
    match class {
        'h' => "b16",
        'r' | 'p' => "b32",
        'd' => "b64",
        'f' => "f32",
        _ => "f64",
    }
}

/// A kernel that runs one instruction a thread. `$0` is its result and `$1`.. its operands.
fn single(instruction: &str, classes: &str) -> String {
    let mut body = String::from(
        "ld.param.u64 %rd10, [in];\nmul.wide.u32 %rd12, %r0, 32;\nadd.s64 %rd10, %rd10, %rd12;\n\
         mul.wide.u32 %rd13, %r0, 8;\nadd.s64 %rd11, %rd0, %rd13;\n",
    );
    let mut line = instruction.to_owned();
    for (i, class) in classes.chars().enumerate() {
        let own = register(class, i);
        line = line.replace(&format!("${i}"), &own);
        let (to, offset) = if class == 'p' { ("%r20", 8 * i) } else { (own.as_str(), 8 * i) };
        if i > 0 {
            body += &format!("ld.global.{} {to}, [%rd10+{}];\n", ty(class), offset - 8);
            if class == 'p' {
                body += &format!("setp.ne.u32 {own}, %r20, 0;\n");
            }
        }
    }
    let result = classes.chars().next().unwrap_or('r');
    let stored = if result == 'p' { "%r21".to_owned() } else { register(result, 0) };
    let spread = if result == 'p' { format!("selp.b32 %r21, 1, 0, {};\n", register('p', 0)) } else { String::new() };
    body += &format!("{line}\n{spread}st.global.{} [%rd11], {stored};\n", ty(result));
    kernel(".param .u64 in, .param .u64 out", &body)
}

/// The results of one instruction, such as `add.s32 $0, $1, $2;` of classes `rrr`, over many operands.
pub fn evaluate(instruction: &str, classes: &str, operands: &[[u64; 4]]) -> Vec<u64> {
    let text = single(instruction, classes);
    let mut results = Vec::new();
    for part in operands.chunks(THREADS) {
        let flat: Vec<u64> = part.iter().flatten().copied().collect();
        let mut out = vec![0_u64; part.len()];
        let args = vec![Simulator::pointer(&flat), Simulator::pointer_mut(&mut out)];
        let result = Launch::threads(part.len() as u32).run(&text, args);
        result.unwrap_or_else(|error| panic!("{instruction}: {error}"));
        results.extend(out);
    }
    results
}

/// Holds an instruction against a Rust function of its operands.
pub fn check(instruction: &str, classes: &str, operands: &[[u64; 4]], reference: impl Fn([u64; 4]) -> u64) {
    check_by(instruction, classes, operands, reference, |a, b| a == b);
}

/// The same, where results need only agree by some measure.
pub fn check_by(
    instruction: &str,
    classes: &str,
    operands: &[[u64; 4]],
    reference: impl Fn([u64; 4]) -> u64,
    same: impl Fn(u64, u64) -> bool,
) {
    for (own, result) in operands.iter().zip(evaluate(instruction, classes, operands)) {
        let expected = reference(*own);
        assert!(same(result, expected), "{instruction} of {own:x?} is {result:#x}, should be {expected:#x}");
    }
}

/// Numbers that are neither random nor alike: a fixed sequence.
pub fn sequence(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(state.wrapping_mul(0x2545_f491_4f6c_dd1d))
    })
}

/// Operands of some bits: every triple of the given edges, then as many from a fixed sequence, an edge here and there.
pub fn operands(bits: u32, edges: &[u64]) -> Vec<[u64; 4]> {
    let mask = u64::MAX >> (64 - bits);
    let mut all = Vec::new();
    for &a in edges {
        for &b in edges {
            all.extend(edges.iter().map(|&c| [a & mask, b & mask, c & mask, 0]));
        }
    }
    let mut random = sequence(bits.into());
    let mut next = move || random.next().unwrap_or(0);
    for _ in 0..2048 {
        let mut pick = || {
            let (value, choice) = (next(), next());
            if choice % 5 == 0 { edges[(choice >> 8) as usize % edges.len()] & mask } else { value & mask }
        };
        all.push([pick(), pick(), pick(), pick()]);
    }
    all
}
