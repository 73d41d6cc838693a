//! Machine code kept between runs.
//!
//! The driver's assembler needs from a tenth of a second to some seconds for a program, every time that a process starts.
//! So what it made is kept in a file, and the next process reads that. A file serves one program only: it holds what the
//! code was made from (the PTX, the driver, the chip) word for word, and is used where all of it is the same:
//!
//! ```text
//! ~/.cache/quadpair/5d4e1f0b9a3c7726.cubin     named after a hash of what the code was made from
//!
//! "quadpair cubin 1; driver 13000; sm_90"      each of the four preceded by its length, 8 bytes
//! the PTX
//! the assembler's log
//! the machine code
//! a checksum of all that, 8 bytes
//! ```
//!
//! A file that is cut short, changed or of something else is no error: the program is assembled and the file replaced.
//! Nor is a folder that can't be written to. Files get their names when they are whole, so that processes may share a
//! folder; anybody may delete them at any time.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder where machine code is kept, or none.
///
/// The environment variable `QUADPAIR_CACHE` names it; `off` keeps nothing. Without the variable it is `quadpair` in
/// `$XDG_CACHE_HOME` or, failing that, in `~/.cache`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CubinCache {
    folder: Option<PathBuf>,
}

/// What machine code is made from.
pub(super) struct Source<'a> {
    /// The program.
    pub(super) ptx: &'a str,
    /// The CUDA version that the driver has, 13000 for 13.0.
    pub(super) driver: i32,
    /// The device's compute capability.
    pub(super) capability: (i32, i32),
}

/// What the assembler made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assembled {
    /// The machine code.
    pub(super) cubin: Vec<u8>,
    /// What the assembler said.
    pub(super) log: String,
}

impl CubinCache {
    /// As the environment says.
    pub fn from_env() -> Self {
        Self::chosen(env::var_os("QUADPAIR_CACHE"), env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"))
    }

    /// Keeps machine code in this folder, which is made when it's first needed.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        CubinCache { folder: Some(folder.into()) }
    }

    /// Keeps nothing.
    pub fn off() -> Self {
        CubinCache { folder: None }
    }

    fn chosen(own: Option<OsString>, xdg: Option<OsString>, home: Option<OsString>) -> Self {
        let named = |value: Option<OsString>| value.filter(|value| !value.is_empty()).map(PathBuf::from);
        match named(own) {
            Some(own) if own.as_os_str() == "off" => Self::off(),
            Some(own) => Self::at(own),
            // A relative path in XDG_CACHE_HOME counts as none, by its specification.
            None => {
                let xdg = named(xdg).filter(|xdg| xdg.is_absolute());
                let caches = xdg.or_else(|| Some(named(home)?.join(".cache")));
                CubinCache { folder: caches.map(|caches| caches.join("quadpair")) }
            }
        }
    }

    /// What is kept of a program.
    pub(super) fn read(&self, source: &Source<'_>) -> Option<Assembled> {
        source.decode(&fs::read(self.file(source)?).ok()?)
    }

    /// Keeps what the assembler made. That it can't be kept is no error: it will be made again.
    pub(super) fn write(&self, source: &Source<'_>, assembled: &Assembled) {
        if let Some(file) = self.file(source) {
            let _ = replace(&file, &source.encode(assembled));
        }
    }

    fn file(&self, source: &Source<'_>) -> Option<PathBuf> {
        let hash = [source.key().as_bytes(), source.ptx.as_bytes()].into_iter().fold(FNV_START, fnv);
        Some(self.folder.as_ref()?.join(format!("{hash:016x}.cubin")))
    }
}

impl Source<'_> {
    fn key(&self) -> String {
        let (major, minor) = self.capability;
        format!("quadpair cubin 1; driver {}; sm_{major}{minor}", self.driver)
    }

    fn encode(&self, assembled: &Assembled) -> Vec<u8> {
        let mut file = Vec::with_capacity(self.ptx.len() + assembled.log.len() + assembled.cubin.len() + 128);
        for part in [self.key().as_bytes(), self.ptx.as_bytes(), assembled.log.as_bytes(), &assembled.cubin] {
            file.extend_from_slice(&(part.len() as u64).to_le_bytes());
            file.extend_from_slice(part);
        }
        let checksum = fnv(FNV_START, &file);
        file.extend_from_slice(&checksum.to_le_bytes());
        file
    }

    /// What the file holds, if it's whole and made from this source.
    fn decode(&self, file: &[u8]) -> Option<Assembled> {
        let (mut rest, checksum) = file.split_last_chunk()?;
        if fnv(FNV_START, rest) != u64::from_le_bytes(*checksum) {
            return None;
        }
        let mut part = || {
            let (length, after) = rest.split_first_chunk()?;
            let (part, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
            rest = after;
            Some(part)
        };
        let (key, ptx, log, cubin) = (part()?, part()?, part()?, part()?);
        let same = key == self.key().as_bytes() && ptx == self.ptx.as_bytes() && rest.is_empty();
        same.then_some(Assembled { cubin: cubin.to_vec(), log: String::from_utf8(log.to_vec()).ok()? })
    }
}

