//! Random programs over one fixed library: material prepared before they are known gives the plain evaluator's results.

use std::fmt::Write;

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::json;

use crate::invocation::{Folder, garblet};

/// Components linked to themselves, in chains, trees and grids.
const LIBRARY: &str = r#"
input-bits = 256
[[component]]
name = "add"
library = "add(4)"
count = 24
[[component]]
name = "higher"
library = "max(4)"
count = 16
[[component]]
name = "cell"
library = "levenshtein-cell(2)"
count = 30
[[keyed]]
link = "add.sum -> higher.a"
window = 3
[[keyed]]
shared = "add.b"
window = 2
[[chain]]
name = "sums"
count = 2
pattern = ["add"]
length = 5
next = ["sum -> a"]
shared = ["b"]
[[tree]]
name = "highest"
count = 2
cell = "higher"
levels = 3
children = ["max -> a", "max -> b"]
[[grid]]
name = "distance"
count = 2
cell = "cell"
rows = 4
columns = 4
right = ["right -> left"]
down = ["bottom -> top"]
row-shared = ["row_symbol"]
column-shared = ["column_symbol"]
left-border = { left = 3 }
top-border = { top = 3 }
"#;

/// A program that grows.
struct Graph {
    rng: StdRng,
    inputs: Vec<serde_json::Value>,
    instances: serde_json::Map<String, serde_json::Value>,
    /// Sources of values and their widths: inputs and outputs.
    sources: Vec<(String, u32)>,
}

impl Graph {
    fn new(seed: u64) -> Self {
        let mut graph = Graph {
            rng: StdRng::seed_from_u64(seed),
            inputs: Vec::new(),
            instances: serde_json::Map::new(),
            sources: Vec::new(),
        };
        for k in 0..graph.rng.random_range(2..6) {
            let width = graph.rng.random_range(1..9);
            // Both parties have inputs.
            let owner = if k < 2 { k } else { graph.rng.random_range(0..2) };
            graph.inputs.push(json!({"type": format!("bits{width}"), "owner": owner}));
            graph.sources.push((format!("x{k}"), width));
        }
        for _ in 0..graph.rng.random_range(1..5) {
            match graph.rng.random_range(0..4) {
                0 => graph.chain(),
                1 => graph.tree(),
                2 => graph.grid(),
                _ => (0..4).for_each(|_| graph.loose()),
            }
        }
        graph
    }

    /// This number of wires from anywhere: slices of inputs and outputs, perhaps used before, and constants.
    fn wires(&mut self, count: u32) -> serde_json::Value {
        let mut pieces = Vec::new();
        let mut left = count;
        while left > 0 {
            if self.rng.random_ratio(1, 10) {
                pieces.push(json!(self.rng.random_bool(0.5)));
                left -= 1;
                continue;
            }
            let (name, width) = self.sources.choose(&mut self.rng).expect("there are inputs").clone();
            let len = self.rng.random_range(1..=width.min(left));
            let start = self.rng.random_range(0..=width - len);
            pieces.push(json!(format!("{name}[{start}..{}]", start + len)));
            left -= len;
        }
        json!(pieces)
    }

    /// Adds an instance; returns its name.
    fn instance(&mut self, of: &str, feeds: serde_json::Value, outputs: &[(&str, u32)]) -> String {
        let name = format!("i{}", self.instances.len());
        self.instances.insert(name.clone(), json!({"of": of, "in": feeds}));
        self.sources.extend(outputs.iter().map(|(port, width)| (format!("{name}.{port}"), *width)));
        name
    }

    fn add(&mut self, a: serde_json::Value, b: serde_json::Value) -> String {
        self.instance("add", json!({"a": a, "b": b}), &[("sum", 4)])
    }

    fn higher(&mut self, a: serde_json::Value, b: serde_json::Value) -> String {
        self.instance("higher", json!({"a": a, "b": b}), &[("max", 4)])
    }

    fn loose(&mut self) {
        let (a, b) = (self.wires(4), self.wires(4));
        match self.rng.random_range(0..3) {
            0 => drop(self.add(a, b)),
            1 => drop(self.higher(a, b)),
            _ => {
                let ports = ["row_symbol", "column_symbol", "left", "top"];
                let feeds: serde_json::Map<String, _> =
                    ports.map(|port| (port.into(), self.wires(2))).into_iter().collect();
                self.instance("cell", feeds.into(), &[("right", 2), ("bottom", 2)]);
            }
        }
    }

