//! `garblet inspect`: shows the parts of a program.

mod forms;
mod lines;

use std::collections::HashMap;

use garblet::{
    Program,
    circuit::{Component, GateCounts, Input, InstanceId, Output, Recipients, Type},
    formats::draw,
    run_report::{ProgramPart, digest_text},
};
use garblet_console::{
    args::ProgramArgs,
    failure::Failure,
    output::{count, parties, print, print_json, table},
    program,
    reach::ReachPart,
};
use serde::Serialize;

/// The options of `garblet inspect`.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    program: ProgramArgs,
    /// Print one JSON object on standard output
    #[arg(long, group = "form")]
    json: bool,
    /// Print the ten source lines with the most AND gates
    #[arg(long, group = "form")]
    lines: bool,
    /// Print the number of gates by truth table, with two and with three inputs, beside published counts
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
    reach: ReachPart<'a>,
    #[serde(skip)]
    order_text: &'static str,
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
    let program = program::load_in_place(&options.program)?;
    let program = match options {
        Options { dot: true, .. } | Options { svg: true, .. } | Options { published: true, .. } => {
            program::whole(program)?
        }
        _ => program,
    };
    match options {
        Options { dot: true, .. } => print(&draw::dot(&program)),
        Options { svg: true, .. } => print(&draw::svg(&program)),
        Options { lines: true, .. } => print(&lines::text(&lines::of(&program), &program, &options.program.program)?),
        Options { published: true, .. } => print(&forms::text(&program)?),
        Options { json: true, .. } => print_json(&Inspection::of(&program)),
        _ => print(&Inspection::of(&program).text()),
    }
}

/// The ports of a program as a table, with owners and recipients; below it the inputs that reach outputs unchanged.
pub(crate) fn ports_text(program: &Program) -> String {
    ports_table(&input_lines(program), &output_lines(program)) + &ReachPart::of(program).text()
}

fn input_lines(program: &Program) -> Vec<InputLine<'_>> {
    let inputs = program.inputs().iter();
    inputs
        .map(|Input { port, owner, .. }| InputLine {
            name: &port.name,
            r#type: port.ty.to_string(),
            wires: port.ty.width(),
            owner: owner.0,
        })
        .collect()
}

fn output_lines(program: &Program) -> Vec<OutputLine<'_>> {
    let recipients = |recipients: &Recipients| match recipients {
        Recipients::All => (0..program.party_count()).collect(),
        Recipients::Only(some) => some.iter().map(|p| p.0).collect(),
    };
    let outputs = program.outputs().iter();
    outputs
        .map(|Output { port, recipients: to, .. }| OutputLine {
            name: &port.name,
            r#type: port.ty.to_string(),
            wires: port.ty.width(),
            recipients: recipients(to),
        })
        .collect()
}

fn ports_table(inputs: &[InputLine<'_>], outputs: &[OutputLine<'_>]) -> String {
    let mut ports = vec![["port", "direction", "type", "wires", "party"].map(String::from).to_vec()];
    for InputLine { name, r#type, wires, owner } in inputs {
        ports.push(vec![(*name).into(), "in".into(), r#type.clone(), count(*wires), owner.to_string()]);
    }
    for OutputLine { name, r#type, wires, recipients } in outputs {
        ports.push(vec![(*name).into(), "out".into(), r#type.clone(), count(*wires), parties(recipients)]);
    }
    table(&ports)
}

/// The number of garbled AND gates as text, if some are left out, and the gates of the file, if some were saved.
pub(crate) fn garbled_text(program: &ProgramPart) -> String {
    let garbled = match program.and == program.garbled_and {
        true => String::new(),
        false => format!(
            "garbled: {} AND; without gates that constants decide or that reach no output\n",
            count(program.garbled_and)
        ),
    };
    let file = program.file.map(|GateCounts { and, xor, not, and_depth }| {
        let [and, xor, not, depth] = [and, xor, not, and_depth].map(count);
        format!("file: {and} AND, {xor} XOR, {not} NOT, AND depth {depth}; run its gates with --as-it-is\n")
    });
    garbled + &file.unwrap_or_default()
}

/// The sentence on the order of bits, for programs with ports of plain bits, as circuit files have them.
fn order_text(program: &Program) -> &'static str {
    let types = program.inputs().iter().map(|input| &input.port.ty);
    let plain = |ty: &Type| matches!(ty, Type::Bits(2..));
    match types.chain(program.outputs().iter().map(|output| &output.port.ty)).any(plain) {
        false => "",
        true => {
            "bits: wire 0 is taken as the least significant; if the file begins a port with the most significant, give --reverse PORT\n"
        }
    }
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
            inputs: input_lines(program),
            outputs: output_lines(program),
            components: program.components().iter().zip(instances).map(component).collect(),
            reach: ReachPart::of(program),
            order_text: order_text(program),
            lines: lines::of(program),
        }
    }

    /// The components as a table; for a source, one row per line, since each line becomes several components.
    fn components_text(&self) -> String {
        let mut places = HashMap::new();
        let mut groups: Vec<(&str, [u64; 5])> = Vec::new();
        for line in &self.components {
            let place = *places.entry(line.name).or_insert(groups.len());
            if place == groups.len() {
                groups.push((line.name, [0; 5]));
            }
            let all = [line.and, line.xor, line.not].map(|gates| gates * line.instances);
            let numbers = [1, line.instances, all[0], all[1], all[2]];
            groups[place].1.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        }
        if groups.len() == self.components.len() {
            let heads = ["component", "instances", "AND", "XOR", "NOT", "AND depth", "in", "out"];
            let mut rows = vec![heads.map(String::from).to_vec()];
            for line in &self.components {
                let numbers = [line.instances, line.and, line.xor, line.not, line.and_depth, line.inputs, line.outputs];
                rows.push(std::iter::once(line.name.into()).chain(numbers.map(count)).collect());
            }
            return table(&rows);
        }
        let heads = ["line", "components", "instances", "AND", "XOR", "NOT"];
        let mut rows = vec![heads.map(String::from).to_vec()];
        let row = |(name, numbers): (&str, [u64; 5])| std::iter::once(name.into()).chain(numbers.map(count)).collect();
        rows.extend(groups.into_iter().map(row));
        table(&rows) + "\ngates: of all instances; --json lists every component\n"
    }

    fn text(&self) -> String {
        let total = &self.program;
        format!(
            "{}: {} AND, {} XOR, {} NOT, AND depth {}\n{}digest {}\n\n{}{}{}\n{}",
            self.name,
            count(total.and),
            count(total.xor),
            count(total.not),
            count(total.and_depth),
            garbled_text(total),
            self.program_digest,
            ports_table(&self.inputs, &self.outputs),
            self.order_text,
            self.reach.text(),
            self.components_text()
        )
    }
}
