//! Inspection: what it says of layouts and kernels is what the algebra, the source and the simulator say.

mod counts;
mod expressions;
mod kernel;
mod values;
