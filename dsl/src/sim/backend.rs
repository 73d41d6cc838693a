//! The simulator as a backend: kernels run on slices of the host.

use std::sync::{Arc, Mutex, PoisonError};

use super::machine::{BUDGET, Launch, run};
use super::memory::{Buffer, GlobalMemory, LARGEST};
use super::program::Program as Decoded;
use super::report::{SimError, type_bytes};
use crate::element::{Element, Scalar};
use crate::ptx::{Constant, parse};
use crate::runtime::{Backend, LaunchError, Program, Report, Target};

/// Runs programs on the host, checks what they do and counts it.
#[derive(Debug)]
pub struct Simulator {
    target: Target,
    decoded: Mutex<Vec<(Arc<Program>, Arc<Decoded>)>>,
}

/// An argument of a launch in the simulator.
pub enum SimArg<'a> {
    /// Memory to read, as bytes.
    Read(Vec<u8>),
    /// Memory to write: its bytes, and where they go when the launch is done.
    Write(Vec<u8>, WriteBack<'a>),
    /// A null pointer.
    Null,
    /// A scalar.
    Scalar(Scalar),
}

/// Puts a buffer's bytes back into the caller's memory.
type WriteBack<'a> = Box<dyn FnOnce(&[u8]) + 'a>;

impl Simulator {
    /// A simulator of a target, such as a profile's chip.
    pub fn new(target: impl Into<Target>) -> Self {
        Simulator { target: target.into(), decoded: Mutex::new(Vec::new()) }
    }

    /// Runs a kernel of any PTX text, with so many threads and bytes of dynamic shared memory a block.
    ///
    /// # Errors
    /// As [`Backend::launch`].
    pub fn run(
        &self,
        ptx: &str,
        entry: &str,
        grid: [u32; 3],
        threads: u32,
        shared_bytes: u32,
        args: Vec<SimArg<'_>>,
    ) -> Result<Report, LaunchError> {
        let (name, ptx, entry, target) = (entry.to_owned(), ptx.to_owned(), entry.to_owned(), self.target);
        self.launch(&Arc::new(Program { name, ptx, entry, threads, shared_bytes, target }), grid, args)
    }

    /// The program decoded; kept, since decoding costs as much as a small launch.
    fn decode(&self, program: &Arc<Program>) -> Result<Arc<Decoded>, SimError> {
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, own)) = decoded.iter().find(|(known, _)| Arc::ptr_eq(known, program)) {
            return Ok(Arc::clone(own));
        }
        let module = parse(&program.ptx).map_err(|error| SimError::Parse { program: program.name.clone(), error })?;
        let own = Arc::new(Decoded::load(&module, &program.entry)?);
        decoded.push((Arc::clone(program), Arc::clone(&own)));
        Ok(own)
    }

    fn check(&self, program: &Program, decoded: &Decoded, args: &[SimArg<'_>]) -> Result<(), SimError> {
        let kernel = || decoded.kernel.clone();
        let shared = u64::from(program.shared_bytes + decoded.static_shared);
        let limits = [
            ("threads", u64::from(program.threads), u64::from(self.target.threads)),
            ("bytes of shared memory", shared, u64::from(self.target.shared_bytes)),
        ];
        for (what, asked, limit) in limits {
            if asked > limit {
                return Err(SimError::BlockSize { kernel: kernel(), what, asked, limit });
            }
        }
        if program.threads == 0 {
            return Err(SimError::NoThreads { kernel: kernel() });
        }
        if args.len() != decoded.params.len() {
            let (expected, found) = (decoded.params.len(), args.len());
            return Err(SimError::ArgumentCount { kernel: kernel(), expected, found });
        }
        for (param, arg) in decoded.params.iter().zip(args) {
            if arg.bytes() != type_bytes(param.ty) {
                let (parameter, ty, found) = (param.name.clone(), param.ty, arg.bytes());
                return Err(SimError::ArgumentSize { kernel: kernel(), parameter, ty, found });
            }
            let bytes = arg.buffer().map_or(0, |buffer| buffer.len() as u64);
            if bytes > LARGEST {
                return Err(SimError::BufferSize {
                    kernel: kernel(),
                    parameter: param.name.clone(),
                    bytes,
                    limit: LARGEST,
                });
            }
        }
        Ok(())
    }
}

