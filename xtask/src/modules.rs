//! The order of the modules of each crate: no cycles between folders, and none of more than three files within one.
//!
//! A file reads another if it names it, or an item of it, in a path that begins with `crate`, `super` or `self`; a name that a module only
//! re-exports (`pub use`) counts as read from where it is defined. A module may read its own folder. Tests may read anything.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use syn::{Attribute, Item, UseTree, Visibility, visit::Visit};

/// The most files of one folder that may read one another in a cycle.
const CIRCLE_FILES_MAX: usize = 3;

/// The path of a module from its crate's root, which is empty.
type Module = Vec<String>;

/// The modules of a crate.
#[derive(Default)]
struct Tree {
    /// The file of each module that has one.
    files: BTreeMap<Module, PathBuf>,
    /// The names that each module re-exports, and from where.
    passed: BTreeMap<Module, BTreeMap<String, Module>>,
    /// The paths that each module's code names, from the crate's root.
    named: BTreeMap<Module, Vec<Module>>,
}

/// Cycles in all crates, one line per finding.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for source in crate::layers::sources(root) {
        match Tree::read(&source.join("lib.rs")).or_else(|_| Tree::read(&source.join("main.rs"))) {
            Ok(tree) => findings.extend(tree.findings(root)),
            Err(error) => findings.push(format!("{}: {error}", source.display())),
        }
    }
    findings
}

impl Tree {
    /// Reads a crate from the file of its root.
    fn read(root: &Path) -> Result<Self, String> {
        let mut tree = Tree::default();
        let folder = root.parent().unwrap_or(root);
        tree.read_file(root.to_path_buf(), folder, Vec::new())?;
        Ok(tree)
    }

    /// Reads a file, whose own modules lie in a folder.
    fn read_file(&mut self, file: PathBuf, folder: &Path, module: Module) -> Result<(), String> {
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        self.files.insert(module.clone(), file);
        self.read_items(&parsed.items, folder, &module)
    }

    fn read_items(&mut self, items: &[Item], folder: &Path, module: &Module) -> Result<(), String> {
        let inner = |item: &Item| if let Item::Mod(inner) = item { Some(inner.ident.to_string()) } else { None };
        let inner: BTreeSet<String> = items.iter().filter_map(inner).collect();
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Mod(inner) if inner.content.is_none() => {
                    let name = inner.ident.to_string();
                    let inside = folder.join(&name);
                    let path = inner.attrs.iter().find_map(other_path).map(|path| folder.join(path));
                    let file = path.unwrap_or_else(|| folder.join(format!("{name}.rs")));
                    self.read_file(file, &inside, joined(module, name))?;
                }
                Item::Use(used) => {
                    let mut leaves = Vec::new();
                    flatten(&used.tree, &mut Vec::new(), &mut leaves);
                    for (mut path, name) in leaves {
                        if path.first().is_some_and(|first| inner.contains(first)) {
                            path.insert(0, "self".into());
                        }
                        let Some(path) = from_root(module, &path) else { continue };
                        if matches!(used.vis, Visibility::Inherited) {
                            self.named.entry(module.clone()).or_default().push(path);
                        } else {
                            self.passed.entry(module.clone()).or_default().insert(name, path);
                        }
                    }
                }
                other => {
                    let mut paths = Paths { module, named: Vec::new() };
                    paths.visit_item(other);
                    self.named.entry(module.clone()).or_default().append(&mut paths.named);
                }
            }
        }
        Ok(())
    }

    /// The module whose file defines what a path names.
    fn resolve(&self, path: &[String]) -> Option<Module> {
        let mut path = path.to_vec();
        // A name may be re-exported by several modules, one after another.
        for _ in 0..8 {
            let depth = (0..=path.len()).rev().find(|&depth| self.files.contains_key(&path[..depth]))?;
            let passed = path.get(depth).and_then(|name| self.passed.get(&path[..depth])?.get(name));
            let Some(from) = passed else { return Some(path[..depth].to_vec()) };
            path = [&from[..], &path[depth + 1..]].concat();
        }
        None
    }

    /// The modules that each module reads.
    fn arrows(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let mut arrows = BTreeMap::new();
        for (module, named) in &self.named {
            let read = named.iter().filter_map(|path| self.resolve(path));
            arrows.insert(module, read.filter(|read| !read.starts_with(&module[..])).collect());
        }
        arrows
    }

    fn findings(&self, root: &Path) -> Vec<String> {
        let mut findings = Vec::new();
        for circle in circles(&self.arrows()) {
            let folders: BTreeSet<&[String]> = circle.iter().map(|module| &module[..module.len().max(1) - 1]).collect();
            if folders.len() == 1 && circle.len() <= CIRCLE_FILES_MAX {
                continue;
            }
            let name = |module: &Module| {
                let file = self.files.get(module).map(|file| file.strip_prefix(root).unwrap_or(file));
                file.map_or_else(String::new, |file| file.display().to_string())
            };
            let files: Vec<String> = circle.iter().map(name).collect();
            findings.push(format!("a cycle of {} files: {}", files.len(), files.join(", ")));
        }
        findings
    }
}

