//! Promises: what an author says of registers, which instructions rely on and nothing computes. That a run-time index is
//! one of its dimension goes without saying.
//!
//! PTX has no place for them, so they are comments of a fixed form, such as `// promise: %r5 + 3 is a multiple of 16`.
//! Assemblers pass over them; the simulator checks them. A comment that only looks like one stays a comment.

use super::ast::{Guard, Reg};
use super::print::register_name;

/// What opens the comment.
const OPENING: &str = "promise: ";
const MULTIPLE: &str = " is a multiple of ";
const BELOW: &str = " is below ";
const WHERE: &str = " where ";
const SAME: &str = " is ";

/// What holds whenever the place of the promise is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The register plus the offset is a multiple of a power of two.
    Multiple {
        /// The register.
        reg: Reg,
        /// What is added.
        offset: i64,
        /// The power of two.
        of: u32,
    },
    /// The register is another plus an offset; predicates are the same.
    Same {
        /// The register.
        reg: Reg,
        /// The other.
        other: Reg,
        /// What is added.
        offset: i64,
    },
    /// The register, as a number without sign, is below a limit, where the guard holds.
    Below {
        /// The register.
        reg: Reg,
        /// The limit.
        limit: u32,
        /// Where.
        guard: Option<Guard>,
    },
    /// The predicate is true.
    Holds {
        /// The register.
        reg: Reg,
    },
}

impl Promise {
    /// The registers that it speaks of.
    pub fn registers(&self) -> Vec<Reg> {
        match *self {
            Promise::Multiple { reg, .. } | Promise::Holds { reg } => vec![reg],
            Promise::Same { reg, other, .. } => vec![reg, other],
            Promise::Below { reg, guard, .. } => {
                [Some(reg), guard.map(|guard| guard.reg)].into_iter().flatten().collect()
            }
        }
    }

    /// The comment, without the `//`.
    pub(super) fn text(&self) -> String {
        match *self {
            Promise::Multiple { reg, offset, of } => format!("{OPENING}{}{MULTIPLE}{of}", sum(reg, offset)),
            Promise::Below { reg, limit, guard } => {
                let guarded = guard.map_or(String::new(), |guard| {
                    format!("{WHERE}{}{}", if guard.negated { "!" } else { "" }, register_name(guard.reg))
                });
                format!("{OPENING}{}{BELOW}{limit}{guarded}", register_name(reg))
            }
            Promise::Same { reg, other, offset } => {
                format!("{OPENING}{}{SAME}{}", register_name(reg), sum(other, offset))
            }
            Promise::Holds { reg } => format!("{OPENING}{}", register_name(reg)),
        }
    }

    /// The promise that a comment is, if it is one.
    pub(super) fn read(comment: &str, register: impl Fn(&str) -> Option<Reg>) -> Option<Promise> {
        let text = comment.strip_prefix(OPENING)?;
        let sum = |text: &str| {
            let (name, offset) = text.split_once(" + ").unwrap_or((text, "0"));
            Some((register(name)?, offset.parse().ok()?))
        };
        if let Some((left, of)) = text.split_once(MULTIPLE) {
            let (reg, offset) = sum(left)?;
            return Some(Promise::Multiple {
                reg,
                offset,
                of: of.parse().ok().filter(|of: &u32| of.is_power_of_two())?,
            });
        }
        if let Some((left, right)) = text.split_once(BELOW) {
            let (limit, guard) = match right.split_once(WHERE) {
                Some((limit, guard)) => {
                    let (negated, name) = guard.strip_prefix('!').map_or((false, guard), |name| (true, name));
                    (limit, Some(Guard { reg: register(name)?, negated }))
                }
                None => (right, None),
            };
            return Some(Promise::Below { reg: register(left)?, limit: limit.parse().ok()?, guard });
        }
        let Some((left, right)) = text.split_once(SAME) else {
            return Some(Promise::Holds { reg: register(text)? });
        };
        let (other, offset) = sum(right)?;
        Some(Promise::Same { reg: register(left)?, other, offset })
    }
}

fn sum(reg: Reg, offset: i64) -> String {
    match offset {
        0 => register_name(reg),
        _ => format!("{} + {offset}", register_name(reg)),
    }
}
