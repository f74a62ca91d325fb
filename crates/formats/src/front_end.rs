//! Front ends, which turn a file or a text into a [`Program`].
//!
//! A front end knows one kind of file; [`FrontEnds`] picks the one that a file needs. Circuit files and program files
//! are [known from the start](FrontEnds::standard); others are added with [`FrontEnds::with`].

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use garblet_circuit::{
    Program,
    diagnostic::{Diagnostic, Diagnostics},
    notes::{FileGates, Notes},
};
use garblet_synthesis::{
    library,
    optimise::{Effort, Goal, optimise_program},
};

use crate::{
    foreign,
    whole::{FEWER_INPUT_WIRES, check_input_wires},
};

/// The depth to which program files may refer to program files.
const MAX_DEPTH: u32 = 16;

/// The number of bytes of a file from which a front end decides whether it is of its kind.
const SNIFF_BYTES: usize = 4096;

/// The most work for fewer gates of a circuit file: about a second. A file of more gates than this has no time for a single pass.
const MOST_WORK: usize = 400_000;

/// One kind of file.
pub trait FrontEnd {
    /// The name of the kind, for people.
    fn name(&self) -> &'static str;

    /// Returns whether a file with that name and that beginning is of this kind.
    fn accepts(&self, file: &Path, beginning: &[u8]) -> bool;

    /// Returns whether files of this kind are made by other tools and have one circuit, whose gates [may be fewer](FrontEnds::optimising).
    fn is_circuit_file(&self) -> bool {
        false
    }

    /// Returns whether a text of this kind has functions that [circuits can replace](Source::bound).
    fn has_functions(&self) -> bool {
        false
    }

    /// Reads a text to its end.
    ///
    /// *Errors*: everything wrong with the text, with places in `source`.
    fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics>;
}

/// The origin of a text, and access to what it refers to.
pub struct Source<'a> {
    /// The file as diagnostics name it.
    pub file: String,
    folder: PathBuf,
    front_ends: &'a FrontEnds,
    depth: u32,
    bound: Vec<(String, Program)>,
    /// The file, if it may be read again later.
    pub(crate) again: Option<Again>,
}

/// A file whose gates may stay in it.
pub(crate) struct Again {
    pub(crate) path: PathBuf,
    pub(crate) storing: Storing,
}

/// The circuits whose gates stay in their file.
#[derive(Clone, Copy)]
pub(crate) struct Storing {
    /// The fewest gates: fewer are in memory.
    pub(crate) least: u32,
    /// Gates that are read at once.
    pub(crate) block: u32,
}

impl Storing {
    /// Fewer gates take a gigabyte at most, and a run is fifteen times as fast, since it neither reads nor schedules them again.
    const STANDARD: Storing = Storing { least: 1 << 24, block: 1 << 18 };
}

impl Source<'_> {
    /// Circuits that replace functions of the text, by the functions' names.
    pub fn bound(&self) -> &[(String, Program)] {
        &self.bound
    }

    /// The name of the program: the file's, without folder and extension.
    pub fn stem(&self) -> &str {
        Path::new(&self.file).file_stem().and_then(|s| s.to_str()).unwrap_or("program")
    }

    /// Loads what the text refers to: a file, relative to the text's own folder, or `lib:NAME`.
    ///
    /// *Errors*: as [`FrontEnds::load`], or files that refer to one another without end.
    pub fn load(&self, reference: &str) -> Result<Program, Diagnostics> {
        self.load_bound(reference, Vec::new())
    }

    /// Loads like [`Source::load`], with circuits that replace functions of what is loaded.
    ///
    /// *Errors*: as [`Source::load`], or something that has no functions.
    pub(crate) fn load_bound(&self, reference: &str, bound: Vec<(String, Program)>) -> Result<Program, Diagnostics> {
        if self.depth == MAX_DEPTH {
            let message =
                format!("refers to `{reference}`, {MAX_DEPTH} files deep: do the files refer to one another?");
            return Err(Diagnostic::new(&self.file, message).into());
        }
        self.front_ends.load_at(&self.folder, reference, self.depth + 1, bound)
    }
}

