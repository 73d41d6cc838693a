//! Architectures: what a kernel is checked for.

/// An architecture, as `#[target(sm_90)]` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Architecture {
    /// 90 for `sm_90`.
    pub sm: u32,
    /// Whether it is `sm_90a`: with the instructions that later architectures don't have, and for none of them.
    pub specific: bool,
}

impl Architecture {
    /// Such as `sm_90`: code that later architectures run too.
    pub const fn general(sm: u32) -> Architecture {
        Architecture { sm, specific: false }
    }

    /// Such as `sm_90a`.
    pub const fn specific(sm: u32) -> Architecture {
        Architecture { sm, specific: true }
    }
}
