//! From a program's text to a kernel on a device.
//!
//! The driver's linker assembles PTX into a cubin, the device's machine code, and writes a log: the reason if it
//! refuses, and registers and spills if it doesn't. The loader alone would do the first without the second, so a
//! [`Module`] is made in two steps, assemble and load, and keeps the cubin and the log. Where a
//! [`CubinCache`] holds both from an earlier run, the first step is left out.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{
    self, CUdevice_attribute, CUfunction_attribute, CUjit_option, CUjitInputType, CUlinkState, CUresult,
};
use cudarc::driver::{CudaContext, CudaFunction, DriverError};
use cudarc::nvrtc::Ptx;

use super::cubins::{Assembled, CubinCache, Source};
use super::error::{CudaError, During};
use crate::ptx;
use crate::runtime::Program;

/// Shared memory that a block can have without asking for more, in bytes.
const DEFAULT_SHARED_BYTES: u32 = 48 * 1024;

/// How much of a log is kept, in bytes.
const LOG_BYTES: usize = 16 * 1024;

/// A program loaded on a device.
#[derive(Debug)]
pub struct Module {
    program: Arc<Program>,
    function: CudaFunction,
    parameters: Vec<u32>,
    assembled: Assembled,
    kept: bool,
    registers: u32,
    local_bytes: u32,
    blocks_at_once: u32,
}

impl Module {
    /// Assembles and loads a program in a context, or loads what is kept of it.
    pub(super) fn load(
        context: &Arc<CudaContext>,
        program: &Arc<Program>,
        cubins: &CubinCache,
        source: &Source<'_>,
    ) -> Result<Self, CudaError> {
        context.bind_to_thread().during("enter the context")?;
        // Kept code that the driver won't load is as good as none.
        let kept = cubins.read(source).and_then(|kept| Module::of(context, program, kept, true).ok());
        if let Some(module) = kept {
            return Ok(module);
        }
        let text = CString::new(program.ptx.as_str()).map_err(|error| wrong(program, error.to_string()))?;
        let assembled = assemble(&text).map_err(|(error, log)| refused(program, error.0, log))?;
        cubins.write(source, &assembled);
        Module::of(context, program, assembled, false)
    }

    fn of(
        context: &Arc<CudaContext>,
        program: &Arc<Program>,
        assembled: Assembled,
        kept: bool,
    ) -> Result<Self, CudaError> {
        let parameters = parameters(program).map_err(|problem| wrong(program, problem))?;
        let function = function(context, program, &assembled.cubin)?;
        let count = |n: Result<i32, DriverError>| Ok(n.during("read a kernel's resources")?.unsigned_abs());
        let shared_bytes = program.shared_bytes as usize;
        let blocks = function.occupancy_max_active_blocks_per_multiprocessor(program.threads, shared_bytes, None);
        let multiprocessors = context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        Ok(Module {
            registers: count(function.num_regs())?,
            local_bytes: count(function.local_size_bytes())?,
            blocks_at_once: blocks.during("read a kernel's resources")? * count(multiprocessors)?,
            program: Arc::clone(program),
            function,
            parameters,
            assembled,
            kept,
        })
    }

    /// The program that was loaded.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The driver's handle of the kernel.
    pub fn function(&self) -> &CudaFunction {
        &self.function
    }

    /// The machine code that the driver made.
    pub fn cubin(&self) -> &[u8] {
        &self.assembled.cubin
    }

    /// What the assembler said.
    pub fn log(&self) -> &str {
        &self.assembled.log
    }

    /// Whether the machine code came from a [`CubinCache`] and not from the assembler.
    pub fn was_kept(&self) -> bool {
        self.kept
    }

    /// Registers of a thread.
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// Local memory of a thread, in bytes; spilled registers live there.
    pub fn local_bytes(&self) -> u32 {
        self.local_bytes
    }

    /// How many of its blocks the whole device runs at once.
    pub fn blocks_at_once(&self) -> u32 {
        self.blocks_at_once
    }

    /// The bytes of each parameter.
    pub(super) fn parameters(&self) -> &[u32] {
        &self.parameters
    }
}

/// Loads the machine code and makes the kernel ready to launch.
fn function(context: &Arc<CudaContext>, program: &Program, cubin: &[u8]) -> Result<CudaFunction, CudaError> {
    let module = context.load_module(Ptx::from_binary(cubin.to_vec())).during("load a module")?;
    let function = module.load_function(&program.entry).during("find a kernel in its module")?;
    if program.shared_bytes > DEFAULT_SHARED_BYTES {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = i32::try_from(program.shared_bytes).unwrap_or(i32::MAX);
        function.set_attribute(attribute, bytes).during("reserve a kernel's shared memory")?;
    }
    Ok(function)
}

