//! Other tiles in the text of a profile.
//!
//! A profile is written by hand but for its tiles, so that a text with other tiles keeps every other line, comments and all.
//! Of a unit's section, such as the one below, the lines from `flash:` to the one before `matmul:` make room for the new list, and the line of
//! `matmul:` for the new tile; a note goes above each, as a comment.
//!
//! ```text
//! fma:            # this comment stays
//!   flash:
//!     # the note on the list
//!     - {head_dim_le: 64, ...} # the note on the entry
//!   # the note on the tile
//!   matmul: {block_m: 64, ...}
//! ```
//!
//! The text that comes out is read again: were it to say anything else than what was asked for, there is an error.

use crate::{FlashTile, MatmulTile, Profile, ProfileError};

/// New tiles, each with a note; what is empty or absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tuned {
    /// Attention tiles. One takes the place of the entry of its head dim and rows; others stay.
    pub flash: Vec<(FlashTile, String)>,
    /// What is said of the list of attention tiles.
    pub flash_note: String,
    /// The tile of matrix products, with what is said of it.
    pub matmul: Option<(MatmulTile, String)>,
}

impl Profile {
    /// The text of a profile with other tiles of a unit, `fma` or a matrix unit that it declares; every line of the rest stays.
    ///
    /// # Errors
    /// The text is no profile; it doesn't declare the unit, or the unit's section isn't laid out as described in the crate's
    /// documentation, a line an entry; or the new tiles are none that a profile can have.
    pub fn with_tiles(file: &str, text: &str, unit: &str, tuned: &Tuned) -> Result<String, ProfileError> {
        let mut expected = Profile::parse(file, text)?;
        let failed = || ProfileError::Layout { file: file.to_owned(), section: unit.to_owned() };
        let (flash, matmul) = expected.tiles_mut(unit).ok_or_else(failed)?;
        let lines: Vec<&str> = text.lines().collect();
        let places = Places::find(&lines, unit).ok_or_else(failed)?;
        let entries = merged(flash, places.entries(&lines), tuned);
        *flash = entries.iter().map(|(tile, _)| *tile).collect();
        if let Some((tile, _)) = &tuned.matmul {
            *matmul = *tile;
        }
        let new = places.replaced(&lines, &entries, tuned);
        let read = Profile::parse(file, &new)?;
        if read == expected { Ok(new) } else { Err(failed()) }
    }
}

/// Entries in their order, each with its line: those that were there, and the new ones in their place.
fn merged(old: &[FlashTile], lines: Vec<&str>, tuned: &Tuned) -> Vec<(FlashTile, String)> {
    let line = |i: usize, tile: &FlashTile| {
        let kept = lines.get(i).filter(|_| lines.len() == old.len());
        kept.map_or_else(|| format!("- {tile}"), |line| line.trim().to_owned())
    };
    let is_new = |tile: &FlashTile| tuned.flash.iter().any(|(new, _)| new.order() == tile.order());
    let kept = old.iter().enumerate().filter(|(_, tile)| !is_new(tile)).map(|(i, tile)| (*tile, line(i, tile)));
    let new = tuned.flash.iter().map(|(tile, note)| (*tile, format!("- {tile}{}", comment(note))));
    let mut entries: Vec<_> = kept.chain(new).collect();
    entries.sort_by_key(|(tile, _)| tile.order());
    entries
}

fn comment(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!(" # {note}") }
}

/// Numbers of the lines of a section that tiles stand on.
struct Places {
    /// From `flash:` to the last of its list.
    flash: std::ops::Range<usize>,
    /// `matmul:` and the comments right above it.
    matmul: std::ops::Range<usize>,
    /// The spaces before both.
    indent: usize,
}

impl Places {
    /// Finds a unit's section, whose `matmul:` comes behind its `flash:`: below `fma:`, or below the unit's name.
    fn find(lines: &[&str], unit: &str) -> Option<Self> {
        let after = |from: usize, name: &str| (from..lines.len()).find(|&i| begins(lines[i].trim_start(), name));
        let named = |line: &str| line.trim_start().strip_prefix("- shape:").is_some_and(|name| word(name) == unit);
        let start = lines.iter().position(|line| begins(line, unit) || named(line))?;
        let flash = after(start + 1, "flash")?;
        let matmul = after(flash + 1, "matmul")?;
        let above = (flash..matmul).rev().take_while(|&i| lines[i].trim_start().starts_with('#')).count();
        let inside = |line: &&str| {
            let text = line.trim_start();
            text.is_empty() || text.starts_with('#') || spaces(line) > spaces(lines[start])
        };
        let whole = lines[start + 1..=matmul].iter().all(inside);
        let indent = spaces(lines[flash]);
        whole.then_some(Self { flash: flash..matmul - above, matmul: matmul - above..matmul + 1, indent })
    }

    /// The lines of the list's entries.
    fn entries<'t>(&self, lines: &[&'t str]) -> Vec<&'t str> {
        lines[self.flash.clone()].iter().copied().filter(|line| line.trim_start().starts_with("- ")).collect()
    }

    fn replaced(&self, lines: &[&str], entries: &[(FlashTile, String)], tuned: &Tuned) -> String {
        let (outer, inner) = (" ".repeat(self.indent), " ".repeat(self.indent + 2));
        let mut new: Vec<String> = lines[..self.flash.start].iter().map(|line| (*line).to_owned()).collect();
        if tuned.flash.is_empty() {
            new.extend(lines[self.flash.clone()].iter().map(|line| (*line).to_owned()));
        } else {
            new.push(format!("{outer}flash:"));
            new.extend(comments(&tuned.flash_note, &inner));
            new.extend(entries.iter().map(|(_, line)| format!("{inner}{line}")));
        }
        match &tuned.matmul {
            None => new.extend(lines[self.matmul.clone()].iter().map(|line| (*line).to_owned())),
            Some((tile, note)) => {
                new.extend(comments(note, &outer));
                new.push(format!("{outer}matmul: {tile}"));
            }
        }
        new.extend(lines[self.matmul.end..].iter().map(|line| (*line).to_owned()));
        new.join("\n") + "\n"
    }
}

