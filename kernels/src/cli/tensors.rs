//! Attention's tensors in a safetensors file, and its results written to one.
//!
//! `q`, `k` and `v` are there, rank 4 and all of one type; `bias`, `out` and `lse` may be. Files hold little-endian bytes
//! at any alignment, so elements are read one by one.

use super::error::CliError;
use half::{bf16, f16};
use quadpair::{DType, Element};
use quadpair_kernels::number::Real;
use quadpair_kernels::view::View;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::collections::HashMap;
use std::path::Path;

/// The tensors that `quadpair` runs on when it gets no file.
const SAMPLE: &[u8] = include_bytes!("../../data/sample.safetensors");

/// A tensor of rank 4, contiguous.
#[derive(Clone, Debug)]
pub struct Tensor<T> {
    pub shape: [usize; 4],
    pub data: Vec<T>,
}

impl<T> Tensor<T> {
    pub fn view(&self) -> View<&[T]> {
        View::contiguous(&self.data, self.shape)
    }
}

/// q, k and v.
#[derive(Clone, Debug)]
pub struct Qkv<T> {
    pub q: Tensor<T>,
    pub k: Tensor<T>,
    pub v: Tensor<T>,
}

/// q, k and v in one of the types that the kernels compute with.
#[derive(Clone, Debug)]
pub enum Operands {
    F16(Qkv<f16>),
    BF16(Qkv<bf16>),
    F32(Qkv<f32>),
}

/// The additive bias.
#[derive(Clone, Debug)]
pub enum Bias {
    None,
    F16(Tensor<f16>),
    F32(Tensor<f32>),
}

/// What a file holds.
#[derive(Clone, Debug)]
pub struct AttentionFile {
    /// What to call it.
    pub name: String,
    pub operands: Operands,
    pub bias: Bias,
    /// The output that the file expects, in q's shape.
    pub out: Option<Vec<f64>>,
    /// The log-sum-exp that the file expects.
    pub lse: Option<Vec<f64>>,
}

impl AttentionFile {
    /// Reads a file, or the bundled sample.
    pub fn load(path: Option<&Path>) -> Result<Self, CliError> {
        let Some(path) = path else {
            return Self::parse("the bundled sample", SAMPLE);
        };
        let bytes = std::fs::read(path).map_err(|source| CliError::Read { path: path.into(), source })?;
        Self::parse(&path.display().to_string(), &bytes)
    }

    fn parse(name: &str, bytes: &[u8]) -> Result<Self, CliError> {
        let tensors =
            SafeTensors::deserialize(bytes).map_err(|source| CliError::Format { file: name.into(), source })?;
        let reader = Reader { file: name, tensors };
        let operands = reader.operands()?;
        let shape = operands.q_shape();
        let (out, lse) = (reader.result("out", &shape)?, reader.result("lse", &shape[..3])?);
        Ok(Self { name: name.into(), bias: reader.bias()?, operands, out, lse })
    }
}

impl Operands {
    fn q_shape(&self) -> [usize; 4] {
        match self {
            Self::F16(qkv) => qkv.q.shape,
            Self::BF16(qkv) => qkv.q.shape,
            Self::F32(qkv) => qkv.q.shape,
        }
    }
}

struct Reader<'a> {
    file: &'a str,
    tensors: SafeTensors<'a>,
}

impl<'a> Reader<'a> {
    fn operands(&self) -> Result<Operands, CliError> {
        match self.required("q")?.dtype() {
            Dtype::F16 => Ok(Operands::F16(self.qkv(Dtype::F16)?)),
            Dtype::BF16 => Ok(Operands::BF16(self.qkv(Dtype::BF16)?)),
            Dtype::F32 => Ok(Operands::F32(self.qkv(Dtype::F32)?)),
            other => Err(self.wrong_dtype("q", other, "f16, bf16 or f32".into())),
        }
    }

