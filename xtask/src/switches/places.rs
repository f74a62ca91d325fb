//! Places of a file at which a switch is put.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    fmt,
    ops::Range,
    path::{Path, PathBuf},
};

use ring::digest::{SHA256, digest};
use syn::{Attribute, visit::Visit};

use super::{checks::Checks, operators::Operators};

/// A place of the code that a switch changes.
#[derive(Clone)]
pub(crate) struct Place {
    /// Depends on the function's text and on nothing around it.
    pub(crate) id: u64,
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    /// The function around it, with its type.
    pub(crate) function: String,
    pub(crate) what: &'static str,
    pub(crate) is_mutant: bool,
    /// The expression, on one line.
    pub(crate) text: String,
    /// Its number among those of the function that say the same, from 1.
    pub(crate) ordinal: usize,
    /// The bytes of the file with switches that are its own.
    pub(super) range: Range<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {}: {}, `{}`", self.file.display(), self.line, self.function, self.what, self.text)
    }
}

#[cfg(test)]
impl Place {
    /// A condition, or a mutant, in a file.
    pub(crate) fn sample(file: &str, is_mutant: bool) -> Self {
        let what = if is_mutant { "== becomes !=" } else { "a condition" };
        let (function, text) = ("f".into(), "a == b".into());
        Place { id: 1, file: file.into(), line: 2, function, what, is_mutant, text, ordinal: 1, range: 10..20 }
    }
}

/// The kinds of places that are wanted of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wanted {
    pub(super) checks: bool,
    pub(super) mutants: bool,
}

/// The text of a file with switches, and its places. Those that are dropped have no switch.
///
/// *Errors*: the file is not Rust.
pub(super) fn numbered(
    file: &Path,
    text: &str,
    wanted: Wanted,
    dropped: &BTreeSet<u64>,
) -> Result<(String, Vec<Place>), String> {
    let tree = syn::parse_file(text).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut switches = Switches {
        file,
        text,
        dropped,
        places: Vec::new(),
        inserted: Vec::new(),
        functions: Vec::new(),
        is_mutating: false,
    };
    if wanted.checks {
        Checks::new(&mut switches).visit_file(&tree);
    }
    if wanted.mutants {
        switches.is_mutating = true;
        Operators::new(&mut switches).visit_file(&tree);
    }
    Ok(switches.text())
}

/// Words that are inserted where a place begins or ends.
struct Inserted {
    at: usize,
    is_begin: bool,
    /// The other end of the place.
    other: usize,
    place: usize,
    words: String,
}

/// The switches of a file.
pub(super) struct Switches<'a> {
    file: &'a Path,
    text: &'a str,
    dropped: &'a BTreeSet<u64>,
    places: Vec<Place>,
    inserted: Vec<Inserted>,
    functions: Vec<(String, Range<usize>)>,
    is_mutating: bool,
}

impl<'a> Switches<'a> {
    /// The code in a range.
    pub(super) fn code(&self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }

    /// Enters a function, or the type of one.
    pub(super) fn enter(&mut self, name: String, range: Range<usize>) {
        self.functions.push((name, range));
    }

    /// Leaves what was entered last.
    pub(super) fn leave(&mut self) {
        self.functions.pop();
    }

    /// Puts an expression between two texts, of which the first asks whether the place is kept.
    pub(super) fn wrap(&mut self, range: Range<usize>, what: &'static str, around: impl Fn(&str) -> [String; 2]) {
        let code = self.code(range.clone());
        let function = self.functions.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join("::");
        let surrounding = self.functions.last().map_or("", |(_, range)| self.code(range.clone()));
        let is_same = |place: &&Place| place.function == function && place.what == what && place.text == one_line(code);
        let ordinal = self.places.iter().filter(is_same).count() + 1;
        let parts = [&self.file.display().to_string(), &function, surrounding, what, code, &ordinal.to_string()];
        let id = id(&parts);
        let line = self.text[..range.start].matches('\n').count() + 1;
        let place = self.places.len();
        self.places.push(Place {
            id,
            file: self.file.into(),
            line,
            function,
            what,
            is_mutant: self.is_mutating,
            text: one_line(code),
            ordinal,
            range: 0..0,
        });
        if self.dropped.contains(&id) {
            return;
        }
        let [before, after] = around(&format!("crate::garblet_switch::site!(0x{id:016x})"));
        self.inserted.push(Inserted { at: range.start, is_begin: true, other: range.end, place, words: before });
        if !range.is_empty() {
            self.inserted.push(Inserted { at: range.end, is_begin: false, other: range.start, place, words: after });
        }
    }