/// Front ends, in the order in which they are tried.
pub struct FrontEnds {
    list: Vec<Box<dyn FrontEnd>>,
    storing: Option<Storing>,
    optimises: bool,
}

impl FrontEnds {
    /// These front ends.
    pub(crate) fn of(list: Vec<Box<dyn FrontEnd>>) -> Self {
        FrontEnds { list, storing: None, optimises: false }
    }

    /// Leaves the gates of a large circuit in its file if that is a binary program of one component. Whoever uses such a program reads it
    /// gate by gate, or takes it [whole](Program::whole).
    pub fn leaving_gates(self) -> Self {
        self.storing(Storing::STANDARD)
    }

    /// Removes AND gates from circuit files, but not from those that other files refer to. No layer of AND gates is added, and no clock decides when this ends, so
    /// everybody gets the same program, after about a second. A file in which that saves nothing stays as it is.
    pub fn optimising(self) -> Self {
        FrontEnds { optimises: true, ..self }
    }

    /// The same with other limits.
    pub(crate) fn storing(self, storing: Storing) -> Self {
        FrontEnds { storing: Some(storing), ..self }
    }

    /// Adds a front end, to be tried before the others.
    pub fn with(mut self, front_end: impl FrontEnd + 'static) -> Self {
        self.list.insert(0, Box::new(front_end));
        self
    }

    /// Loads a program: a file, or `lib:NAME` for one of the library.
    ///
    /// *Errors*: a file that cannot be read, is of no known kind, or is wrong; a name the library does not have.
    pub fn load(&self, name: &str) -> Result<Program, Diagnostics> {
        self.load_at(Path::new(""), name, 0, Vec::new())
    }

    /// Reads a program from a text; `file` names it and decides its kind with the text itself.
    ///
    /// *Errors*: as [`FrontEnds::load`].
    pub fn read(&self, file: &str, text: &mut dyn Read) -> Result<Program, Diagnostics> {
        self.read_at(file, text, 0, Vec::new(), None)
    }

    fn load_at(
        &self,
        folder: &Path,
        name: &str,
        depth: u32,
        bound: Vec<(String, Program)>,
    ) -> Result<Program, Diagnostics> {
        if name.starts_with(library::PREFIX) && bound.is_empty() {
            let program = library::find(name).map_err(|error| Diagnostic::new(name, error.to_string()))?;
            return within_limits(name, program);
        }
        let path = folder.join(name);
        let shown = path.display().to_string();
        let failed = |error: std::io::Error| Diagnostic::new(&shown, format!("cannot be read: {error}"));
        // A file that another one names may be anything, including a pipe without a writer.
        if depth > 0 && std::fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
            return Err(Diagnostic::new(&shown, "is not a file, but a folder, a pipe or a device").into());
        }
        let mut file = File::open(&path).map_err(|error| {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            match missing && library::has(name) {
                true => {
                    failed(error).hint(format!("circuits of the library begin like this: {}{name}", library::PREFIX))
                }
                false => failed(error),
            }
        })?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Diagnostic::new(&shown, "is a folder, expected a file").into());
        }
        let storing = self.storing.filter(|_| metadata.is_file() && depth == 0);
        self.read_at(&shown, &mut file, depth, bound, storing.map(|storing| Again { path, storing }))
    }

    fn read_at(
        &self,
        file: &str,
        text: &mut dyn Read,
        depth: u32,
        bound: Vec<(String, Program)>,
        again: Option<Again>,
    ) -> Result<Program, Diagnostics> {
        let mut beginning = Vec::with_capacity(SNIFF_BYTES);
        let failed = |error: std::io::Error| Diagnostic::new(file, format!("cannot be read: {error}"));
        text.take(SNIFF_BYTES as u64).read_to_end(&mut beginning).map_err(failed)?;
        let path = Path::new(file);
        let Some(front_end) = self.list.iter().find(|f| f.accepts(path, &beginning)) else {
            let kinds: Vec<&str> = self.list.iter().map(|f| f.name()).collect();
            return Err(foreign::refusal(file, &beginning, &kinds.join(", ")).into());
        };
        if !bound.is_empty() && !front_end.has_functions() {
            let message = format!("is a {}, which has no functions that circuits could replace", front_end.name());
            return Err(Diagnostic::new(file, message).into());
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let source = Source { file: file.into(), folder, front_ends: self, depth, bound, again };
        let program =
            front_end.read(&source, &mut BufReader::with_capacity(1 << 16, beginning.as_slice().chain(text)))?;
        let program = within_limits(file, program)?;
        match front_end.is_circuit_file() {
            true => Ok(with_fewer_gates(program, self.optimises && depth == 0)),
            false => Ok(program),
        }
    }
}