/// Gives a file its content at once, whatever was there before and whoever does the same beside.
fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    static TURN: AtomicU32 = AtomicU32::new(0);
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    let turn = TURN.fetch_add(1, Ordering::Relaxed);
    let temporary = file.with_extension(format!("{}.{turn}.tmp", std::process::id()));
    let written = fs::File::create(&temporary).and_then(|mut temporary| temporary.write_all(content));
    let named = written.and_then(|()| fs::rename(&temporary, file));
    if named.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    named
}

/// Where the FNV-1a hash of 64 bits starts.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// The FNV-1a hash, continued. It only has to tell damage and names apart: what a file is used for is compared in full.
fn fnv(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that goes when the test is over.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            Folder(env::temp_dir().join(format!("quadpair-cubins-{name}-{}", std::process::id())))
        }

        fn files(&self) -> Vec<PathBuf> {
            fs::read_dir(&self.0).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn source(ptx: &str) -> Source<'_> {
        Source { ptx, driver: 13_000, capability: (9, 0) }
    }

    fn made() -> Assembled {
        Assembled { cubin: b"\x7fELF code".to_vec(), log: "used 8 registers".into() }
    }

    #[test]
    fn what_was_written_is_read_for_the_same_source_alone() {
        let folder = Folder::new("same");
        let cache = CubinCache::at(&folder.0);
        assert_eq!(cache.read(&source("a")), None);
        cache.write(&source("a"), &made());
        assert_eq!(cache.read(&source("a")), Some(made()));
        for other in
            [source("b"), Source { driver: 12_080, ..source("a") }, Source { capability: (8, 0), ..source("a") }]
        {
            assert_eq!(cache.read(&other), None);
            // Even under the name that the other would have.
            fs::copy(cache.file(&source("a")).unwrap(), cache.file(&other).unwrap()).unwrap();
            assert_eq!(cache.read(&other), None);
        }
    }

    #[test]
    fn a_damaged_file_is_ignored_and_replaced() {
        let folder = Folder::new("damaged");
        let cache = CubinCache::at(&folder.0);
        cache.write(&source("text"), &made());
        let file = cache.file(&source("text")).unwrap();
        let whole = fs::read(&file).unwrap();
        for length in 0..whole.len() {
            fs::write(&file, &whole[..length]).unwrap();
            assert_eq!(cache.read(&source("text")), None, "cut to {length} bytes");
        }
        for changed in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[changed] ^= 0x40;
            fs::write(&file, &bytes).unwrap();
            assert_eq!(cache.read(&source("text")), None, "byte {changed} changed");
        }
        cache.write(&source("text"), &made());
        assert_eq!(cache.read(&source("text")), Some(made()));
        assert_eq!(folder.files(), [file], "no temporary file stays");
    }

    #[test]
    fn a_folder_that_cannot_be_had_keeps_nothing() {
        let folder = Folder::new("file");
        fs::write(&folder.0, "a file where a folder should be").unwrap();
        let cache = CubinCache::at(folder.0.join("below"));
        cache.write(&source("a"), &made());
        assert_eq!(cache.read(&source("a")), None);
        fs::remove_file(&folder.0).unwrap();
        CubinCache::off().write(&source("a"), &made());
        assert_eq!(CubinCache::off().read(&source("a")), None);
    }

    #[test]
    fn the_environment_chooses_the_folder() {
        let chosen = |own: &str, xdg: &str, home: &str| {
            let set = |value: &str| Some(OsString::from(value));
            CubinCache::chosen(set(own), set(xdg), set(home)).folder
        };
        assert_eq!(chosen("/own", "/xdg", "/home/a"), Some("/own".into()));
        assert_eq!(chosen("off", "/xdg", "/home/a"), None);
        assert_eq!(chosen("", "/xdg", "/home/a"), Some("/xdg/quadpair".into()));
        assert_eq!(chosen("", "relative", "/home/a"), Some("/home/a/.cache/quadpair".into()));
        assert_eq!(chosen("", "", ""), None);
        assert_eq!(CubinCache::chosen(None, None, None), CubinCache::off());
    }
}
