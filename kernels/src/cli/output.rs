//! Where results go: standard output, notes on standard error, and files that are whole or not there.

use super::error::CliError;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Prints to standard output. A reader that has gone away (`quadpair list | head -1`) has what it wanted.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
        _ => Ok(()),
    }
}

/// Prints a record as one JSON object on a line.
pub fn print_json(record: &impl serde::Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string(record).map_err(|error| CliError::Stdout(error.into()))?;
    print(&(text + "\n"))
}

/// Prints a line to standard error; that nobody reads it is no reason to fail.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// A file being made under a temporary name beside its own: it gets its name when it's whole, and goes when it isn't.
///
/// Made before the work starts, so that a folder that can't be written to is an error at once.
#[derive(Debug)]
pub struct PendingFile {
    path: PathBuf,
    temporary: PathBuf,
    file: Option<File>,
}

impl PendingFile {
    /// Creates the temporary file.
    pub fn create(path: &Path) -> Result<Self, CliError> {
        let failed = |source| CliError::Write { path: path.into(), source };
        let Some(name) = path.file_name().filter(|_| !path.is_dir()) else {
            return Err(failed(io::Error::from(ErrorKind::IsADirectory)));
        };
        let temporary = path.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        let file = File::create(&temporary).map_err(failed)?;
        Ok(Self { path: path.into(), temporary, file: Some(file) })
    }

    /// Writes the content and gives the file its name.
    pub fn write(mut self, content: &[u8]) -> Result<(), CliError> {
        let Some(mut file) = self.file.take() else {
            return Ok(());
        };
        let written = file.write_all(content).and_then(|()| file.sync_all());
        drop(file);
        let named = written.and_then(|()| fs::rename(&self.temporary, &self.path));
        named.map_err(|source| CliError::Write { path: self.path.clone(), source })
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        // After a rename there's nothing of that name.
        let _ = fs::remove_file(&self.temporary);
    }
}