impl SimArg<'_> {
    /// Bytes that the argument takes as a parameter.
    fn bytes(&self) -> u32 {
        match self {
            SimArg::Scalar(Scalar::Bool(_) | Scalar::I32(_) | Scalar::U32(_) | Scalar::F32(_)) => 4,
            _ => 8,
        }
    }

    fn buffer(&self) -> Option<&[u8]> {
        match self {
            SimArg::Read(bytes) | SimArg::Write(bytes, _) => Some(bytes),
            _ => None,
        }
    }

    /// The parameter's bits, given where the argument's buffer begins.
    fn value(&self, base: u64) -> u64 {
        match *self {
            SimArg::Read(_) | SimArg::Write(..) => base,
            SimArg::Null => 0,
            SimArg::Scalar(scalar) => match scalar {
                Scalar::Bool(value) => value.into(),
                Scalar::I32(value) => u64::from(value as u32),
                Scalar::I64(value) => value as u64,
                Scalar::U32(value) => value.into(),
                Scalar::U64(value) => value,
                Scalar::F32(value) => value.to_bits().into(),
                Scalar::F64(value) => value.to_bits(),
            },
        }
    }
}

fn bytes_of<T: Element>(elements: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(elements));
    elements.iter().for_each(|element| element.write(&mut bytes));
    bytes
}

impl Backend for Simulator {
    type Ref<'a, T: Element> = &'a [T];
    type Mut<'a, T: Element> = &'a mut [T];
    type Arg<'a> = SimArg<'a>;

    fn pointer<'a, T: Element + 'a>(memory: &'a [T]) -> SimArg<'a> {
        SimArg::Read(bytes_of(memory))
    }

    fn pointer_option<'a, T: Element + 'a>(memory: Option<&'a [T]>) -> SimArg<'a> {
        memory.map_or(SimArg::Null, Self::pointer)
    }

    fn pointer_mut<'a, T: Element + 'a>(memory: &'a mut [T]) -> SimArg<'a> {
        let bytes = bytes_of(memory);
        let put_back = |bytes: &[u8]| {
            for (element, own) in memory.iter_mut().zip(bytes.chunks(T::DTYPE.bytes() as usize)) {
                *element = T::read(own);
            }
        };
        SimArg::Write(bytes, Box::new(put_back))
    }

    fn scalar<'a>(scalar: Scalar) -> SimArg<'a> {
        SimArg::Scalar(scalar)
    }

    fn target(&self) -> Target {
        self.target
    }

    fn launch(&self, program: &Arc<Program>, grid: [u32; 3], args: Vec<SimArg<'_>>) -> Result<Report, LaunchError> {
        let decoded = self.decode(program)?;
        self.check(program, &decoded, &args)?;
        let text = |own: &Constant| Buffer::new(own.name.clone(), &own.bytes, false);
        let mut memory = GlobalMemory { buffers: decoded.texts.iter().map(text).collect() };
        let mut params = Vec::new();
        for (param, arg) in decoded.params.iter().zip(&args) {
            params.push(arg.value(GlobalMemory::base(memory.buffers.len())));
            if let Some(bytes) = arg.buffer() {
                let writable = matches!(arg, SimArg::Write(..));
                memory.buffers.push(Buffer::new(author_name(&param.name).to_owned(), bytes, writable));
            }
        }
        let shared_bytes = program.shared_bytes + decoded.static_shared;
        let threads = program.threads;
        let launch =
            Launch { program: &decoded, grid, threads, shared_bytes, memory: &memory, params: &params, budget: BUDGET };
        let (printed, result) = run(&launch);
        print!("{printed}");
        let counters = result?;
        let mut buffers = memory.buffers.iter().skip(decoded.texts.len());
        for arg in args {
            let buffer = if arg.buffer().is_some() { buffers.next() } else { None };
            if let (SimArg::Write(_, put_back), Some(buffer)) = (arg, buffer) {
                put_back(&buffer.contents());
            }
        }
        Ok(Report { counters: Some(counters), printed })
    }
}

/// What the author calls a parameter: the lowering names parameter 3 `x` `param_3_x`.
fn author_name(symbol: &str) -> &str {
    let rest = symbol.strip_prefix("param_").and_then(|rest| rest.split_once('_'));
    rest.filter(|(number, _)| number.parse::<u32>().is_ok()).map_or(symbol, |(_, name)| name)
}