/// Whether a line holds the field of a name.
fn begins(line: &str, name: &str) -> bool {
    line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
}

/// A field's value, without what comes behind it.
fn word(value: &str) -> &str {
    value.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\''])
}

fn spaces(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn comments(note: &str, indent: &str) -> Vec<String> {
    note.lines().map(|line| format!("{indent}# {line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = include_str!("../tests/example.yml");

    fn tile(head_dim_le: usize, block_m: usize) -> FlashTile {
        FlashTile { head_dim_le, rows_le: None, block_m, block_n: 32, warps: 4, quadpairs: None, chunk: 64 }
    }

    fn tuned() -> Tuned {
        Tuned {
            flash: vec![(tile(128, 64), "by a test".into()), (tile(96, 32), String::new())],
            flash_note: "Found\nwith care.".into(),
            matmul: Some((
                MatmulTile { block_m: 32, block_n: 64, block_k: 32, warps: 2, stages: 2 },
                "Guessed.".into(),
            )),
        }
    }

    fn fma(text: &str, tuned: &Tuned) -> Result<String, String> {
        Profile::with_tiles("mine.yml", text, "fma", tuned).map_err(|error| error.to_string())
    }

    #[test]
    fn new_tiles_take_the_place_of_those_of_their_head_dim() {
        let text = fma(EXAMPLE, &tuned()).expect("the example can be rewritten");
        let start = EXAMPLE.find("fma:").expect("it has the section");
        let expected = "fma:
  flash:
    # Found
    # with care.
    - {head_dim_le: 64, block_m: 64, block_n: 32, warps: 8, chunk: 64}
    - {head_dim_le: 96, block_m: 32, block_n: 32, warps: 4, chunk: 64}
    - {head_dim_le: 128, block_m: 64, block_n: 32, warps: 4, chunk: 64} # by a test
    - {head_dim_le: 256, block_m: 16, block_n: 32, warps: 2, chunk: 64}
  # Guessed.
  matmul: {block_m: 32, block_n: 64, block_k: 32, warps: 2}
";
        assert_eq!(text, format!("{}{expected}", &EXAMPLE[..start]));
        // Notes take the place of notes, and what isn't new keeps its own.
        assert_eq!(fma(&text, &tuned()).as_deref(), Ok(&*text));
        let again = fma(&text, &Tuned { flash: vec![(tile(64, 64), String::new())], ..Tuned::default() });
        assert!(again.is_ok_and(|text| text.contains("# by a test\n") && text.contains("# Guessed.\n")));
    }

    #[test]
    fn a_tile_for_few_rows_stands_before_the_one_for_any() {
        let few = FlashTile { rows_le: Some(16), ..tile(128, 32) };
        let text = fma(EXAMPLE, &Tuned { flash: vec![(few, String::new())], ..Tuned::default() }).expect("it fits in");
        let expected = "
    - {head_dim_le: 128, rows_le: 16, block_m: 32, block_n: 32, warps: 4, chunk: 64}
    - {head_dim_le: 128, block_m: 32, block_n: 32, warps: 4, chunk: 64}
";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn every_unit_of_every_shipped_profile_can_be_rewritten() {
        for name in Profile::names() {
            let text = Profile::text(name).expect("it is shipped");
            let profile = Profile::parse(name, &text).expect("it is a profile");
            for unit in profile.matrix_units.iter().map(|unit| &unit.shape[..]).chain(["fma"]) {
                let (flash, matmul) = profile.tiles(unit).expect("it is declared");
                let flash = flash.iter().map(|tile| (*tile, String::new())).collect();
                let same = Tuned { flash, matmul: Some((*matmul, String::new())), ..Tuned::default() };
                let new = Profile::with_tiles(name, &text, unit, &same).expect("it can be rewritten");
                assert_eq!(Profile::parse(name, &new).expect("it was read"), profile, "{name} {unit}");
                let other = Tuned { matmul: Some((tuned().matmul.expect("it has one").0, String::new())), ..same };
                let new = Profile::with_tiles(name, &text, unit, &other).expect("it can be rewritten");
                let new = Profile::parse(name, &new).expect("it was read");
                assert_eq!(new.tiles(unit).map(|tiles| tiles.1), other.matmul.as_ref().map(|(tile, _)| tile));
            }
        }
    }

    #[test]
    fn what_cannot_be_rewritten_is_an_error() {
        let flow = EXAMPLE.replacen("fma:\n  flash:", "fma:\n  'flash':", 1);
        let error = fma(&flow, &tuned()).expect_err("the field isn't found");
        assert!(error.starts_with("mine.yml: the tiles of fma can't be replaced"), "{error}");
        let mut wrong = tuned();
        wrong.flash[0].0.warps = 3;
        assert!(fma(EXAMPLE, &wrong).is_err_and(|error| error.contains("warps is 3")));
        let error = Profile::with_tiles("mine.yml", EXAMPLE, "m16n8k16", &tuned()).expect_err("it has none");
        assert!(error.to_string().contains("the tiles of m16n8k16 can't be replaced"), "{error}");
    }
}
