//! `garblet inspect`: what a program is made of.

mod forms;
mod lines;

use garblet::run_report::{ProgramPart, digest_text};
use garblet_circuit::{Component, InstanceId, Program, Recipients};
use garblet_formats::draw;
use serde::Serialize;

use crate::{
    args::ProgramArgs,
    failure::Failure,
    output::{count, parties, print, print_json, table},
    program,
};

/// The options of `garblet inspect`.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    program: ProgramArgs,
    /// Print one JSON object on standard output
    #[arg(long, group = "form")]
    json: bool,
    /// Print the ten lines of the source that became most AND gates
    #[arg(long, group = "form")]
    lines: bool,
    /// Print how many gates it takes by their tables, with two inputs and with three, beside published counts
    #[arg(long, group = "form")]
    published: bool,
    /// Print a drawing for Graphviz
    #[arg(long, group = "form")]
    dot: bool,
    /// Print a drawing as an SVG image
    #[arg(long, group = "form")]
    svg: bool,
}

#[derive(Serialize)]
struct Inspection<'a> {
    name: &'a str,
    program: ProgramPart,
    program_digest: String,
    inputs: Vec<InputLine<'a>>,
    outputs: Vec<OutputLine<'a>>,
    components: Vec<ComponentLine<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<lines::Line>,
}

#[derive(Serialize)]
struct InputLine<'a> {
    name: &'a str,
    r#type: String,
    wires: u64,
    owner: u16,
}

#[derive(Serialize)]
struct OutputLine<'a> {
    name: &'a str,
    r#type: String,
    wires: u64,
    recipients: Vec<u16>,
}

#[derive(Serialize)]
struct ComponentLine<'a> {
    name: &'a str,
    instances: u64,
    and: u64,
    xor: u64,
    not: u64,
    and_depth: u64,
    inputs: u64,
    outputs: u64,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let program = program::load(&options.program)?;
    match options {
        Options { dot: true, .. } => print(&draw::dot(&program)),
        Options { svg: true, .. } => print(&draw::svg(&program)),
        Options { lines: true, .. } => print(&lines::text(&lines::of(&program), &program, &options.program.program)?),
        Options { published: true, .. } => print(&forms::text(&program)?),
        Options { json: true, .. } => print_json(&Inspection::of(&program)),
        _ => print(&Inspection::of(&program).text()),
    }
}

/// The ports of a program as a table: who gives what, and who learns it.
pub(crate) fn ports_text(program: &Program) -> String {
    Inspection::of(program).ports_text()
}

/// The number of instances of each component.
fn instances_by_component(program: &Program) -> Vec<u64> {
    let mut instances = vec![0; program.components().len()];
    for at in 0..program.instance_count() {
        instances[program.component_id(InstanceId(at as u32)).0 as usize] += 1;
    }
    instances
}

impl<'a> Inspection<'a> {
    fn of(program: &'a Program) -> Self {
        let party_count = program.party_count();
        let input = |i: &'a garblet_circuit::Input| InputLine {
            name: &i.port.name,
            r#type: i.port.ty.to_string(),
            wires: i.port.ty.width(),
            owner: i.owner.0,
        };
        let output = |o: &'a garblet_circuit::Output| OutputLine {
            name: &o.port.name,
            r#type: o.port.ty.to_string(),
            wires: o.port.ty.width(),
            recipients: match &o.recipients {
                Recipients::All => (0..party_count).collect(),
                Recipients::Only(some) => some.iter().map(|p| p.0).collect(),
            },
        };
        let instances = instances_by_component(program);
        let component = |(component, instances): (&'a std::sync::Arc<Component>, u64)| {
            let counts = component.stats();
            ComponentLine {
                name: component.name(),
                instances,
                and: counts.and,
                xor: counts.xor,
                not: counts.not,
                and_depth: counts.and_depth,
                inputs: component.input_width().into(),
                outputs: component.output_width().into(),
            }
        };
        Inspection {
            name: program.name(),
            program: ProgramPart::of(program),
            program_digest: digest_text(program),
            inputs: program.inputs().iter().map(input).collect(),
            outputs: program.outputs().iter().map(output).collect(),
            components: program.components().iter().zip(instances).map(component).collect(),
            lines: lines::of(program),
        }
    }

    fn ports_text(&self) -> String {
        let mut ports = vec![["port", "direction", "type", "wires", "party"].map(String::from).to_vec()];
        for input in &self.inputs {
            let wires = count(input.wires);
            ports.push(vec![input.name.into(), "in".into(), input.r#type.clone(), wires, input.owner.to_string()]);
        }
        for output in &self.outputs {
            let wires = count(output.wires);
            ports.push(vec![
                output.name.into(),
                "out".into(),
                output.r#type.clone(),
                wires,
                parties(&output.recipients),
            ]);
        }
        table(&ports)
    }

    fn text(&self) -> String {
        let total = &self.program;
        let heads = ["component", "instances", "AND", "XOR", "NOT", "AND depth", "in", "out"];
        let mut components = vec![heads.map(String::from).to_vec()];
        for line in &self.components {
            let numbers = [line.instances, line.and, line.xor, line.not, line.and_depth, line.inputs, line.outputs];
            components.push(std::iter::once(line.name.into()).chain(numbers.map(count)).collect());
        }
        format!(
            "{}: {} AND, {} XOR, {} NOT, AND depth {}\ndigest {}\n\n{}\n{}",
            self.name,
            count(total.and),
            count(total.xor),
            count(total.not),
            count(total.and_depth),
            self.program_digest,
            self.ports_text(),
            table(&components)
        )
    }
}
