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

    /// The profile that lists a compute capability, else one of the same major number.
    ///
    /// # Errors
    /// There is none.
    pub fn for_capability(major: u32, minor: u32) -> Result<Profile, ProfileError> {
        let lists = |wanted: &dyn Fn((u32, u32)) -> bool| {
            Profile::shipped().find(|p| p.compute_capabilities.iter().filter_map(|c| pair(c)).any(wanted))
        };
        lists(&|capability| capability == (major, minor)).or_else(|| lists(&|(own, _)| own == major)).ok_or_else(|| {
            let known: Vec<String> = Profile::shipped().flat_map(|p| p.compute_capabilities).collect();
            ProfileError::Capability { major, minor, known: known.join(", ") }
        })
    }

    /// A profile by its name, or from a file by its path.
    ///
    /// # Errors
    /// Neither exists, or the file is no profile.
    pub fn resolve(name_or_file: &str) -> Result<Profile, ProfileError> {
        let path = Path::new(name_or_file);
        let names_a_file = path.extension().is_some() || path.components().count() > 1;
        if SHIPPED.iter().any(|(known, _)| *known == name_or_file) {
            Profile::by_name(name_or_file)
        } else if names_a_file || path.is_file() {
            Profile::from_file(path)
        } else {
            Err(unknown(name_or_file))
        }
    }

    /// Reads a profile from a file.
    ///
    /// # Errors
    /// The file can't be read or is no profile.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Profile, ProfileError> {
        let file = path.as_ref().display().to_string();
        let text = std::fs::read_to_string(path.as_ref());
        let text = text.map_err(|error| ProfileError::Read { file: file.clone(), error: error.to_string() })?;
        Profile::parse(&file, &text)
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

fn unknown(name: &str) -> ProfileError {
    ProfileError::Unknown { name: name.to_owned(), known: Profile::names().collect::<Vec<_>>().join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOLTA: &str = include_str!("../volta.yml");

    fn error(from: &str, to: &str) -> String {
        assert!(VOLTA.contains(from), "{from}");
        Profile::parse("mine.yml", &VOLTA.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn every_shipped_profile_reads_and_has_its_own_name() {
        for name in Profile::names() {
            assert_eq!(Profile::by_name(name).unwrap().name, name);
        }
        assert_eq!(Profile::shipped().count(), SHIPPED.len());
    }

    #[test]
    fn only_volta_has_a_unit_yet() {
        let with: Vec<String> = Profile::shipped().filter(|p| p.matrix_unit.is_some()).map(|p| p.name).collect();
        assert_eq!(with, ["volta"]);
        let volta = Profile::by_name("volta").unwrap();
        let unit = volta.matrix_unit.unwrap();
        assert_eq!((unit.shape.as_str(), unit.operand_dtype, unit.accumulator_dtype), ("m8n8k4", crate::Dtype::Float16, crate::Dtype::Float32));
        let tile = unit.flash_tile(96).unwrap();
        assert_eq!((tile.block_m, tile.block_n), (64, 32));
        assert_eq!(unit.flash_tile(257), None);
        assert_eq!((volta.ptx.sm(), volta.ptx.version()), (70, (6, 4)));
    }

    #[test]
    fn the_chip_chooses() {
        let name = |major, minor| Profile::for_capability(major, minor).map(|p| p.name).map_err(|e| e.to_string());
        assert_eq!(name(7, 0), Ok("volta".into()));
        assert_eq!(name(7, 5), Ok("turing".into()));
        assert_eq!(name(8, 9), Ok("ada".into()));
        assert_eq!(name(9, 1), Ok("hopper".into()));
        assert!(name(3, 5).unwrap_err().starts_with("no profile is for compute capability 3.5; the profiles are for 7.0"));
    }

    #[test]
    fn an_unknown_name_lists_what_there_is() {
        let error = Profile::resolve("pascal").unwrap_err().to_string();
        assert_eq!(error, "there is no profile \"pascal\" and no file of that name; the profiles are volta, turing, ampere, ada, hopper, blackwell");
        assert!(Profile::resolve("no/such.yml").unwrap_err().to_string().starts_with("no/such.yml: "));
    }

    #[test]
    fn wrong_text_is_named_with_its_line() {
        assert!(error("threads_per_block: 1024", "threads_per_block: many").contains("line 5"));
        assert!(error("limits:", "limit:").contains("unknown field `limit`"));
        assert!(error("name: volta", "title: volta").contains("unknown field `title`"));
        assert!(error("operand_dtype: float16", "operand_dtype: half").contains("unknown variant `half`"));
        assert!(Profile::parse("mine.yml", "").unwrap_err().to_string().starts_with("mine.yml: "));
    }

    #[test]
    fn wrong_values_are_named_with_what_would_be_right() {
        let tile = "a tile size is a power of two from 8 to 256";
        assert_eq!(error("block_m: 64", "block_m: 48"), format!("mine.yml, line 19: matrix_unit.flash[0].block_m is 48; {tile}"));
        assert_eq!(error("shape: m8n8k4", "shape: m16n8k8"), "mine.yml, line 15: matrix_unit.shape is m16n8k8; the units are m8n8k4");
        assert_eq!(error("operand_dtype: float16", "operand_dtype: float32"), "mine.yml, line 16: matrix_unit.operand_dtype is float32; m8n8k4 takes float16");
        assert_eq!(error("accumulator_dtype: float32", "accumulator_dtype: float16"), "mine.yml, line 17: matrix_unit.accumulator_dtype is float16; m8n8k4 sums in float32");
        assert!(error("head_dim_le: 128", "head_dim_le: 64").ends_with("this one must be over 64"));
        assert!(error("threads_per_block: 1024", "threads_per_block: 0").contains("limits.threads_per_block is 0"));
        assert!(error("shared_per_block: 98304", "shared_per_block: 98305").contains("at most shared_per_multiprocessor"));
        assert!(error("target: sm_70", "target: gfx90a").contains("ptx.target is gfx90a"));
        assert!(error("isa: \"6.4\"", "isa: \"six\"").contains("ptx.isa is six"));
        assert!(error("\"7.0\"", "\"seven\"").contains("compute_capabilities is seven"));
    }

    #[test]
    fn damaged_text_never_panics() {
        for cut in 0..VOLTA.len() {
            let _ = Profile::parse("mine.yml", &VOLTA[..cut]);
            let damaged = format!("{}{}", &VOLTA[..cut], &VOLTA[cut + 1..]);
            let _ = Profile::parse("mine.yml", &damaged);
        }
    }
}
