//! From names to numbers: the meaning of a library file, and its mistakes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use garblet_circuit::diagnostic::{Diagnostic, Diagnostics};
use garblet_circuit::{Component, Port};
use garblet_synthesis::library;

use crate::library::file::entries::{File, FileChain, FileComponent, FileFoot, FileGrid, FileKeyed, FileTree};
use crate::library::template::{Border, Chain, Connection, Foot, Grid, Shape, Template, Tree};
use crate::library::{KeyedLink, Library, Side, TypeId, Wires};
use garblet_protocol::protocol::LoadProgram;

/// The most cells of a template, and of all templates to keep.
const MOST_CELLS: u64 = 1 << 20;
/// Candidates of a keyed link.
const MOST_CANDIDATES: u32 = 1024;
/// The most components and input bits to keep.
const MOST_KEPT: u64 = 1 << 32;

/// Makes a library from a file's entries.
pub(crate) struct Reader<'a> {
    file: &'a str,
    folder: &'a Path,
    load: LoadProgram,
    library: Library,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(file: &'a str, folder: &'a Path, load: LoadProgram) -> Self {
        Reader { file, folder, load, library: Library::new() }
    }

    /// *Errors*: a mistake in the file.
    pub(crate) fn read(mut self, parsed: File) -> Result<Library, Diagnostics> {
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
        let program = (self.load)(&path.display().to_string())?;
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

    /// `component.port`, or `port` alone if the component is known.
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
