//! Choosing a profile: by name, by file, by the chip's compute capability.

use std::path::Path;

use crate::profile::pair;
use crate::validate::validate;
use crate::{Profile, ProfileError};

/// The profiles that come with the crate: name and text.
const SHIPPED: [(&str, &str); 6] = [
    ("volta", include_str!("../volta.yml")),
    ("turing", include_str!("../turing.yml")),
    ("ampere", include_str!("../ampere.yml")),
    ("ada", include_str!("../ada.yml")),
    ("hopper", include_str!("../hopper.yml")),
    ("blackwell", include_str!("../blackwell.yml")),
];

impl Profile {
    /// The names of the profiles that come with the crate, from the oldest chip on.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// The profiles that come with the crate.
    pub fn shipped() -> impl Iterator<Item = Profile> {
        SHIPPED.iter().filter_map(|(name, text)| Profile::parse(&format!("{name}.yml"), text).ok())
    }

    /// A profile that comes with the crate.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn by_name(name: &str) -> Result<Profile, ProfileError> {
        match SHIPPED.iter().find(|(known, _)| *known == name) {
            Some((name, text)) => Profile::parse(&format!("{name}.yml"), text),
            None => Err(unknown(name)),
        }
    }

    /// The profile for a chip: the one that lists its compute capability. For a chip that none lists, the one with the
    /// nearest older chip of the same major number, whose code it runs: 8.8 gets the profile of 8.7, but 4.0 gets none, and
    /// neither does 9.1, which doesn't run what is made for sm_90a.
    ///
    /// # Errors
    /// There is none.
    pub fn for_capability(major: u32, minor: u32) -> Result<Profile, ProfileError> {
        let runs = |profile: &Profile, chip: (u32, u32)| {
            chip == (major, minor) || chip.0 == major && chip.1 < minor && !profile.ptx.is_specific()
        };
        let older = |profile: &Profile| {
            let chips = profile.compute_capabilities.iter().filter_map(|chip| pair(chip));
            chips.filter(|&chip| runs(profile, chip)).max()
        };
        let nearest = Profile::shipped().filter_map(|profile| Some((older(&profile)?, profile)));
        nearest.max_by_key(|&(chip, _)| chip).map(|(_, profile)| profile).ok_or_else(|| {
            let known: Vec<String> = Profile::shipped().flat_map(|p| p.compute_capabilities).collect();
            ProfileError::Capability { major, minor, known: known.join(", ") }
        })
    }

    /// A profile by its name, or from a file by its path.
    ///
    /// # Errors
    /// Neither exists, or the file is no profile.
    pub fn resolve(name_or_file: &str) -> Result<Profile, ProfileError> {
        if SHIPPED.iter().any(|(known, _)| *known == name_or_file) {
            Profile::by_name(name_or_file)
        } else if names_a_file(name_or_file) {
            Profile::from_file(name_or_file)
        } else {
            Err(unknown(name_or_file))
        }
    }

    /// The text of a profile by its name, or of a file by its path, as [`Self::resolve`] finds it.
    ///
    /// # Errors
    /// Neither exists.
    pub fn text(name_or_file: &str) -> Result<String, ProfileError> {
        match SHIPPED.iter().find(|(known, _)| *known == name_or_file) {
            Some((_, text)) => Ok((*text).to_owned()),
            None if names_a_file(name_or_file) => read(Path::new(name_or_file)),
            None => Err(unknown(name_or_file)),
        }
    }

    /// Reads a profile from a file.
    ///
    /// # Errors
    /// The file can't be read or is no profile.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Profile, ProfileError> {
        Profile::parse(&path.as_ref().display().to_string(), &read(path.as_ref())?)
    }

    /// Reads a profile from a text; `file` is the name that errors give it.
    ///
    /// # Errors
    /// The text is no profile: file, line, field and what would be right.
    pub fn parse(file: &str, text: &str) -> Result<Profile, ProfileError> {
        let profile: Profile = serde_yaml::from_str(text)
            .map_err(|error| ProfileError::Syntax { file: file.to_owned(), error: error.to_string() })?;
        validate(file, text, &profile)?;
        Ok(profile)
    }
}

/// Whether this is the path of a file that is there, or one that can be no profile's name.
fn names_a_file(name_or_file: &str) -> bool {
    let path = Path::new(name_or_file);
    path.extension().is_some() || path.components().count() > 1 || path.is_file()
}

fn read(path: &Path) -> Result<String, ProfileError> {
    let failed =
        |error: std::io::Error| ProfileError::Read { file: path.display().to_string(), error: error.to_string() };
    std::fs::read_to_string(path).map_err(failed)
}