    fn chain(&mut self) {
        let (mut a, b) = (self.wires(4), self.wires(4));
        for _ in 0..self.rng.random_range(2..8) {
            // Sometimes leave out sharing.
            let b = if self.rng.random_ratio(1, 8) { self.wires(4) } else { b.clone() };
            a = json!(format!("{}.sum", self.add(a, b)));
        }
    }

    fn tree(&mut self) {
        let mut row: Vec<serde_json::Value> = (0..1 << self.rng.random_range(1..4)).map(|_| self.wires(4)).collect();
        while row.len() > 1 {
            row = row
                .chunks(2)
                .map(|two| json!(format!("{}.max", self.higher(two[0].clone(), two[1].clone()))))
                .collect();
        }
    }

    fn grid(&mut self) {
        let [rows, columns] = [(); 2].map(|()| self.rng.random_range(1..6));
        let border = json!([true, true]);
        let across: Vec<serde_json::Value> = (0..columns).map(|_| self.wires(2)).collect();
        let mut above = vec![border.clone(); columns];
        for _ in 0..rows {
            let symbol = self.wires(2);
            let mut left = border.clone();
            for (column, top) in across.iter().zip(&mut above) {
                let feeds = json!({"row_symbol": symbol, "column_symbol": column, "left": left, "top": top});
                let name = self.instance("cell", feeds, &[("right", 2), ("bottom", 2)]);
                (left, *top) = (json!(format!("{name}.right")), json!(format!("{name}.bottom")));
            }
        }
    }

    /// The program file, in which everything is an output, to both parties or one.
    fn program(&mut self) -> String {
        let mut outputs = serde_json::Map::new();
        for (k, (name, width)) in self.sources.iter().enumerate() {
            let to = [json!("all"), json!(0), json!(1)][self.rng.random_range(0..3)].clone();
            outputs.insert(format!("y{k}"), json!({"type": format!("bits{width}"), "from": name, "to": to}));
        }
        let inputs: serde_json::Map<String, _> =
            self.inputs.iter().enumerate().map(|(k, input)| (format!("x{k}"), input.clone())).collect();
        let library = |name: &str| json!({"library": name});
        let components = json!({
            "add": library("add(4)"), "higher": library("max(4)"), "cell": library("levenshtein-cell(2)"),
        });
        json!({"components": components, "inputs": inputs, "instances": self.instances, "outputs": outputs}).to_string()
    }

    /// A party's input file.
    fn values(&mut self, party: u16) -> String {
        let mut values = serde_json::Map::new();
        for (k, input) in self.inputs.iter().enumerate().filter(|(_, input)| input["owner"] == party) {
            let mut bits = String::new();
            (0..self.sources[k].1).for_each(|_| _ = write!(bits, "{}", self.rng.random_range(0..2)));
            assert_eq!(input["type"], format!("bits{}", bits.len()));
            values.insert(format!("x{k}"), json!({"bits": bits}));
        }
        serde_json::Value::Object(values).to_string()
    }
}

/// 200 graphs in the full form, five in the short one.
#[test]
fn random_link_graphs_over_one_library_equal_eval() {
    let graphs = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 200 } else { 5 };
    let folder = Folder::new("link-graphs");
    let library = folder.file("library.toml", LIBRARY);
    let (mut served, mut refused) = (0, 0);
    for seed in 0..graphs {
        let mut graph = Graph::new(seed);
        let program = folder.file("program.json", &graph.program());
        let [mine, theirs] = [0, 1].map(|k| format!("{k}={}", folder.file(&format!("{k}.json"), &graph.values(k))));
        let common = [&program[..], "--input", &mine, "--input", &theirs, "--json"];
        let expected = garblet(&[&["eval"], &common[..]].concat()).json()["outputs"].take();
        let links = ["links=cheapest", "links=cheapest", "links=keyed", "links=standard"][seed as usize % 4];
        let protocol = ["--protocol", "components", "--param", links];
        let ran = garblet(&[&["local"], &common[..], &protocol, &["--library", &library]].concat());
        // A program beyond the library's counts is refused; without a library, the run prepares what it needs.
        let got = if ran.stderr.contains("the stores lack") {
            refused += 1;
            garblet(&[&["local"], &common[..], &protocol].concat()).json()
        } else {
            served += 1;
            ran.json()
        };
        assert_eq!(got["outputs"], expected, "graph {seed}, {links}");
    }
    assert!(served > 3 * refused, "{served} graphs were served, {refused} refused");
}
