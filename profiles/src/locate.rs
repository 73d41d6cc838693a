//! The line of a text that a field stands on.
//!
//! A value that reads well can still be wrong, and by then the reader has forgotten where it was. So the text is walked a
//! second time, down to the field, where the walk stops with an error: the parser gives every error its place. For
//! `fma.matmul.block_m` the walk skips all but `fma`, there all but `matmul`, and stops at the value of `block_m`.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The line, from 1, of a field such as `fma.flash[0].block_m`; `None` if the text lacks it.
pub(crate) fn line_of(text: &str, field: &str) -> Option<usize> {
    let path: Vec<&str> = field.split(['.', '[']).map(|step| step.trim_end_matches(']')).collect();
    let stopped = Walk(&path).deserialize(serde_yaml::Deserializer::from_str(text)).err()?;
    stopped.location().map(|place| place.line())
}

/// What is left of the way: names of fields and numbers of list entries.
struct Walk<'p>(&'p [&'p str]);

impl Walk<'_> {
    /// Stops at the end of the way. A single value before that is not on it.
    fn arrive<E: Error>(&self) -> Result<(), E> {
        if self.0.is_empty() { Err(E::custom("the field is here")) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a profile")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.arrive()?;
        while let Some(name) = map.next_key::<String>()? {
            if name == self.0[0] {
                map.next_value_seed(Walk(&self.0[1..]))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.arrive()?;
        let wanted = self.0[0].parse::<usize>().ok();
        for index in 0.. {
            let more = match wanted {
                Some(wanted) if wanted == index => list.next_element_seed(Walk(&self.0[1..]))?,
                _ => list.next_element::<IgnoredAny>()?.map(drop),
            };
            if more.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.arrive()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.arrive()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.arrive()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.arrive()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.arrive()
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.arrive()
    }
}

#[cfg(test)]
mod tests {
    use super::line_of;

    const TEXT: &str = "
a: 1
b:
  c: {d: 2, e: x}
  f:
    - {d: 3}
    - {d: 4,
       e: 5}
  empty: []
g:
  d: 6
";

    #[test]
    fn the_field_itself_is_found_not_its_namesakes() {
        let lines = [
            ("a", 2),
            ("b.c.d", 4),
            ("b.c.e", 4),
            ("b.f[0].d", 6),
            ("b.f[1].d", 7),
            ("b.f[1].e", 8),
            ("b.empty", 9),
            ("g.d", 11),
        ];
        for (field, line) in lines {
            assert_eq!(line_of(TEXT, field), Some(line), "{field}");
        }
    }

    #[test]
    fn an_absent_field_has_no_line() {
        for field in ["h", "a.d", "b.f[2].d", "b.f.d", "b.empty[0]", "g.d.e", ""] {
            assert_eq!(line_of(TEXT, field), None, "{field}");
        }
    }
}
