//! Library files: TOML or JSON.
//!
//! ```toml
//! # Keep oblivious transfers ready for this number of input bits of the evaluator.
//! input-bits = 4096
//!
//! [[component]]
//! name = "cell"
//! library = "levenshtein-cell(8)"   # or file = "cell.json"
//! count = 100
//!
//! # Links to likely partners, a key each.
//! [[keyed]]
//! link = "cell.right -> cell.left"  # or shared = "cell.row_symbol"
//! window = 2
//!
//! [[grid]]
//! name = "edit distance"
//! count = 2
//! cell = "cell"
//! rows = 64
//! columns = 64
//! right = ["right -> left"]
//! down = ["bottom -> top"]
//! row-shared = ["row_symbol"]
//! column-shared = ["column_symbol"]
//! left-border = { left = 3 }
//! top-border = { top = 3 }
//! ```
//!
//! `[[chain]]` has a `pattern` of component names, which repeats up to `length`; `next`, links between neighbours; and
//! `shared`, inputs that are fed as those of the cell one pattern before. `[[tree]]` has a `cell`, `levels`, and
//! `children`, a link from each child. In a grid, `row-shared` and `column-shared` are inputs that have the same labels in
//! every cell of a row or column; its cells do not serve alone then. Its `foot` has a `cell`, `down` and `right`. A link is written
//! `output -> input`, or `component.output -> component.input` where several components are possible.

mod entries;
mod reader;

use std::path::Path;

use garblet_circuit::diagnostic::{Diagnostic, Diagnostics, Place};

use self::entries::File;
use self::reader::Reader;
use crate::library::Library;
use garblet_net::toml_words;
use garblet_protocol::protocol::{LibraryFile, LoadProgram};

impl Library {
    /// Loads a library file. Circuit files that it names are relative to it.
    ///
    /// *Errors*: a file that cannot be read, or a mistake in it.
    pub fn load(file: &LibraryFile) -> Result<Self, Diagnostics> {
        let path = &file.path;
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Diagnostic::new(&shown, format!("cannot be read: {error}")))?;
        Library::read(&shown, path.parent().unwrap_or(Path::new("")), &text, file.load)
    }

    /// Reads a library from a text; `file` names it, components' files are relative to `folder`, and `load` loads them.
    ///
    /// *Errors*: a mistake in it.
    pub fn read(file: &str, folder: &Path, text: &str, load: LoadProgram) -> Result<Self, Diagnostics> {
        let json = file.ends_with(".json") || text.trim_start().starts_with('{');
        let parsed: File = if json { read_json(file, text)? } else { read_toml(file, text)? };
        Reader::new(file, folder, load).read(parsed)
    }
}

fn read_toml(file: &str, text: &str) -> Result<File, Diagnostics> {
    toml::from_str(text).map_err(|error| {
        let diagnostic = Diagnostic::new(file, toml_words(&error));
        let diagnostic = match error.span() {
            Some(span) => diagnostic.at(Place::in_text(text, span)),
            None => diagnostic,
        };
        diagnostic.into()
    })
}

fn read_json(file: &str, text: &str) -> Result<File, Diagnostics> {
    serde_json::from_str(text).map_err(|error| {
        let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
        let at = error.column().saturating_sub(1).min(line.len());
        let place = Place::in_line(error.line() as u64, line, at..at);
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message);
        Diagnostic::new(file, message).at(place).into()
    })
}

#[cfg(test)]
mod tests {
    use garblet_circuit::Program;

    use super::*;

    const CELL: &str = "[[component]]\nname = \"cell\"\nlibrary = \"levenshtein-cell(8)\"\ncount = 3\n";
    const GRID: &str = "[[grid]]\nname = \"g\"\ncount = 1\ncell = \"cell\"\nrows = 4\ncolumns = 3\n\
        right = [\"right -> left\"]\ndown = [\"bottom -> top\"]\nrow-shared = [\"row_symbol\"]\n\
        column-shared = [\"column_symbol\"]\nleft-border = { left = 3 }\n";

    fn no_file(name: &str) -> Result<Program, Diagnostics> {
        Err(Diagnostic::new(name, "cannot be read").into())
    }

    fn read(text: &str) -> Result<Library, Diagnostics> {
        Library::read("library.toml", Path::new(""), text, no_file)
    }

    fn fails(text: &str) -> String {
        read(text).unwrap_err().iter().map(|d| d.to_string()).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn toml_and_json_say_the_same() {
        let toml = read(&format!("input-bits = 128\n{CELL}{GRID}")).unwrap();
        let json = r#"{"input-bits": 128,
            "component": [{"name": "cell", "library": "levenshtein-cell(8)", "count": 3}],
            "grid": [{"name": "g", "count": 1, "cell": "cell", "rows": 4, "columns": 3, "right": ["right -> left"],
                      "down": ["bottom -> top"], "row-shared": ["row_symbol"], "column-shared": ["column_symbol"],
                      "left-border": {"left": 3}}]}"#;
        let json = Library::read("library.json", Path::new(""), json, no_file).unwrap();
        assert_eq!(toml.digest(), json.digest());
        assert_eq!((toml.input_bits(), toml.types()[0].count), (128, 3));
        assert_eq!(toml.templates()[0].cells().len(), 12);
    }

