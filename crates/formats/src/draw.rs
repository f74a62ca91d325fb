//! Pictures of a program: its inputs, instances and outputs as boxes, its links as lines.
//!
//! Programs of many instances are drawn with one box for all instances of a component.

mod layout;
mod picture;
mod svg;

pub use svg::svg;

use garblet_circuit::Program;
use picture::{Kind, Picture};

/// A program for Graphviz.
pub fn dot(program: &Program) -> String {
    let picture = Picture::new(program);
    let mut text = format!("digraph {} {{\n  rankdir=LR;\n", quoted(program.name()));
    text += "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n";
    for (k, node) in picture.nodes.iter().enumerate() {
        let fill = match node.kind {
            Kind::Input => "#dbeafe",
            Kind::Instance => "#f3f4f6",
            Kind::Output => "#dcfce7",
            Kind::Constant => "#ffffff",
        };
        let label = [&node.title[..], &node.note].join("\n");
        text += &format!("  n{k} [label={}, fillcolor=\"{fill}\"];\n", quoted(label.trim_end()));
    }
    for (&(from, to), wires) in &picture.edges {
        text += &format!("  n{from} -> n{to} [label=\"{wires}\"];\n");
    }
    text + "}\n"
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests;