/// The paths in an item that begin with `crate`, `super` or `self`.
struct Paths<'a> {
    module: &'a Module,
    named: Vec<Module>,
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.named.extend(from_root(self.module, &segments));
        }
        syn::visit::visit_path(self, path);
    }
}

/// A path from the crate's root; `None` if it begins with another crate or with an item.
fn from_root(module: &Module, path: &[String]) -> Option<Module> {
    let (first, mut rest) = path.split_first()?;
    let mut from = match &first[..] {
        "crate" => Vec::new(),
        "self" => module.clone(),
        "super" => module.split_last()?.1.to_vec(),
        _ => return None,
    };
    while let Some(("super", more)) = rest.split_first().map(|(next, more)| (&next[..], more)) {
        from.pop()?;
        rest = more;
    }
    Some([&from[..], rest].concat())
}

/// The leaves of an import: their paths, and the names that they get.
fn flatten(tree: &UseTree, before: &mut Module, leaves: &mut Vec<(Module, String)>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, leaves);
            before.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, leaves)),
        UseTree::Name(name) if name.ident == "self" => {
            leaves.push((before.clone(), before.last().cloned().unwrap_or_default()));
        }
        UseTree::Name(name) => leaves.push((joined(before, name.ident.to_string()), name.ident.to_string())),
        UseTree::Rename(name) => leaves.push((joined(before, name.ident.to_string()), name.rename.to_string())),
        UseTree::Glob(_) => leaves.push((before.clone(), "*".into())),
    }
}

fn joined(module: &[String], name: String) -> Module {
    let mut joined = module.to_vec();
    joined.push(name);
    joined
}

/// The attributes of an item.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns whether an item is for tests alone.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    let for_tests = |attribute: &Attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    };
    attributes.iter().any(for_tests)
}

/// The file that `#[path = "…"]` names; such a module has no folder.
fn other_path(attribute: &Attribute) -> Option<String> {
    let syn::Meta::NameValue(named) = &attribute.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) = &named.value else { return None };
    named.path.is_ident("path").then(|| path.value())
}

/// Sets of modules that read one another, directly or through others.
fn circles(arrows: &BTreeMap<&Module, BTreeSet<Module>>) -> Vec<Vec<Module>> {
    let reached = |from: &Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            for next in arrows.get(&module).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> = arrows.keys().map(|module| (*module, reached(module))).collect();
    let mut found: Vec<Vec<Module>> = Vec::new();
    for (module, far) in reached.iter().filter(|(module, far)| far.contains(**module)) {
        if !found.iter().any(|circle| circle.contains(module)) {
            let back = |other: &&Module| reached.get(*other).is_some_and(|far| far.contains(*module));
            found.push(far.iter().filter(back).cloned().collect());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings for a crate of these files.
    fn of(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        Tree::read(&folder.path().join("lib.rs")).expect("it parses").findings(folder.path())
    }

    #[test]
    fn the_modules_are_in_order() {
        assert_eq!(check(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn a_circle_between_folders_is_found_whatever_passes_the_names_on() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub(crate) mod inner; pub(crate) use inner::A;"),
            ("a/inner.rs", "pub(crate) struct A(crate::b::B);"),
            ("b.rs", "use crate::a::A; pub(crate) struct B(Box<A>);"),
        ];
        assert_eq!(of(&files), ["a cycle of 2 files: a/inner.rs, b.rs"]);
    }

    #[test]
    fn a_small_circle_in_a_folder_passes_and_a_large_one_does_not() {
        let ring = |files: usize| -> Vec<(String, String)> {
            let modules: String = (0..files).map(|at| format!("mod m{at};")).collect();
            let file = |at: usize| (format!("m{at}.rs"), format!("use super::m{}::X;", (at + 1) % files));
            std::iter::once(("lib.rs".to_string(), modules)).chain((0..files).map(file)).collect()
        };
        for (files, findings) in [(3, 0), (4, 1)] {
            let ring = ring(files);
            let ring: Vec<(&str, &str)> = ring.iter().map(|(name, text)| (&name[..], &text[..])).collect();
            assert_eq!(of(&ring).len(), findings);
        }
    }

    #[test]
    fn tests_and_names_that_are_passed_on_make_no_circle() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
            ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::B; }"),
            ("b.rs", "pub struct B(crate::A);"),
        ];
        assert_eq!(of(&files), Vec::<String>::new());
    }
}