/// The bytes of each parameter that the program's entry declares.
fn parameters(program: &Program) -> Result<Vec<u32>, String> {
    let module = ptx::parse(&program.ptx).map_err(|error| error.to_string())?;
    let entry = module.entries.iter().find(|entry| entry.name == program.entry);
    let entry = entry.ok_or_else(|| format!("its PTX has no entry `{}`", program.entry))?;
    Ok(entry.params.iter().map(|param| bytes(param.ty)).collect())
}

fn bytes(ty: ptx::Type) -> u32 {
    use ptx::Type::{B8, B64, F64, S8, S64, U8, U64};
    match ty {
        B64 | U64 | S64 | F64 => 8,
        B8 | U8 | S8 => 1,
        ptx::Type::B16 | ptx::Type::U16 | ptx::Type::S16 | ptx::Type::F16 | ptx::Type::BF16 => 2,
        _ => 4,
    }
}

fn wrong(program: &Program, problem: String) -> CudaError {
    CudaError::Text { program: program.name.clone(), problem }
}

fn refused(program: &Program, result: CUresult, log: String) -> CudaError {
    let log = if log.is_empty() { "it wrote no log".into() } else { log };
    CudaError::Assemble { program: program.name.clone(), result, log }
}

/// Assembles PTX for the device of the current context; the result and the log if the assembler refuses.
fn assemble(text: &CStr) -> Result<Assembled, (DriverError, String)> {
    let (mut info, mut error) = (vec![0_u8; LOG_BYTES], vec![0_u8; LOG_BYTES]);
    let linked = link(text, &mut info, &mut error);
    linked.map(|cubin| Assembled { cubin, log: written(&info) }).map_err(|result| (result, written(&error)))
}

fn link(text: &CStr, info: &mut [u8], error: &mut [u8]) -> Result<Vec<u8>, DriverError> {
    let mut options = [
        CUjit_option::CU_JIT_INFO_LOG_BUFFER,
        CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CUjit_option::CU_JIT_LOG_VERBOSE,
    ];
    let mut values: [*mut c_void; 5] = [
        info.as_mut_ptr().cast(),
        ptr::without_provenance_mut(info.len()),
        error.as_mut_ptr().cast(),
        ptr::without_provenance_mut(error.len()),
        ptr::without_provenance_mut(1),
    ];
    let mut state = ptr::null_mut();
    let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
    // SAFETY: each of the 5 options has its value, the sizes are those of the buffers, and the buffers and the values
    // (which the driver may write until the state is destroyed) outlive the state, which this function destroys.
    unsafe { sys::cuLinkCreate_v2(5, options, values, &raw mut state) }.result()?;
    let cubin = complete(state, text);
    // SAFETY: the state was made above and is destroyed only here.
    let destroyed = unsafe { sys::cuLinkDestroy(state) }.result();
    cubin.and_then(|cubin| destroyed.map(|()| cubin))
}

/// Adds the text to a link, completes it and copies the cubin.
fn complete(state: CUlinkState, text: &CStr) -> Result<Vec<u8>, DriverError> {
    let (kind, data) = (CUjitInputType::CU_JIT_INPUT_PTX, text.to_bytes_with_nul());
    let (start, name) = (data.as_ptr().cast::<c_void>().cast_mut(), c"program".as_ptr().cast::<c_char>());
    let (none, values) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the state is alive; the text ends in a NUL that its length counts, and the driver copies and never
    // writes it; no options are given.
    unsafe { sys::cuLinkAddData_v2(state, kind, start, data.len(), name, 0, none, values) }.result()?;
    let (mut cubin, mut len) = (ptr::null_mut(), 0);
    // SAFETY: the state is alive and both results have a place to go.
    unsafe { sys::cuLinkComplete(state, &raw mut cubin, &raw mut len) }.result()?;
    // SAFETY: the driver says that the cubin has `len` bytes; they live until the state is destroyed, after the copy.
    Ok(unsafe { std::slice::from_raw_parts(cubin.cast_const().cast::<u8>(), len) }.to_vec())
}

/// What the driver wrote in a log buffer.
fn written(buffer: &[u8]) -> String {
    let text = buffer.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SCALE, program};
    use super::*;

    #[test]
    fn a_log_ends_at_its_nul() {
        assert_eq!(written(b"ptxas error\n\0left over"), "ptxas error");
        assert_eq!(written(b"\0\0"), "");
        assert_eq!(written(b"full"), "full");
    }

    #[test]
    fn parameters_are_read_from_the_text() {
        assert_eq!(parameters(&program(SCALE)), Ok(vec![8, 8, 8, 4, 4]));
        let mut other = program(SCALE);
        other.entry = "absent".into();
        assert_eq!(parameters(&other), Err("its PTX has no entry `absent`".into()));
    }
}
