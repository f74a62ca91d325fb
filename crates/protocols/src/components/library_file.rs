//! Library files: TOML or JSON.
//!
//! ```toml
//! # Oblivious transfers for so many input bits of the evaluator are kept ready.
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
//! `children`, a link from each child. A grid's `foot` has a `cell`, `down` and `right`. A link is written
//! `output -> input`, or `component.output -> component.input` where several components are possible.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use garblet_circuit::diagnostic::{Diagnostic, Diagnostics, Place};
use garblet_circuit::front_end::FrontEnds;
use garblet_circuit::{Component, Port, library};
use serde::Deserialize;

use super::library::{KeyedLink, Library, Side, TypeId, Wires};
use super::template::{Border, Chain, Connection, Foot, Grid, Shape, Template, Tree};

/// Cells of a template, and of all templates that are kept.
const MOST_CELLS: u64 = 1 << 20;
/// Candidates of a keyed link.
const MOST_CANDIDATES: u32 = 1024;
/// Components and input bits that are kept.
const MOST_KEPT: u64 = 1 << 32;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    input_bits: u64,
    #[serde(default)]
    component: Vec<FileComponent>,
    #[serde(default)]
    keyed: Vec<FileKeyed>,
    #[serde(default)]
    chain: Vec<FileChain>,
    #[serde(default)]
    tree: Vec<FileTree>,
    #[serde(default)]
    grid: Vec<FileGrid>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileComponent {
    name: String,
    library: Option<String>,
    file: Option<String>,
    #[serde(default)]
    count: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileKeyed {
    link: Option<String>,
    shared: Option<String>,
    window: Option<u32>,
    every: Option<[u32; 2]>,
    offset: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileChain {
    name: String,
    count: u64,
    pattern: Vec<String>,
    length: u32,
    next: Vec<String>,
    #[serde(default)]
    shared: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTree {
    name: String,
    count: u64,
    cell: String,
    levels: u32,
    children: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileGrid {
    name: String,
    count: u64,
    cell: String,
    rows: u32,
    columns: u32,
    #[serde(default)]
    right: Vec<String>,
    #[serde(default)]
    down: Vec<String>,
    #[serde(default)]
    diagonal: Vec<String>,
    #[serde(default)]
    row_shared: Vec<String>,
    #[serde(default)]
    column_shared: Vec<String>,
    #[serde(default)]
    left_border: BTreeMap<String, u64>,
    #[serde(default)]
    top_border: BTreeMap<String, u64>,
    foot: Option<FileFoot>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFoot {
    cell: String,
    down: Vec<String>,
    #[serde(default)]
    right: Vec<String>,
}

impl Library {
    /// Loads a library file. Files that it names are relative to it.
    ///
    /// *Errors*: a file that cannot be read, or what is wrong with it.
    pub fn load(path: &Path) -> Result<Self, Diagnostics> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Diagnostic::new(&shown, format!("cannot be read: {error}")))?;
        Library::read(&shown, path.parent().unwrap_or(Path::new("")), &text)
    }

    /// Reads a library from a text; `file` names it, and components' files are relative to `folder`.
    ///
    /// *Errors*: what is wrong with it.
    pub fn read(file: &str, folder: &Path, text: &str) -> Result<Self, Diagnostics> {
        let json = file.ends_with(".json") || text.trim_start().starts_with('{');
        let parsed: File = if json { read_json(file, text)? } else { read_toml(file, text)? };
        Reader { file, folder, library: Library::new() }.read(parsed)
    }
}

fn read_toml(file: &str, text: &str) -> Result<File, Diagnostics> {
    toml::from_str(text).map_err(|error| {
        let diagnostic = Diagnostic::new(file, error.message());
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

struct Reader<'a> {
    file: &'a str,
    folder: &'a Path,
    library: Library,
}

impl Reader<'_> {
    fn read(mut self, parsed: File) -> Result<Library, Diagnostics> {
        self.limit("input-bits", parsed.input_bits, MOST_KEPT)?;
        self.library.set_input_bits(parsed.input_bits);
        for component in &parsed.component {
            self.component(component)?;
        }
        for (number, keyed) in parsed.keyed.iter().enumerate() {
            let keyed = self.keyed(&format!("keyed link {}", number + 1), keyed)?;
            self.library.add_keyed(keyed);
        }
        for chain in &parsed.chain {
            let shape = self.chain(chain)?;
            self.template(&chain.name, chain.count, shape)?;
        }
        for tree in &parsed.tree {
            let shape = self.tree(tree)?;
            self.template(&tree.name, tree.count, shape)?;
        }
        for grid in &parsed.grid {
            let shape = self.grid(grid)?;
            self.template(&grid.name, grid.count, shape)?;
        }
        Ok(self.library)
    }

    fn component(&mut self, entry: &FileComponent) -> Result<(), Diagnostics> {
        let what = format!("component `{}`", entry.name);
        if self.library.types().iter().any(|ty| ty.name == entry.name) {
            return self.wrong(format!("{what} is there twice"));
        }
        self.limit(&what, entry.count, MOST_KEPT)?;
        let component = match (&entry.library, &entry.file) {
            (Some(name), None) => {
                library::component(name).map_err(|error| self.diagnostic(format!("{what}: {error}")))?
            }
            (None, Some(file)) => self.load(&what, file)?,
            _ => return self.wrong(format!("{what}: expected either `library` or `file`")),
        };
        if let Some(same) = self.library.find(&component) {
            let other = &self.library.component_type(same).name;
            return self.wrong(format!("{what} is the same circuit as component `{other}`"));
        }
        self.library.add_type(&entry.name, Arc::new(component), entry.count);
        Ok(())
    }

    /// A file's program as one component.
    fn load(&self, what: &str, file: &str) -> Result<Component, Diagnostics> {
        let path = self.folder.join(file);
        let program = FrontEnds::standard().load(&path.display().to_string())?;
        match &program.components() {
            [only] if program.instance_count() == 1 => Ok((**only).clone()),
            _ => Ok(program
                .flatten()
                .map_err(|error| self.diagnostic(format!("{what}: `{file}` makes no component: {error}")))?),
        }
    }

    fn keyed(&self, what: &str, entry: &FileKeyed) -> Result<KeyedLink, Diagnostics> {
        let (from, side, source, to, target) = match (&entry.link, &entry.shared) {
            (Some(link), None) => {
                let Connection { from, to } = self.connection(what, link, None)?;
                (from.0, Side::Output, from.1, to.0, to.1)
            }
            (None, Some(shared)) => {
                let (ty, wires) = self.port(what, shared, None, Side::Input)?;
                (ty, Side::Input, wires, ty, wires)
            }
            _ => return self.wrong(format!("{what}: expected either `link` or `shared`")),
        };
        let window = entry.window.unwrap_or(1);
        let every = entry.every.unwrap_or([1, 1]);
        // A component's own kind comes after it; another kind's begins with it.
        let offset = entry.offset.unwrap_or(u32::from(from == to));
        if !(1..=MOST_CANDIDATES).contains(&window) {
            return self.wrong(format!("{what}: window is {window}, expected 1 to {MOST_CANDIDATES}"));
        }
        if every.contains(&0) {
            return self.wrong(format!("{what}: `every` is {every:?}, expected two numbers from 1 on"));
        }
        if from == to && (every != [1, 1] || offset == 0) {
            return self.wrong(format!("{what}: a link within one component has no `every`, and an offset from 1 on"));
        }
        Ok(KeyedLink { from, side, source, to, target, window, every, offset })
    }

    fn chain(&self, entry: &FileChain) -> Result<Shape, Diagnostics> {
        let what = format!("chain `{}`", entry.name);
        let pattern: Vec<TypeId> = entry.pattern.iter().map(|name| self.ty(&what, name)).collect::<Result<_, _>>()?;
        if pattern.is_empty() {
            return self.wrong(format!("{what}: the pattern is empty"));
        }
        self.cells(&what, entry.length.into())?;
        let only = (pattern.iter().all(|ty| *ty == pattern[0])).then_some(pattern[0]);
        let next = self.connections(&what, &entry.next, only)?;
        let shared: Vec<(TypeId, Wires)> =
            entry.shared.iter().map(|port| self.port(&what, port, only, Side::Input)).collect::<Result<_, _>>()?;
        for from in &pattern {
            for to in &pattern {
                let links = next.iter().filter(|c| (c.from.0, c.to.0) == (*from, *to)).map(|c| c.to.1);
                self.disjoint(&what, links.chain(shared.iter().filter(|(ty, _)| ty == to).map(|(_, wires)| *wires)))?;
            }
        }
        Ok(Shape::Chain(Chain { pattern, length: entry.length, next, shared }))
    }

    fn tree(&self, entry: &FileTree) -> Result<Shape, Diagnostics> {
        let what = format!("tree `{}`", entry.name);
        let cell = self.ty(&what, &entry.cell)?;
        let children = self.connections(&what, &entry.children, Some(cell))?;
        self.disjoint(&what, children.iter().map(|c| c.to.1))?;
        let arity = children.len() as u64;
        let cells = (0..entry.levels).try_fold(0u64, |sum, _| sum.checked_mul(arity)?.checked_add(1));
        self.cells(&what, cells.unwrap_or(u64::MAX))?;
        if children.is_empty() || children.iter().any(|c| c.from.0 != cell || c.to.0 != cell) {
            return self.wrong(format!("{what}: expected links from its cell to its cell, one for each child"));
        }
        Ok(Shape::Tree(Tree { cell, levels: entry.levels, children }))
    }

    fn grid(&self, entry: &FileGrid) -> Result<Shape, Diagnostics> {
        let what = format!("grid `{}`", entry.name);
        let cell = self.ty(&what, &entry.cell)?;
        let cells = u64::from(entry.rows).saturating_mul(entry.columns.into());
        self.cells(&what, cells)?;
        if entry.right.is_empty() || entry.down.is_empty() {
            return self.wrong(format!("{what}: expected links `right` and `down`"));
        }
        let [right, down, diagonal] = [&entry.right, &entry.down, &entry.diagonal];
        let links = |links: &[String]| self.connections(&what, links, Some(cell));
        let (right, down, diagonal) = (links(right)?, links(down)?, links(diagonal)?);
        let ports = |names: &[String]| -> Result<Vec<Wires>, Diagnostics> {
            names.iter().map(|name| Ok(self.port(&what, name, Some(cell), Side::Input)?.1)).collect()
        };
        let (row_shared, column_shared) = (ports(&entry.row_shared)?, ports(&entry.column_shared)?);
        let inner = right.iter().chain(&down).chain(&diagonal).map(|c| c.to.1).chain(row_shared.iter().copied());
        self.disjoint(&what, inner.chain(column_shared.iter().copied()))?;
        let borders = |borders: &BTreeMap<String, u64>| -> Result<Vec<Border>, Diagnostics> {
            borders.iter().map(|(port, value)| self.border(&what, port, cell, *value)).collect()
        };
        let (left_border, top_border) = (borders(&entry.left_border)?, borders(&entry.top_border)?);
        // A border takes the place of the link that a cell there does not have.
        let replaces = |borders: &[Border], links: &[Connection]| {
            borders.iter().all(|border| links.iter().any(|c| c.to.1 == border.wires))
        };
        if !replaces(&left_border, &right) || !replaces(&top_border, &down) {
            return self.wrong(format!(
                "{what}: a left border stands for an input of a link `right`, a top border for one of a link `down`"
            ));
        }
        let foot = entry.foot.as_ref().map(|foot| self.foot(&what, foot, cell)).transpose()?;
        let size = [entry.rows, entry.columns];
        Ok(Shape::Grid(Grid {
            cell,
            size,
            right,
            down,
            diagonal,
            row_shared,
            column_shared,
            left_border,
            top_border,
            foot,
        }))
    }

    fn foot(&self, what: &str, entry: &FileFoot, above: TypeId) -> Result<Foot, Diagnostics> {
        let what = format!("foot of {what}");
        let cell = self.ty(&what, &entry.cell)?;
        let down = entry.down.iter().map(|link| self.connection(&what, link, Some([above, cell])));
        let down: Vec<Connection> = down.collect::<Result<_, _>>()?;
        let right = self.connections(&what, &entry.right, Some(cell))?;
        self.disjoint(&what, down.iter().chain(&right).map(|c| c.to.1))?;
        match down.is_empty() {
            true => self.wrong(format!("{what}: expected links `down`")),
            false => Ok(Foot { cell, down, right }),
        }
    }

    fn border(&self, what: &str, port: &str, cell: TypeId, value: u64) -> Result<Border, Diagnostics> {
        let (_, wires) = self.port(what, port, Some(cell), Side::Input)?;
        if wires.len < 64 && value >> wires.len > 0 {
            return self
                .wrong(format!("{what}: the border value {value} does not fit the {} wires of `{port}`", wires.len));
        }
        let values = (0..wires.len).map(|bit| bit < 64 && value >> bit & 1 == 1).collect();
        Ok(Border { wires, values })
    }

    fn template(&mut self, name: &str, count: u64, shape: Shape) -> Result<(), Diagnostics> {
        if self.library.templates().iter().any(|template| template.name == name) {
            return self.wrong(format!("template `{name}` is there twice"));
        }
        let template = Template::new(name, count, shape);
        let what = format!("cells of template `{name}` that are kept");
        self.limit(&what, count.saturating_mul(template.cells().len() as u64), MOST_KEPT)?;
        self.library.add_template(template);
        Ok(())
    }

    fn connections(&self, what: &str, links: &[String], only: Option<TypeId>) -> Result<Vec<Connection>, Diagnostics> {
        links.iter().map(|link| self.connection(what, link, only.map(|ty| [ty, ty]))).collect()
    }

    /// `output -> input`; `types` are those of names without a component.
    fn connection(&self, what: &str, link: &str, types: Option<[TypeId; 2]>) -> Result<Connection, Diagnostics> {
        let Some((from, to)) = link.split_once("->") else {
            return self.wrong(format!("{what}: expected `OUTPUT -> INPUT`, got `{link}`"));
        };
        let from = self.port(what, from.trim(), types.map(|t| t[0]), Side::Output)?;
        let to = self.port(what, to.trim(), types.map(|t| t[1]), Side::Input)?;
        match from.1.len == to.1.len {
            true => Ok(Connection { from, to }),
            false => self.wrong(format!("{what}: `{link}` joins {} wires to {}", from.1.len, to.1.len)),
        }
    }

    /// `component.port`, or `port` alone where the component is known.
    fn port(&self, what: &str, name: &str, only: Option<TypeId>, side: Side) -> Result<(TypeId, Wires), Diagnostics> {
        let (ty, port) = match (name.split_once('.'), only) {
            (Some((component, port)), _) => (self.ty(what, component)?, port),
            (None, Some(ty)) => (ty, name),
            (None, None) => return self.wrong(format!("{what}: expected `COMPONENT.PORT`, got `{name}`")),
        };
        let component = &self.library.component_type(ty).component;
        let (ports, sided): (&[Port], _) = match side {
            Side::Output => (component.outputs(), "output"),
            Side::Input => (component.inputs(), "input"),
        };
        match ports.iter().position(|p| p.name == port) {
            Some(at) => Ok((ty, Wires::of_port(ports, at))),
            None => {
                let known: Vec<&str> = ports.iter().map(|p| p.name.as_str()).collect();
                let of = &self.library.component_type(ty).name;
                let diagnostic = self.diagnostic(format!("{what}: component `{of}` has no {sided} `{port}`"));
                Err(diagnostic.suggest(port, known).into())
            }
        }
    }

    fn ty(&self, what: &str, name: &str) -> Result<TypeId, Diagnostics> {
        match self.library.types().iter().position(|ty| ty.name == name) {
            Some(at) => Ok(TypeId(at as u32)),
            None => {
                let known = self.library.types().iter().map(|ty| ty.name.as_str());
                let diagnostic = self.diagnostic(format!("{what}: there is no component `{name}`"));
                Err(diagnostic.suggest(name, known).into())
            }
        }
    }

    /// Refuses inputs that two links would feed.
    fn disjoint(&self, what: &str, targets: impl Iterator<Item = Wires>) -> Result<(), Diagnostics> {
        let mut targets: Vec<Wires> = targets.collect();
        targets.sort_unstable_by_key(|wires| wires.start);
        match targets.windows(2).any(|pair| pair[0].start + pair[0].len > pair[1].start) {
            true => self.wrong(format!("{what}: an input is fed by two links")),
            false => Ok(()),
        }
    }

    fn cells(&self, what: &str, cells: u64) -> Result<(), Diagnostics> {
        match cells {
            0 => self.wrong(format!("{what} has no cells")),
            _ => self.limit(&format!("cells of {what}"), cells, MOST_CELLS),
        }
    }

    fn limit(&self, what: &str, got: u64, most: u64) -> Result<(), Diagnostics> {
        match got <= most {
            true => Ok(()),
            false => self.wrong(format!("{what}: {got}, expected at most {most}")),
        }
    }

    fn diagnostic(&self, message: String) -> Diagnostic {
        Diagnostic::new(self.file, message)
    }

    fn wrong<T>(&self, message: String) -> Result<T, Diagnostics> {
        Err(self.diagnostic(message).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: &str = "[[component]]\nname = \"cell\"\nlibrary = \"levenshtein-cell(8)\"\ncount = 3\n";
    const GRID: &str = "[[grid]]\nname = \"g\"\ncount = 1\ncell = \"cell\"\nrows = 4\ncolumns = 3\n\
        right = [\"right -> left\"]\ndown = [\"bottom -> top\"]\nrow-shared = [\"row_symbol\"]\n\
        column-shared = [\"column_symbol\"]\nleft-border = { left = 3 }\n";

    fn read(text: &str) -> Result<Library, Diagnostics> {
        Library::read("library.toml", Path::new(""), text)
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
        let json = Library::read("library.json", Path::new(""), json).unwrap();
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
        assert!(fails("input-bits = \"many\"").contains("invalid type"));
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
        let error = Library::read("l.json", Path::new(""), "{\n  \"component\": [{}]\n}").unwrap_err();
        assert!(error.iter().any(|d| d.to_string().starts_with("l.json:2:")), "{error:?}");
    }
}