/// The program of a circuit file, with fewer AND gates if that is asked for and possible.
fn with_fewer_gates(mut program: Program, is_asked: bool) -> Program {
    let gates: usize = program.components().iter().map(|component| component.circuit().gates().len()).sum();
    let goal = Goal { effort: Effort::Usual, keeps_layers: true, most_work: Some(MOST_WORK) };
    let better = (is_asked && gates <= MOST_WORK).then(|| optimise_program(&program, goal).ok()).flatten();
    let file = match better.filter(|better| better.counts().and < program.counts().and) {
        None => FileGates::AsItIs,
        Some(better) => FileGates::Optimised(std::mem::replace(&mut program, better).stats()),
    };
    program.set_notes(Notes { file: Some(file), ..program.notes().clone() });
    program
}

/// Refuses a program that no file could hold, from whatever it was made.
fn within_limits(file: &str, program: Program) -> Result<Program, Diagnostics> {
    let wires = program.inputs().iter().fold(0, |wires: u64, input| wires.saturating_add(input.port.ty.width()));
    let refused = |message| Diagnostic::new(file, message).hint(FEWER_INPUT_WIRES);
    check_input_wires("the program", wires).map_err(refused)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{Party, Port, Type};

    use super::*;

    /// A front end whose programs have no ports.
    struct Empty;

    impl FrontEnd for Empty {
        fn name(&self) -> &'static str {
            "empty"
        }

        fn accepts(&self, file: &Path, _: &[u8]) -> bool {
            file.extension().is_some_and(|e| e == "empty")
        }

        fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
            let mut all = String::new();
            text.read_to_string(&mut all).map_err(|e| Diagnostic::new(&source.file, e.to_string()))?;
            Ok(Program::new(format!("{} of {}", source.stem(), all.len())))
        }
    }

    fn fails(file: &str, text: &str) -> Diagnostic {
        let error = FrontEnds::standard().read(file, &mut text.as_bytes()).unwrap_err();
        error.iter().next().unwrap().clone()
    }

    /// A front end whose program has as many input wires as its text says.
    struct Wide;

    impl FrontEnd for Wide {
        fn name(&self) -> &'static str {
            "wide"
        }

        fn accepts(&self, file: &Path, _: &[u8]) -> bool {
            file.extension().is_some_and(|e| e == "wide")
        }

        fn read(&self, _: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
            let mut all = String::new();
            text.read_to_string(&mut all).expect("a text");
            let mut program = Program::new("wide");
            for (party, width) in all.split(' ').enumerate() {
                let ty = Type::Bits(width.parse().expect("a number"));
                program.add_input(Port::new(format!("in{party}"), ty), Party(party as u16)).expect("a name");
            }
            Ok(program)
        }
    }

    #[test]
    fn the_inputs_of_all_parties_are_bounded_whatever_the_front_end() {
        let front_ends = FrontEnds::of(vec![Box::new(Wide)]);
        let half = 1 << 25;
        assert!(front_ends.read("a.wide", &mut format!("{half} {half}").as_bytes()).is_ok());
        let Err(refused) = front_ends.read("a.wide", &mut format!("{half} {half} 1").as_bytes()) else {
            panic!("accepted")
        };
        let text = refused.render();
        assert!(
            text.contains("the program has 67108865 input wires, expected 67108864 at most") && text.contains("a.wide"),
            "{text}"
        );
    }

    /// The second input if the first is set, else the third: two ANDs, where one is enough.
    const SELECTION: &str = "4 7\n3 1 1 1\n1 1\n\n1 1 0 3 INV\n2 1 0 1 4 AND\n2 1 3 2 5 AND\n2 1 4 5 6 XOR\n";

    #[test]
    fn circuit_files_have_fewer_gates_if_asked() {
        let read = |front_ends: FrontEnds, text: &str| front_ends.read("a.txt", &mut text.as_bytes()).unwrap();
        let (plain, better) = (|| FrontEnds::standard(), || FrontEnds::standard().optimising());
        let file = read(plain(), SELECTION);
        assert_eq!((file.stats().and, file.notes().file), (2, Some(FileGates::AsItIs)));
        let fewer = read(better(), SELECTION);
        assert_eq!((fewer.stats().and, fewer.notes().file), (1, Some(FileGates::Optimised(file.stats()))));
        // Nothing to save: the same gates in the same order, and the same digest.
        let single = "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
        assert_eq!(read(better(), single).digest(), read(plain(), single).digest());
        assert_eq!(read(better(), single).notes().file, Some(FileGates::AsItIs));
    }

    #[test]
    fn files_that_files_refer_to_and_what_is_made_here_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("selection.txt"), SELECTION).unwrap();
        let program = r#"{
            "components": {"choice": {"file": "selection.txt"}},
            "inputs": {"a": {"type": "bits3", "owner": 0}},
            "instances": {"one": {"of": "choice", "in": {"in0": "a[0]", "in1": "a[1]", "in2": "a[2]"}}},
            "outputs": {"out": {"type": "bits1", "from": ["one.out0"]}}
        }"#;
        std::fs::write(path("p.json"), program).unwrap();
        for name in [path("p.json"), "lib:millionaires(8)".into()] {
            let [plain, better] = [FrontEnds::standard(), FrontEnds::standard().optimising()].map(|f| f.load(&name));
            let Ok(plain) = plain else { panic!("{name}: {:?}", plain.map(drop)) };
            assert_eq!((plain.digest(), plain.notes().file), (better.unwrap().digest(), None));
        }
    }

    #[test]
    fn a_file_that_is_too_large_for_a_pass_stays() {
        let mut text = format!("{} {}\n2 1 1\n1 1\n\n", MOST_WORK + 1, MOST_WORK + 3);
        (0..=MOST_WORK).for_each(|k| text.push_str(&format!("2 1 0 1 {} AND\n", k + 2)));
        let program = FrontEnds::standard().optimising().read("a.txt", &mut text.as_bytes()).unwrap();
        assert_eq!(program.counts().and, MOST_WORK as u64 + 1);
    }

    #[test]
    fn the_front_end_sees_the_whole_text() {
        for len in [0, 1, SNIFF_BYTES - 1, SNIFF_BYTES, SNIFF_BYTES + 1, 3 * SNIFF_BYTES] {
            let text = "x".repeat(len);
            let program = FrontEnds::standard().with(Empty).read("a/b.empty", &mut text.as_bytes()).unwrap();
            assert_eq!(program.name(), format!("b of {len}"));
        }
    }

    #[test]
    fn files_of_no_known_kind_are_refused() {
        for text in ["", "hello", "\u{0}\u{1}", "fn main() {}"] {
            let error = fails("x.unknown", text);
            assert!(error.message.starts_with("is of no known kind"), "{error}");
            assert!(error.hint.unwrap().contains("Bristol"));
        }
    }

    #[test]
    fn library_names_are_loaded_or_refused() {
        let load = |name| FrontEnds::standard().load(name);
        assert_eq!(load("lib:millionaires(16)").unwrap().stats().and, 16);
        assert!(load("lib:milionaires(16)").unwrap_err().to_string().starts_with("lib:milionaires(16): "));
    }

    #[test]
    fn files_that_cannot_be_read_are_named() {
        let error = |name| FrontEnds::standard().load(name).unwrap_err().to_string();
        assert!(error("no/such/file.txt").starts_with("no/such/file.txt: cannot be read: "));
        assert_eq!(error("src"), "src: is a folder, expected a file");
        let hint = |name| FrontEnds::standard().load(name).unwrap_err().iter().next().unwrap().hint.clone();
        assert_eq!(hint("millionaires(8)").unwrap(), "circuits of the library begin like this: lib:millionaires(8)");
        assert_eq!(hint("no/such/file.txt"), None);
    }
}