    fn qkv<T: Element>(&self, dtype: Dtype) -> Result<Qkv<T>, CliError> {
        let read = |name, dims| {
            let view = self.required(name)?;
            if view.dtype() != dtype {
                return Err(self.wrong_dtype(name, view.dtype(), format!("{}, the type of q,", dtype_name(dtype))));
            }
            Ok(Tensor { shape: self.rank4(name, &view, dims)?, data: elements(&view) })
        };
        let keys = "[batch, kv heads, keys, head dim]";
        Ok(Qkv { q: read("q", "[batch, heads, queries, head dim]")?, k: read("k", keys)?, v: read("v", keys)? })
    }

    fn bias(&self) -> Result<Bias, CliError> {
        let Ok(view) = self.tensors.tensor("bias") else {
            return Ok(Bias::None);
        };
        let shape = self.rank4("bias", &view, "[batch, heads, queries, keys], each of them or 1,")?;
        match view.dtype() {
            Dtype::F16 => Ok(Bias::F16(Tensor { shape, data: elements(&view) })),
            Dtype::F32 => Ok(Bias::F32(Tensor { shape, data: elements(&view) })),
            other => Err(self.wrong_dtype("bias", other, "f16 or f32".into())),
        }
    }

    fn result(&self, name: &'static str, expected: &[usize]) -> Result<Option<Vec<f64>>, CliError> {
        let Ok(view) = self.tensors.tensor(name) else {
            return Ok(None);
        };
        if view.shape() != expected {
            let (file, shape, expected) = (self.file.into(), view.shape().to_vec(), expected.to_vec());
            return Err(CliError::ResultShape { file, tensor: name, shape, expected });
        }
        match view.dtype() {
            Dtype::F16 => Ok(Some(in_f64::<f16>(&view))),
            Dtype::BF16 => Ok(Some(in_f64::<bf16>(&view))),
            Dtype::F32 => Ok(Some(in_f64::<f32>(&view))),
            Dtype::F64 => Ok(Some(elements(&view))),
            other => Err(self.wrong_dtype(name, other, "f16, bf16, f32 or f64".into())),
        }
    }

    fn required(&self, name: &'static str) -> Result<TensorView<'a>, CliError> {
        self.tensors.tensor(name).map_err(|_| {
            let mut has: Vec<String> = self.tensors.names().into_iter().map(Into::into).collect();
            has.sort_unstable();
            CliError::Missing { file: self.file.into(), tensor: name, has }
        })
    }

    fn rank4(&self, name: &'static str, view: &TensorView<'_>, dims: &'static str) -> Result<[usize; 4], CliError> {
        view.shape().try_into().map_err(|_| CliError::Rank {
            file: self.file.into(),
            tensor: name,
            shape: view.shape().to_vec(),
            dims,
        })
    }

    fn wrong_dtype(&self, tensor: &'static str, dtype: Dtype, allowed: String) -> CliError {
        CliError::DType { file: self.file.into(), tensor, dtype: dtype_name(dtype), allowed }
    }
}

fn dtype_name(dtype: Dtype) -> String {
    format!("{dtype:?}").to_lowercase()
}

fn elements<T: Element>(view: &TensorView<'_>) -> Vec<T> {
    view.data().chunks_exact(T::DTYPE.bytes() as usize).map(T::read).collect()
}

fn in_f64<T: Real>(view: &TensorView<'_>) -> Vec<f64> {
    elements::<T>(view).into_iter().map(Real::to_f64).collect()
}

/// A safetensors file with `out` in its own type and `lse` in f32.
pub fn encode<T: Real>(out: &[T], lse: &[f32], shape: [usize; 4]) -> Result<Vec<u8>, safetensors::SafeTensorError> {
    let dtype = match T::DTYPE {
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        _ => Dtype::F32,
    };
    let (out, lse) = (bytes(out), bytes(lse));
    let tensors = [
        ("out", TensorView::new(dtype, shape.to_vec(), &out)?),
        ("lse", TensorView::new(Dtype::F32, shape[..3].to_vec(), &lse)?),
    ];
    safetensors::serialize(tensors, None::<HashMap<String, String>>)
}

fn bytes<T: Element>(elements: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(elements));
    elements.iter().for_each(|element| element.write(&mut bytes));
    bytes
}