    #[test]
    fn counts_do_not_change_the_digest_and_everything_else_does() {
        let base = read(&format!("{CELL}{GRID}")).unwrap().digest();
        let more = format!("{CELL}{GRID}").replace("count = 3", "count = 4");
        assert_eq!(read(&more).unwrap().digest(), base);
        let keyed = "[[keyed]]\nlink = \"cell.right -> cell.left\"\n";
        for other in [
            CELL.to_string(),
            format!("{CELL}{GRID}").replace("(8)", "(7)"),
            format!("{CELL}{GRID}").replace("rows = 4", "rows = 5"),
            format!("{CELL}{GRID}").replace("row-shared = [\"row_symbol\"]\n", ""),
            format!("{CELL}{GRID}").replace("left = 3", "left = 2"),
            format!("{CELL}{GRID}{keyed}"),
        ] {
            assert_ne!(read(&other).unwrap().digest(), base, "{other}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        assert!(fails("colour = 1").starts_with("library.toml:1:1: unknown field `colour`"));
        assert!(fails("input-bits = \"many\"").contains("input-bits: expected a whole number"));
        let file = |text: &str| fails(&format!("{CELL}{text}"));
        assert_eq!(file(CELL), "library.toml: component `cell` is there twice");
        assert_eq!(
            file(&CELL.replace("\"cell\"", "\"other\"")),
            "library.toml: component `other` is the same circuit as component `cell`"
        );
        assert!(file("[[component]]\nname = \"x\"\n").contains("component `x`: expected either `library` or `file`"));
        assert!(file("[[component]]\nname = \"x\"\nlibrary = \"aes\"\n").contains("no library circuit `aes`"));
        assert!(file("[[component]]\nname = \"x\"\nfile = \"no/such\"\n").contains("cannot be read"));
        let grid = |from: &str, to: &str| file(&GRID.replace(from, to));
        assert!(grid("\"right -> left\"", "\"right -> row_symbol\"").contains("joins 2 wires to 8"));
        assert!(grid("\"right -> left\"", "\"right\"").contains("expected `OUTPUT -> INPUT`, got `right`"));
        assert!(grid("\"right -> left\"", "\"rigth -> left\"").contains("component `cell` has no output `rigth`"));
        assert!(grid("\"right -> left\"", "\"right -> top\"").contains("an input is fed by two links"));
        assert!(grid("cell = \"cell\"", "cell = \"sell\"").contains("grid `g`: there is no component `sell`"));
        assert!(grid("rows = 4", "rows = 0").contains("grid `g` has no cells"));
        assert!(grid("rows = 4", "rows = 4000000000").contains("expected at most 1048576"));
        assert!(grid("left = 3", "left = 4").contains("the border value 4 does not fit the 2 wires of `left`"));
        assert!(grid("left = 3", "top = 3").contains("a left border stands for an input of a link `right`"));
    }

    #[test]
    fn keyed_links_and_chains_are_checked() {
        let keyed = |text: &str| fails(&format!("{CELL}[[keyed]]\n{text}"));
        assert!(keyed("link = \"right -> cell.left\"").contains("expected `COMPONENT.PORT`, got `right`"));
        assert!(keyed("window = 2").contains("keyed link 1: expected either `link` or `shared`"));
        assert!(keyed("shared = \"cell.top\"\nwindow = 0").contains("window is 0, expected 1 to 1024"));
        assert!(keyed("shared = \"cell.top\"\nevery = [0, 1]").contains("expected two numbers from 1 on"));
        assert!(keyed("shared = \"cell.top\"\noffset = 0").contains("an offset from 1 on"));
        let chain = "[[chain]]\nname = \"c\"\ncount = 1\nlength = 3\npattern = []\nnext = []\n";
        assert!(fails(&format!("{CELL}{chain}")).contains("chain `c`: the pattern is empty"));
        let tree = "[[tree]]\nname = \"t\"\ncount = 1\nlevels = 3\ncell = \"cell\"\nchildren = []\n";
        assert!(fails(&format!("{CELL}{tree}")).contains("one for each child"));
    }

    #[test]
    fn json_mistakes_have_a_place_too() {
        let error = Library::read("l.json", Path::new(""), "{\n  \"component\": [{}]\n}", no_file).unwrap_err();
        assert!(error.iter().any(|d| d.to_string().starts_with("l.json:2:")), "{error:?}");
    }
}
