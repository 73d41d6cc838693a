//! `quadpair layout`: layouts as tables and pictures.
//!
//! One layout: its bases and who holds each element. Two in registers: the conversion between them. One in registers and
//! one in shared memory: the banks that each access wants. Each is a [`Drawing`], cells with words and colours, which is
//! printed as text or drawn as SVG, under a few tables.

mod banks;
mod drawing;
mod one;
mod pair;
mod svg;

pub use self::one::Registers;

use self::drawing::{Drawing, Limit};
use super::error::CliError;
use super::kernel::{kernel_names, lookup};
use super::output::{PendingFile, print, print_json};
use clap::ValueEnum;
use quadpair::inspect::bank_picture::Direction;
use quadpair::inspect::expression::{Expression, Value, forms};
use std::path::PathBuf;

/// Show a layout, what converting it to another takes, or the shared-memory banks that it wants.
///
/// One layout: what each bit of a register's, lane's and warp's number moves by, and who holds each element. Two layouts
/// in registers: how a tile is converted from the first to the second, at what cost, and the first difference. One in
/// registers and one in shared memory: the wavefronts of loading and storing, and which lane wants which bank.
#[derive(Debug, clap::Args)]
#[command(after_long_help = grammar())]
pub struct Layout {
    /// The layout, as in 'blocked([1,8],[8,4],[4,1],[1,0]) on [64,32]'; --help has the grammar
    #[arg(value_name = "EXPR")]
    first: String,
    /// Another one
    #[arg(value_name = "EXPR2")]
    second: Option<String>,
    /// Bits of an element, for conversions and banks
    #[arg(long, value_name = "8|16|32|64", default_value_t = 16, value_parser = bits)]
    bits: u32,
    /// Which access the picture of banks shows
    #[arg(long, value_enum, value_name = "load|store", default_value_t = AccessName::Load)]
    access: AccessName,
    /// Show all elements and all accesses, not only the first ones
    #[arg(long)]
    full: bool,
    /// Draw it to a file, in colour
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AccessName {
    Load,
    Store,
}

fn bits(text: &str) -> Result<u32, String> {
    ["8", "16", "32", "64"]
        .contains(&text)
        .then(|| text.parse().ok())
        .flatten()
        .ok_or_else(|| "elements have 8, 16, 32 or 64 bits".to_owned())
}

/// What is known of the layouts given: tables, a drawing, and the record of both.
struct Shown {
    tables: String,
    drawing: Drawing,
    record: serde_json::Value,
}

impl Layout {
    /// Evaluates the expressions and shows what they give.
    pub fn run(&self) -> Result<(), CliError> {
        let shown = self.shown()?;
        if let Some(path) = &self.svg {
            let limit = if self.full { Limit::ALL } else { Limit::SVG };
            PendingFile::create(path)?.write(svg::draw(&shown.drawing, limit).as_bytes())?;
        }
        if self.json {
            return print_json(&shown.record);
        }
        let limit = if self.full { Limit::ALL } else { Limit::TEXT };
        print(&format!("{}\n{}", shown.tables, shown.drawing.text(limit)))
    }

    fn shown(&self) -> Result<Shown, CliError> {
        let (name, first) = value(&self.first)?;
        let second = self.second.as_deref().map(value).transpose()?;
        match (first, second) {
            (Value::Registers(tile), None) => Ok(one::registers(&name, &tile)),
            (Value::Shared(memory), None) => Ok(one::shared(&name, &memory, self.bits)),
            (Value::Registers(from), Some((other, Value::Registers(to)))) => {
                pair::conversion([&name, &other], &from, &to, self.bits)
            }
            (Value::Registers(tile), Some((other, Value::Shared(memory)))) => {
                self.banks([&name, &other]).show(&tile, &memory)
            }
            (Value::Shared(memory), Some((other, Value::Registers(tile)))) => {
                self.banks([&other, &name]).show(&tile, &memory)
            }
            _ => Err(CliError::Pair(
                "two layouts of shared memory have nothing between them; one has to be of registers".to_owned(),
            )),
        }
    }

    fn banks<'n>(&self, names: [&'n str; 2]) -> banks::Banks<'n> {
        let direction = match self.access {
            AccessName::Load => Direction::Load,
            AccessName::Store => Direction::Store,
        };
        banks::Banks { names, bits: self.bits, direction }
    }
}

/// The canonical text of an expression, and its layout.
fn value(text: &str) -> Result<(String, Value), CliError> {
    let expression: Expression = text.parse()?;
    let value = expression.value_with(&lookup)?;
    Ok((expression.to_string(), value))
}

/// The grammar and every name, for `--help`.
fn grammar() -> String {
    let mut text = String::from(
        "Expressions:\n  \
         name(arguments) on shape      a layout of a tile of that shape\n  \
         EXPR.view(arguments)          a view of it; views can be chained\n  \
         KERNEL:value                  the layout of a kernel's value: by its name in the source (s), a line (@266),\n  \
         \u{20}                             its number (v12), a layout's number (#3), an allocation (shared0)\n\
         \n\
         Arguments are numbers, lists such as [1, 8] and lists of lists. `f(a) on [64, 32]` is the same as `f([64, 32], a)`.\n",
    );
    for (heading, calls) in forms() {
        text += &format!("\n{heading}:\n");
        for (form, says) in calls {
            text += &format!("  {form:<55} {says}\n");
        }
    }
    text += &format!("\nKernels: {}\n", kernel_names().join(", "));
    text + "\nExamples:\n  \
        quadpair layout 'm8n8k4(2x2, [4, 1]).accumulator on [64, 32]'\n  \
        quadpair layout 'm8n8k4(2x2, [1, 1]).a on [16, 32]' 'swizzled(8, 1, 4, [1, 0]) on [16, 32]' --svg banks.svg\n  \
        quadpair layout FLASH_96:#4 FLASH_96:shared0"
}
