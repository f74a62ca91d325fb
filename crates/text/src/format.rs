//! The numbers of file formats: a file that a later Garblet wrote is refused by that number, before anything else in it is judged.

use std::fmt;

/// A file, or a part of one, of a format that this Garblet does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherFormat {
    /// The number that the file states.
    pub got: i64,
    /// The newest number that this Garblet reads; it reads all numbers from 1 on.
    pub newest: u32,
}

/// Checks the number of a file's format.
///
/// *Errors*: it is below 1 or above `newest`.
pub fn check_format(got: i64, newest: u32) -> Result<(), OtherFormat> {
    match (1..=i64::from(newest)).contains(&got) {
        true => Ok(()),
        false => Err(OtherFormat { got, newest }),
    }
}

impl OtherFormat {
    /// The advice for whoever has the file.
    pub fn hint(&self) -> &'static str {
        match self.got > i64::from(self.newest) {
            true => "a later version wrote it: update Garblet",
            false => "the numbers of formats begin with 1",
        }
    }
}

impl fmt::Display for OtherFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OtherFormat { got, newest } = self;
        match newest {
            0 | 1 => write!(f, "is of format {got}, this Garblet reads format 1"),
            newest => write!(f, "is of format {got}, this Garblet reads formats 1 to {newest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_formats_from_the_first_to_the_newest_are_read() {
        for (got, newest) in [(1, 1), (1, 2), (2, 2)] {
            assert_eq!(check_format(got, newest), Ok(()));
        }
        for (got, newest, says) in [
            (2, 1, "is of format 2, this Garblet reads format 1"),
            (3, 2, "is of format 3, this Garblet reads formats 1 to 2"),
            (i64::MAX, 1, "is of format 9223372036854775807, this Garblet reads format 1"),
        ] {
            let other = check_format(got, newest).expect_err("it is newer");
            assert_eq!((other.to_string(), other.hint()), (says.into(), "a later version wrote it: update Garblet"));
        }
        for got in [0, -1, i64::MIN] {
            let other = check_format(got, 2).expect_err("there is none");
            assert_eq!(other.to_string(), format!("is of format {got}, this Garblet reads formats 1 to 2"));
            assert_eq!(other.hint(), "the numbers of formats begin with 1");
        }
    }
}
