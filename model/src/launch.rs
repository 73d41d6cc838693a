//! How a kernel is launched: its block, and what its parameters are taken to be.
//!
//! To follow the addresses of a kernel its parameters need values. The n-th 64-bit one is taken as a pointer, to n times
//! 0x1000_0000, every 32-bit one as 1024, unless a value is given: sizes and strides for which the main loop runs.

use crate::ModelError;

/// A kernel and its launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'k> {
    /// Its PTX, with one entry.
    pub ptx: &'k str,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory that the launch asks for.
    pub shared: u32,
    /// Values of parameters, by name.
    pub parameters: &'k [(String, u64)],
}

impl<'k> Launch<'k> {
    /// The launch that a text names itself, in a line `// launch: threads=128 shared=28672`.
    ///
    /// # Errors
    /// There is no such line.
    pub fn of(ptx: &'k str) -> Result<Self, ModelError> {
        let named = |line: &str| Some((number(line, "threads=")?, number(line, "shared=")?));
        let lines = ptx.lines().filter_map(|line| line.trim().strip_prefix("//")?.trim_start().strip_prefix("launch:"));
        let known = lines.filter_map(named).find(|(threads, _)| *threads > 0);
        let (threads, shared) = known.ok_or(ModelError::NoLaunch)?;
        Ok(Self { ptx, threads, shared, parameters: &[] })
    }
}

fn number(line: &str, name: &str) -> Option<u32> {
    let (_, after) = line.split_once(name)?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Where the first parameter lies in the bank of constants.
const FIRST: u32 = 0x160;

/// The 32-bit words of the parameters in the bank of constants, by address.
///
/// # Errors
/// The text hasn't exactly one kernel, or a value is for a parameter that it hasn't.
pub fn constants(launch: &Launch<'_>) -> Result<Vec<(u32, u32)>, ModelError> {
    let parameters = parameters(launch.ptx)?;
    if let Some((name, _)) = launch.parameters.iter().find(|(name, _)| parameters.iter().all(|own| own.1 != name)) {
        let has: Vec<&str> = parameters.iter().map(|own| own.1).collect();
        return Err(ModelError::Parameter { name: name.clone(), has: has.join(", ") });
    }
    let (mut words, mut at, mut pointers) = (Vec::new(), FIRST, 0);
    for (bytes, name) in parameters {
        at = at.next_multiple_of(bytes);
        pointers += u64::from(bytes == 8);
        let usual = if bytes == 8 { pointers << 28 } else { 1024 };
        let value = launch.parameters.iter().find(|given| given.0 == name).map_or(usual, |given| given.1);
        words.push((at, value as u32));
        words.extend((bytes == 8).then_some((at + 4, (value >> 32) as u32)));
        at += bytes;
    }
    Ok(words)
}

/// Bytes and name of each parameter of the one kernel of a text.
fn parameters(ptx: &str) -> Result<Vec<(u32, &str)>, ModelError> {
    let entries: Vec<&str> = ptx.match_indices(".entry").map(|(at, _)| &ptx[at..]).collect();
    let [entry] = entries[..] else { return Err(ModelError::Entries { count: entries.len() }) };
    let head = &entry[..entry.find('{').unwrap_or(entry.len())];
    let list = head.split_once('(').and_then(|(_, after)| after.split(')').next()).unwrap_or_default();
    Ok(list.split(',').filter_map(parameter).collect())
}

/// Of `.param .u64 .ptr .global .align 16 name` 8 bytes and the name.
fn parameter(text: &str) -> Option<(u32, &str)> {
    let size = |word: &str| word.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().ok();
    let words = text.split_whitespace().filter(|word| *word != ".param").collect::<Vec<_>>();
    let kind = words.iter().find(|word| word.len() < 5 && word.starts_with(['.']) && size(word).is_some())?;
    Some((size(kind)? / 8, words.last()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str =
        "// launch: threads=96 shared=2048\n.visible .entry k(.param .u64 .ptr .global .align 16 a, .param .u32 n,
        .param .align 8 .u64 b, .param .f32 s) .maxntid 96 { ret; }";

    #[test]
    fn a_text_names_its_launch() {
        let launch = Launch::of(PTX).expect("the line is there");
        assert_eq!((launch.threads, launch.shared), (96, 2048));
        for wrong in ["", "// launch: threads=96", "launch: threads=96 shared=1", "// launch: threads=0 shared=1"] {
            assert_eq!(Launch::of(wrong).err(), Some(ModelError::NoLaunch), "{wrong}");
        }
    }

    #[test]
    fn parameters_lie_at_multiples_of_their_size() {
        let launch = Launch::of(PTX).expect("the line is there");
        let expected = [(0x160, 1 << 28), (0x164, 0), (0x168, 1024), (0x170, 2 << 28), (0x174, 0), (0x178, 1024)];
        assert_eq!(constants(&launch), Ok(expected.to_vec()));
        let given = [("n".to_owned(), 7), ("b".to_owned(), 5 << 32 | 3)];
        let words = constants(&Launch { parameters: &given, ..launch }).expect("both are there");
        assert_eq!(words[2..5], [(0x168, 7), (0x170, 3), (0x174, 5)]);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let launch = Launch::of(PTX).expect("the line is there");
        let given = [("m".to_owned(), 7)];
        let error = constants(&Launch { parameters: &given, ..launch }).expect_err("no such parameter").to_string();
        assert_eq!(error, "the kernel has no parameter m; it has a, n, b, s");
        assert_eq!(constants(&Launch { ptx: "", ..launch }), Err(ModelError::Entries { count: 0 }));
        assert_eq!(
            constants(&Launch { ptx: ".entry a() .entry b()", ..launch }),
            Err(ModelError::Entries { count: 2 })
        );
    }
}