    /// The text with all switches, and its places.
    fn text(mut self) -> (String, Vec<Place>) {
        // At one byte what ends comes before what begins, of two that end the inner one, of two that begin the outer one.
        self.inserted.sort_by_key(|words| match words.is_begin {
            false => (words.at, false, Reverse(words.other), -(words.place as isize)),
            true => (words.at, true, Reverse(words.other), words.place as isize),
        });
        let (mut text, mut done) = (String::new(), 0);
        for words in &self.inserted {
            text.push_str(&self.text[done..words.at]);
            done = words.at;
            let place = &mut self.places[words.place];
            if words.is_begin {
                place.range.start = text.len();
            }
            text.push_str(&words.words);
            place.range.end = text.len();
        }
        text.push_str(&self.text[done..]);
        (text, self.places)
    }
}

/// The number of a place, never zero.
fn id(parts: &[&str]) -> u64 {
    let parts = parts.join("\0");
    let digest = digest(&SHA256, parts.as_bytes());
    let (first, _) = digest.as_ref().split_first_chunk().expect("32 bytes");
    u64::from_be_bytes(*first).max(1)
}

/// Code on one line, cut where it is long.
fn one_line(code: &str) -> String {
    let words = code.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(90) {
        Some((at, _)) => format!("{}..", &words[..at]),
        None => words,
    }
}

