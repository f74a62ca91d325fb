//! Circuits by name: `lib:aes128`, `lib:millionaires(32)`.
//!
//! Each member's doc, in the module it is built in, states its AND gates and its source; [`list`] names them all.

mod aes;
mod error;
mod integer;
mod levenshtein;
mod matrix;
mod member;
mod sets;
mod sha256;
mod strings;

pub use error::LibraryError;
pub use member::{Member, Parameter};

use crate::{component::Component, program::Program};

/// The prefix that tells a library name from a file name.
pub const PREFIX: &str = "lib:";

/// All members, by kind.
static MEMBERS: [&[Member]; 7] = [
    aes::MEMBERS,
    sha256::MEMBERS,
    integer::MEMBERS,
    strings::MEMBERS,
    levenshtein::MEMBERS,
    matrix::MEMBERS,
    sets::MEMBERS,
];

/// All members of the library.
pub fn list() -> impl Iterator<Item = &'static Member> {
    MEMBERS.into_iter().flatten()
}

/// The program of that name: `NAME` with default parameters or `NAME(p1, p2)`, with or without [`PREFIX`].
///
/// *Errors*: an unknown name, or parameters that the member does not have or that are out of range.
///
/// ```
/// let program = garblet_circuit::library::find("lib:millionaires(16)")?;
/// assert_eq!(program.stats().and, 16);
/// # Ok::<(), garblet_circuit::library::LibraryError>(())
/// ```
pub fn find(name: &str) -> Result<Program, LibraryError> {
    let (member, parameters) = resolve(name)?;
    member.program(&parameters)
}

/// The component of that name, if the member is a single one.
///
/// *Errors*: as [`find`], or a member made of several components.
pub fn component(name: &str) -> Result<Component, LibraryError> {
    let (member, parameters) = resolve(name)?;
    member.component(&parameters)
}

fn resolve(text: &str) -> Result<(&'static Member, Vec<u32>), LibraryError> {
    let (name, parameters) = split(text)?;
    let member = list().find(|m| m.name == name).ok_or_else(|| LibraryError::unknown(name))?;
    Ok((member, parameters.unwrap_or_else(|| member.defaults())))
}

/// Splits `lib:name(1, 2)` into name and parameters.
fn split(text: &str) -> Result<(&str, Option<Vec<u32>>), LibraryError> {
    let call = text.trim();
    let call = call.strip_prefix(PREFIX).unwrap_or(call);
    let Some((name, rest)) = call.split_once('(') else { return Ok((call.trim(), None)) };
    let syntax = || LibraryError::Syntax { text: text.into() };
    let inner = rest.strip_suffix(')').ok_or_else(syntax)?;
    if inner.trim().is_empty() {
        return Ok((name.trim(), Some(Vec::new())));
    }
    let parameters = inner.split(',').map(|p| p.trim().parse().map_err(|_| syntax())).collect::<Result<_, _>>()?;
    Ok((name.trim(), Some(parameters)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::simulate;

    #[test]
    fn every_member_is_built_and_keeps_its_formula() {
        let mut names = Vec::new();
        for member in list() {
            let program = member.program(&member.defaults()).unwrap();
            let (ands, stated) = (program.stats().and, member.and_count(&member.defaults()).unwrap());
            let bound = member.ands.contains("at most") || member.ands.contains("fewer");
            assert!(ands == stated || bound && ands < stated, "{}: {ands} of {stated}", member.name);
            assert!(!program.inputs().is_empty() && !program.outputs().is_empty());
            assert!(!member.summary.is_empty() && !member.ands.is_empty());
            assert!(!names.contains(&member.name), "{} twice", member.name);
            names.push(member.name);
            let single = member.component(&member.defaults());
            assert_eq!(single.is_ok(), program.instance_count() == 1, "{}", member.name);
            // All inputs zero: it runs.
            let zeros: Vec<Vec<bool>> = program.inputs().iter().map(|i| vec![false; i.port.width() as usize]).collect();
            assert_eq!(simulate::program(&program, &zeros).len(), program.outputs().len());
        }
    }

    #[test]
    fn names_are_read_with_and_without_decoration() {
        assert_eq!(split("lib:add(8)").unwrap(), ("add", Some(vec![8])));
        assert_eq!(split(" levenshtein( 3,4 , 2 ) ").unwrap(), ("levenshtein", Some(vec![3, 4, 2])));
        assert_eq!(split("lib:aes128").unwrap(), ("aes128", None));
        assert_eq!(split("lib:aes128()").unwrap(), ("aes128", Some(vec![])));
        assert_eq!(find("lib:add(8)").unwrap().name(), "add(8)");
        assert_eq!(find("lib:add").unwrap().name(), "add(32)");
        assert_eq!(find("lib:aes128()").unwrap().name(), "aes128");
    }

    #[test]
    fn wrong_names_are_refused_with_advice() {
        let message = |name: &str| find(name).unwrap_err().to_string();
        assert!(
            message("lib:aes").starts_with("no library circuit `aes`, did you mean `aes128`"),
            "{}",
            message("aes")
        );
        assert!(message("lib:levenstein(4)").contains("did you mean `levenshtein`"));
        assert!(message("lib:qqqqqqqqqqqqq").starts_with("no library circuit `qqqqqqqqqqqqq`, there are `aes128`,"));
        assert_eq!(
            message("lib:add(32"),
            "`lib:add(32` is no library name, expected `lib:NAME` or `lib:NAME(NUMBER, ...)`"
        );
        assert!(message("lib:add(x)").contains("is no library name"));
        assert!(message("lib:add(-1)").contains("is no library name"));
        assert!(message("lib:add(99999999999)").contains("is no library name"));
    }

    #[test]
    fn wrong_parameters_are_refused() {
        let message = |name: &str| find(name).unwrap_err().to_string();
        assert_eq!(message("add(1, 2)"), "`add(bits)` takes 1 parameters, got 2");
        assert_eq!(message("aes128(1)"), "`aes128` takes 0 parameters, got 1");
        assert_eq!(message("add(0)"), "`add(bits)`: bits is 0, expected 1 to 65536");
        assert_eq!(
            message("levenshtein(65536, 65536, 2)"),
            "`levenshtein(65536, 65536, 2)` would have about 12884901888 gates and instances, the limit is 67108864"
        );
        assert!(matches!(find("mul(65536)"), Err(LibraryError::TooLarge { .. })));
    }

    #[test]
    fn programs_of_several_components_are_no_component() {
        let error = component("aes128-chain(3)").unwrap_err();
        assert_eq!(error.to_string(), "`aes128-chain(3)` has 3 instances, expected a single component");
        assert_eq!(component("millionaires(7)").unwrap().stats().and, 7);
    }
}