fn unknown(name: &str) -> ProfileError {
    ProfileError::Unknown { name: name.to_owned(), known: Profile::names().collect::<Vec<_>>().join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dtype;

    #[test]
    fn every_shipped_profile_reads_and_has_its_own_name() {
        for name in Profile::names() {
            assert_eq!(Profile::by_name(name).unwrap().name, name);
        }
        assert_eq!(Profile::shipped().count(), SHIPPED.len());
    }

    #[test]
    fn every_profile_declares_the_unit_of_its_chips() {
        let units = |name| Profile::by_name(name).unwrap().matrix_units.into_iter().map(|unit| unit.shape);
        let first: Vec<String> = Profile::names().filter_map(|name| units(name).next()).collect();
        assert_eq!(first, ["m8n8k4", "m16n8k8", "m16n8k16", "m16n8k16", "wgmma", "m16n8k16"]);
        let volta = Profile::by_name("volta").unwrap();
        let unit = volta.matrix_unit("m8n8k4").unwrap();
        assert_eq!((&unit.operand_dtypes[..], unit.accumulator_dtype), (&[Dtype::Float16][..], Dtype::Float32));
        assert_eq!((volta.ptx.sm(), volta.ptx.version()), (70, (6, 4)));
    }

    #[test]
    fn the_first_tile_that_reaches_the_head_dim_is_taken() {
        let example = Profile::parse("example.yml", include_str!("../tests/example.yml")).unwrap();
        let reached = |head_dim| example.flash_tile("fma", head_dim, 1000).map(|tile| tile.head_dim_le);
        let tiles = [0, 1, 64, 65, 128, 129, 256, 257].map(reached);
        let [low, middle, high] = [Some(64), Some(128), Some(256)];
        assert_eq!(tiles, [low, low, low, middle, middle, high, high, None]);
        assert_eq!(example.flash_tile("m8n8k4", 64, 1000).map(|tile| tile.head_dim_le), high);
        assert_eq!(example.flash_tile("m16n8k16", 64, 1000), None);
    }

    #[test]
    fn the_first_tile_that_reaches_the_rows_is_taken() {
        let own = "- {head_dim_le: 128, ";
        let text = include_str!("../tests/example.yml");
        let few = format!("{own}rows_le: 16, block_m: 16, block_n: 32, warps: 2, chunk: 64}}\n    {own}");
        let fma = Profile::parse("mine.yml", &text.replacen(own, &few, 1)).unwrap();
        let size = |head_dim, rows| fma.flash_tile("fma", head_dim, rows).map(|tile| (tile.head_dim_le, tile.block_m));
        assert_eq!(
            [size(65, 16), size(128, 1), size(128, 17), size(64, 1)],
            [(128, 16), (128, 16), (128, 32), (64, 64)].map(Some)
        );
    }

    #[test]
    fn a_listed_chip_chooses_its_profile() {
        for profile in Profile::shipped() {
            for chip in &profile.compute_capabilities {
                let (major, minor) = pair(chip).unwrap();
                assert_eq!(Profile::for_capability(major, minor).unwrap().name, profile.name, "{chip}");
            }
        }
    }

    #[test]
    fn another_chip_chooses_its_nearest_elder_of_the_same_major_number() {
        let name = |major, minor| Profile::for_capability(major, minor).map(|p| p.name).map_err(|e| e.to_string());
        for ((major, minor), expected) in [
            ((7, 1), "volta"),
            ((7, 3), "volta"),
            ((7, 6), "turing"),
            ((8, 8), "ampere"),
            ((8, 10), "ada"),
            ((10, 1), "blackwell"),
        ] {
            assert_eq!(name(major, minor).as_deref(), Ok(expected), "{major}.{minor}");
        }
        let none = "no profile is for compute capability 3.5; the profiles are for 7.0, 7.2, 7.5, 8.0";
        assert!(name(3, 5).unwrap_err().starts_with(none));
        // What is made for sm_90a runs on no other chip.
        assert!(name(9, 0).is_ok() && name(9, 1).is_err());
        assert!(name(u32::MAX, u32::MAX).is_err());
    }

    #[test]
    fn an_unknown_name_lists_what_there_is() {
        let known = "the profiles are volta, turing, ampere, ada, hopper, blackwell";
        let expected = format!("there is no profile \"pascal\" and no file of that name; {known}");
        assert_eq!(Profile::resolve("pascal").unwrap_err().to_string(), expected);
        assert_eq!(Profile::by_name("pascal").unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_file_is_read_or_named() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/turing.yml");
        assert_eq!(Profile::resolve(path).unwrap(), Profile::by_name("turing").unwrap());
        let missing = Profile::resolve("no/such.yml").unwrap_err();
        assert!(matches!(&missing, ProfileError::Read { file, .. } if file == "no/such.yml"));
        assert!(missing.to_string().starts_with("no/such.yml: "));
        assert!(matches!(Profile::from_file(env!("CARGO_MANIFEST_DIR")), Err(ProfileError::Read { .. })));
    }

    #[test]
    fn wrong_text_is_named_with_its_place() {
        let example = include_str!("../tests/example.yml");
        for (from, to, place, what) in [
            (
                "threads_per_block: 1024",
                "threads_per_block: many",
                "limits.threads_per_block",
                "expected u32 at line 5",
            ),
            ("shared_per_block: 98304", "shared_per_block: -1", "limits.shared_per_block", "expected u32 at line 9"),
            ("limits:", "limit:", "mine.yml", "unknown field `limit`, expected one of `name`"),
            ("  isa: \"6.4\"\n", "", "ptx", "missing field `isa` at line 12"),
            (
                "float16",
                "half",
                "matrix_units[0].operand_dtypes[0]",
                "unknown variant `half`, expected one of `float16`",
            ),
            ("name: volta", "name: volta\nname: twice", "mine.yml", "duplicate field `name`"),
        ] {
            assert!(example.contains(from), "{from}");
            let error = Profile::parse("mine.yml", &example.replacen(from, to, 1)).unwrap_err();
            assert!(matches!(error, ProfileError::Syntax { .. }), "{error}");
            let text = error.to_string();
            assert!(text.starts_with("mine.yml: ") && text.contains(place) && text.contains(what), "{text}");
        }
        for text in ["", "volta", "[1, 2]", "{", "a: *b"] {
            assert!(matches!(Profile::parse("mine.yml", text), Err(ProfileError::Syntax { .. })), "{text}");
        }
    }
}