/// Returns whether code is only for tests, or for other systems than this.
pub(super) fn is_elsewhere(attributes: &[Attribute]) -> bool {
    let is_elsewhere = |attribute: &Attribute| {
        let is_condition = attribute.path().is_ident("cfg");
        let condition = || match &attribute.meta {
            syn::Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        attribute.path().is_ident("test")
            || is_condition
                && ["test", "wasm", "windows", "macos", "not (unix)", "aarch64", "not (target_arch"]
                    .iter()
                    .any(|word| condition().contains(word))
    };
    attributes.iter().any(is_elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKS: Wanted = Wanted { checks: true, mutants: false };
    const MUTANTS: Wanted = Wanted { checks: false, mutants: true };

    /// The text with switches, in which each place has the number of its line, and what is lost at each.
    fn of(text: &str, wanted: Wanted) -> (String, Vec<&'static str>) {
        let (mut numbered, places) = numbered(Path::new("a.rs"), text, wanted, &BTreeSet::new()).expect("Rust");
        syn::parse_file(&numbered).expect("still Rust");
        for place in &places {
            assert!(numbered[place.range.clone()].contains(&format!("{:016x}", place.id)), "{place}: {numbered}");
        }
        for (number, place) in places.iter().enumerate() {
            numbered =
                numbered.replace(&format!("crate::garblet_switch::site!(0x{:016x})", place.id), &number.to_string());
        }
        (numbered.replace("crate::garblet_switch::", ""), places.iter().map(|place| place.what).collect())
    }

    fn checks(text: &str, whats: &[&str], numbered: &[&str]) {
        let (found, places) = of(text, CHECKS);
        assert_eq!(places, whats, "{found}");
        for words in numbered {
            assert!(found.contains(words), "{found}");
        }
    }

    #[test]
    fn conditions_that_refuse_can_be_lost() {
        checks(
            "fn f() -> R { if a != b { return Err(E); } Ok(()) }",
            &["a condition"],
            &["if (or(0, false, a != b)) {"],
        );
        checks(
            "fn f() -> R { if a == b { Ok(()) } else { Err(E) } }",
            &["a condition"],
            &["if (or(0, true, a == b)) {"],
        );
        checks(
            "fn f() -> R { if let Some(x) = y && x != z { return Err(E); } Ok(()) }",
            &["a condition", "a part of a condition"],
            &["if let Some(x) = y && (or(0, false, (or(1, true, x != z)))) {"],
        );
        checks("fn f() -> R { if a { return Ok(1); } if let Some(x) = y { return Err(x); } Ok(2) }", &[], &[]);
        checks(
            "fn f() -> R { if a { return Err(refused(x)?); } if b { self.blame(x)?; } Ok(2) }",
            &["a condition"; 2],
            &[],
        );
    }

    #[test]
    fn choices_and_guards_can_be_lost() {
        checks(
            "fn f() -> R { match a == b { true => Ok(()), false => Err(E) } }",
            &["a choice"],
            &["match (or(0, true, a == b)) {"],
        );
        checks(
            "fn f() -> R { match a { true => return Err(E), false => {} } }",
            &["a choice"],
            &["match (or(0, false, a)) {"],
        );
        checks(
            "fn f() -> R { match x { Some(x) if x == y => Ok(x), _ if z => Err(E), _ => Ok(0) } }",
            &["a guard"; 2],
            &["Some(x) if (or(0, true, x == y)) =>", "_ if (or(1, false, z)) =>"],
        );
        checks("fn f() -> R { match x { Err(e) if e.kind() == K => Ok(0), e => Err(e) } }", &[], &[]);
        checks("fn f() -> R { (a == b).then_some(c).ok_or(E) }", &["a choice"], &["(or(0, true, (a == b))).then_some"]);
    }

    #[test]
    fn parts_of_what_decides_can_be_lost() {
        checks(
            "fn f() -> R { if a && b || c { return Err(E); } let d = a && b; Ok(d) }",
            &[
                "a condition",
                "a part of a condition",
                "a part of a condition",
                "a part of a condition",
                "a part of a condition",
            ],
            &[],
        );
        checks(
            "fn f() -> bool { a == b && c }",
            &["a part of a condition"; 2],
            &["(or(0, true, a == b)) && (or(1, true, c))"],
        );
        checks("fn f() { fits &= x; }", &["a part of a verdict"], &["fits &= (or(0, true, x));"]);
        checks(
            "fn f() { let fits = Choice::from(u8::from(a == b)); }",
            &["a part of a verdict"],
            &["u8::from((or(0, true, a == b)))"],
        );
        checks(
            "fn f() { let fits = a.ct_eq(b) & c; }",
            &["a comparison", "the second half"],
            &["(or(0, true, (halved(1, false, a.ct_eq(b), || {"],
        );
        checks(
            "fn f() -> R { if a[..8] != b { return Err(E); } Ok(()) }",
            &["a condition", "the second half"],
            &["(halved(1, true, a[..8] != b, ||"],
        );
    }

    #[test]
    fn verdicts_and_calls_of_checks_can_be_lost() {
        checks(
            "fn f() -> R { match secrets::verdict(fits, \"r\") { true => Ok(()), false => Err(E) } }",
            &["a verdict"],
            &["match (or(0, true, secrets::verdict(fits, \"r\"))) {"],
        );
        checks(
            "fn f() -> R { check(a).await?; self.verify(b).map_err(c)?; d()?; Ok(1) }",
            &["a call of a check"; 2],
            &["(match checked(0, check(a).await) { Some(result) => result.map(drop), None => Ok(()) })?;"],
        );
        checks(
            "fn f() -> Result<(), E> { check(a) }\nfn g() -> Result<u8, E> { check(a) }",
            &["a call of a check"],
            &["{ (match checked(0, check(a))"],
        );
    }

    #[test]
    fn tests_and_constants_have_no_places() {
        let text = "const fn f() -> R { if a { return Err(1); } Ok(2) }\n#[cfg(test)]\nmod tests { fn g() -> R { if a { return Err(1); } Ok(2) } }\n\
            #[cfg(windows)]\nfn h() -> bool { a && b }\nconst A: bool = B && C;\n";
        for wanted in [CHECKS, MUTANTS] {
            assert_eq!(of(text, wanted), (text.into(), vec![]));
        }
    }

    #[test]
    fn operators_and_functions_have_mutants() {
        let (numbered, places) = of("fn f(a: u8) -> bool { a + 1 == b }", MUTANTS);
        assert_eq!(
            places,
            ["returns true", "returns false", "== becomes !=", "+ becomes -", "+ becomes *"],
            "{numbered}"
        );
        assert!(numbered.contains("{ if !kept(0) { return true; }  if !kept(1) { return false; }  "), "{numbered}");
        assert!(numbered.contains("(if kept(2) { (if kept(3) { (if kept(4) { a + 1 } else { (a) * (1) }) } else { (a) - (1) }) == b } else { (a + 1) != (b) })"), "{numbered}");
        let (numbered, places) =
            of("fn f() -> Result<Option<u8>, E> { a |= !b; match c { d if e => x, _ => y } }", MUTANTS);
        let guards = ["a guard that holds", "a guard that does not hold"];
        assert_eq!(
            places,
            [&["returns None", "|= becomes &=", "|= becomes ^=", "without !"][..], &guards[..]].concat(),
            "{numbered}"
        );
        assert!(numbered.contains("return Ok(None);") && numbered.contains("a &= !b }"), "{numbered}");
    }

    #[test]
    fn a_name_depends_on_the_function_and_on_nothing_around_it() {
        let ids = |text: &str, wanted| {
            let (_, places) = numbered(Path::new("a.rs"), text, wanted, &BTreeSet::new()).expect("Rust");
            places.into_iter().map(|place| place.id).collect::<Vec<_>>()
        };
        let function = "fn f() -> R { if a { return Err(E); } if a { return Err(E); } Ok(()) }";
        let [first, second] = ids(function, CHECKS)[..] else { panic!("two places") };
        assert_ne!(first, second);
        assert_eq!(ids(&format!("fn g() {{}}\n{function}"), CHECKS), [first, second]);
        assert!(ids(&function.replace("Ok(())", "Ok(1)"), CHECKS).iter().all(|id| *id != first && *id != second));
    }

    #[test]
    fn what_is_dropped_has_no_switch() {
        let text = "fn f() -> R { if a { return Err(E); } Ok(()) }";
        let (_, places) = numbered(Path::new("a.rs"), text, CHECKS, &BTreeSet::new()).expect("Rust");
        let dropped = BTreeSet::from([places[0].id]);
        let (same, places) = numbered(Path::new("a.rs"), text, CHECKS, &dropped).expect("Rust");
        assert_eq!((same.as_str(), places.len()), (text, 1));
    }
}
