//! What can be wrong with a profile, or with the choice of one.

use thiserror::Error;

/// Why there is no profile.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProfileError {
    /// No profile and no file of this name.
    #[error("there is no profile {name:?} and no file of that name; the profiles are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// No profile lists the chip.
    #[error("no profile is for compute capability {major}.{minor}; the profiles are for {known}")]
    Capability {
        /// Major number.
        major: u32,
        /// Minor number.
        minor: u32,
        /// The capabilities there are profiles for.
        known: String,
    },
    /// The file can't be read.
    #[error("{file}: {error}")]
    Read {
        /// The file.
        file: String,
        /// What the system says.
        error: String,
    },
    /// The text isn't a profile: the parser's message names line, column and field.
    #[error("{file}: {error}")]
    Syntax {
        /// The file.
        file: String,
        /// What the parser says.
        error: String,
    },
    /// A field has a value that it can't have.
    #[error("{file}{}: {field} is {value}; {allowed}", .line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Value {
        /// The file.
        file: String,
        /// The line of the field, where it is found.
        line: Option<usize>,
        /// The field's path, such as `matrix_units[0].flash[0].block_m`.
        field: String,
        /// The value.
        value: String,
        /// What would be right.
        allowed: String,
    },
    /// The text's tiles don't stand where other ones could take their place.
    #[error(
        "{file}: the tiles of {section} can't be replaced: the section has to be there as shipped profiles have it, `flash:` \
         with a line an entry, then `matmul:`"
    )]
    Layout {
        /// The file.
        file: String,
        /// Whose tiles: `fma`, or a matrix unit.
        section: String,
    },
}
