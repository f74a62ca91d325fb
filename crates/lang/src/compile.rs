//! Compiles a source to a program.

use garblet_circuit::{
    CircuitError, Party, Port, Program, Recipients, Type,
    notes::{Notes, Panics as PanicNotes, Region, Shape},
};
use garblet_synthesis::builder::Aim;

use crate::{
    assemble::{Assembled, Assembler, InputWires},
    bound::{self, Bound},
    constants::Constants,
    front,
    machine::{Machine, Slot},
    number,
    panic::Panics,
    ports::{InputReader, port_type, with_bytes},
    source_error::SourceError,
    trace::Read,
    tree::{Function, Scalar, Tree, Ty},
};

/// Options for compiling a source.
#[derive(Clone, Debug)]
pub struct Options {
    /// Constants that parties give.
    pub constants: Constants,
    /// The function to compile, which must be public: `main` unless another one is named.
    pub function: String,
    /// Detect and report overflow, division by zero and indices out of bounds.
    pub panics: bool,
    /// The most units of work that compiling may take. The compiler charges for expressions that it runs, words that it copies,
    /// compares and gathers, operations that it records, regions, and gates of distinct components. Memory is bounded in
    /// proportion: three bytes for each unit, and 32 MB. A source that needs more is refused, on every machine alike.
    pub effort: u64,
}

impl Options {
    /// The default effort: at most a few seconds and a few hundred megabytes.
    pub const EFFORT: u64 = 200_000_000;
    /// The function that is compiled by default.
    pub const FUNCTION: &str = "main";
}

impl Default for Options {
    fn default() -> Self {
        let function = Options::FUNCTION.into();
        Options { constants: Constants::default(), function, panics: true, effort: Options::EFFORT }
    }
}

/// The program of a source, and warnings about the source; `file` names it in messages.
///
/// *Errors*: everything wrong with it, or with the circuits that replace functions.
pub(crate) fn compile(
    name: &str,
    file: &str,
    text: &str,
    options: &Options,
    circuits: &[(String, Program)],
) -> Result<(Program, Vec<SourceError>), Vec<SourceError>> {
    let work = || {
        let compiled = compiled(name, file, text, options, circuits);
        number::clear();
        compiled
    };
    // WebAssembly has no threads; its stack has the size that the module was linked with.
    if cfg!(target_family = "wasm") {
        return work();
    }
    // The compiler recurses through trees, so it runs on a stack that is large enough for them.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(front::stack_bytes(text)).spawn_scoped(scope, work);
        let thread =
            thread.map_err(|error| vec![SourceError::general(format!("a thread cannot be started: {error}"))])?;
        let gave_up = |_| {
            Err(vec![SourceError::general("the compiler failed because of a bug").hint("please report the source")])
        };
        thread.join().unwrap_or_else(gave_up)
    })
}

/// As [`compile`], on this thread's stack.
fn compiled(
    name: &str,
    file: &str,
    text: &str,
    options: &Options,
    circuits: &[(String, Program)],
) -> Result<(Program, Vec<SourceError>), Vec<SourceError>> {
    let (tree, warnings) = front::read(text, &options.function, &options.constants)?;
    let bound = bound::check(&tree, circuits)?;
    let program = lower(name, file, &tree, options, &bound).map_err(|fault| vec![fault])?;
    Ok((program, warnings))
}

/// The program of a tree, some of whose functions are bound to circuits. Where the source asks for few layers and the program with few gates
/// has no more of them, it is that one, as far as they are compared; so it is where few layers take more than the default effort.
fn lower(name: &str, file: &str, tree: &Tree, options: &Options, bound: &[Bound]) -> Result<Program, SourceError> {
    let Some(main) = tree.functions.last() else { return Err(SourceError::general("there is no function")) };
    let lower_to = |aim, effort| lower_to((name, file), (tree, aim), main, (options, effort), bound);
    let few_gates = lower_to(Aim::Size, options.effort)?;
    if !main.attributes.depth {
        return Ok(few_gates);
    }
    // More effort must not give another program than the peer's.
    let few_layers = match lower_to(Aim::Depth, options.effort.min(Options::EFFORT)) {
        Ok(few_layers) => few_layers,
        Err(_) if options.effort >= Options::EFFORT => return Ok(few_gates),
        Err(fault) => return Err(fault),
    };
    // Layers are counted gate by gate, instance by instance.
    let gates = |program: &Program| {
        let counts = program.counts();
        counts.and + counts.xor
    };
    let is_large = [&few_gates, &few_layers].into_iter().any(|program| gates(program) > COMPARED_GATES);
    let fewer = is_large || few_layers.stats().and_depth < few_gates.stats().and_depth;
    Ok(if fewer { few_layers } else { few_gates })
}

/// The most gates of programs whose layers are compared, which takes less than a second.
const COMPARED_GATES: u64 = 1 << 25;

/// As [`lower`], with one aim.
fn lower_to(
    (name, file): (&str, &str),
    (tree, aim): (&Tree, Aim),
    main: &Function,
    (options, effort): (&Options, u64),
    bound: &[Bound],
) -> Result<Program, SourceError> {
    let mut program = Program::new(name);
    let mut wires = InputWires::new();
    let mut externs = vec![None; tree.functions.len()];
    for (number, bound) in bound.iter().enumerate() {
        externs[bound.function as usize] = Some(number as u32);
    }
    let mut machine = Machine::new((tree, aim), Panics::new(options.panics), externs, effort);
    machine.compute_constants()?;
    let arguments = inputs(main, &mut program, &mut machine, &mut wires)?;
    let result = machine.allocate(main.result.words(), main.span)?;
    machine.run_function(main, &arguments, result, main.span)?;
    let outputs = outputs(main, &mut machine, result)?;
    machine.trace.close();
    machine.trace.budget.check()?;
    assemble(file, tree, machine, &wires, bound, outputs, program)
}

/// An output: its port and its wires.
type PortReads = (Port, Vec<Read>);

fn assemble(
    file: &str,
    tree: &Tree,
    mut machine: Machine<'_>,
    wires: &InputWires,
    bound: &[Bound],
    outputs: Vec<PortReads>,
    mut program: Program,
) -> Result<Program, SourceError> {
    let component_name = |line: u32| {
        let own = tree.functions.iter().find(|f| f.span.line <= line && line <= f.span.end_line);
        // The instances of a function over sizes share its lines.
        let name = own.map_or(Options::FUNCTION, |f| &f.name).split("::").next().unwrap_or_default();
        format!("{name}:{line}")
    };
    let reads: Vec<Vec<Read>> = outputs.iter().map(|(_, reads)| reads.clone()).collect();
    let mut budget = std::mem::take(&mut machine.trace.budget);
    let mut assembler = Assembler::new(&machine.trace, wires, bound, (&component_name, machine.aim), &mut budget);
    let assembled = assembler.instances(&reads, &mut program)?;
    for (port, reads) in outputs {
        let links = assembler.links(&reads)?;
        program.add_output(port, Recipients::All, links)?;
    }
    let notes = notes(file, &machine, assembled, &program);
    program.set_notes(notes);
    Ok(program)
}

/// Adds the inputs to the program and their words to the stack.
fn inputs(
    main: &Function,
    program: &mut Program,
    machine: &mut Machine<'_>,
    wires: &mut InputWires,
) -> Result<Vec<Slot>, SourceError> {
    let taken = |error: CircuitError| SourceError::new(main.span, error.to_string());
    let mut arguments = Vec::new();
    let mut next = 0u32;
    let mut add = |name: String, ty: &Ty, program: &mut Program, machine: &mut Machine<'_>, words: &mut Vec<_>| {
        let owner = u16::try_from(next).map_err(|_| {
            let message = format!(
                "`{}` has too many inputs: expected at most 65536, one per party, got more, such as `{name}`",
                main.name
            );
            SourceError::new(main.span, message).hint("combine the inputs of a party into one parameter")
        })?;
        next += 1;
        let input = program.add_input(Port::new(name, main_type(main, ty)), Party(owner)).map_err(taken)?;
        let first = words.len();
        InputReader { input, wires }.words(ty, 0, words);
        machine.clamp_counts(ty, &mut words[first..], main.span);
        Ok::<(), SourceError>(())
    };
    for param in &main.params {
        let count = machine.words(&param.ty);
        machine.hold_words(count, main.span)?;
        let slot = machine.allocate(count, main.span)?;
        let mut words = Vec::new();
        match &param.ty {
            // A single array: an element of each party.
            Ty::Array(element, count) if main.params.len() == 1 => {
                for k in 0..*count {
                    add(format!("{}{k}", param.name), element, program, machine, &mut words)?;
                }
            }
            ty => add(param.name.clone(), ty, program, machine, &mut words)?,
        }
        machine.drop_words(count, main.span);
        words.into_iter().enumerate().for_each(|(k, word)| machine.stack[slot + k] = word);
        arguments.push(slot);
    }
    Ok(arguments)
}

/// The type of a port of the function that is compiled.
fn main_type(main: &Function, ty: &Ty) -> Type {
    if main.attributes.hex { with_bytes(port_type(ty)) } else { port_type(ty) }
}

/// The outputs: a struct has one per field, a tuple `out0`, `out1` and so on, everything else `out0`; and what panicked.
fn outputs(main: &Function, machine: &mut Machine<'_>, result: Slot) -> Result<Vec<PortReads>, SourceError> {
    let mut outputs: Vec<PortReads> = Vec::new();
    let mut add = |name: String, ty: &Ty, slot: Slot, machine: &mut Machine<'_>| {
        let mut reads = Vec::new();
        let end = machine.wires_of(ty, slot, main.span, &mut reads)?;
        let ty = main_type(main, ty);
        if ty.parts() > Type::MAX_PARTS {
            let (most, got) = (Type::MAX_PARTS, ty.parts());
            let message = format!("the result is too large: expected at most {most} values, got {got}");
            return Err(SourceError::new(main.span, message).hint("use a shorter array"));
        }
        outputs.push((Port::new(name, ty), reads));
        Ok::<Slot, SourceError>(end)
    };
    match &main.result {
        Ty::Record(fields) => {
            let mut slot = result;
            for (name, ty) in fields.iter() {
                let is_position = name.starts_with(|c: char| c.is_ascii_digit());
                let port = if is_position { format!("out{name}") } else { name.clone() };
                slot = add(port, ty, slot, machine)?;
            }
        }
        ty => {
            add("out0".into(), ty, result, machine)?;
        }
    }
    let code = machine.panics.code();
    if code.known().is_none() {
        if outputs.iter().any(|(port, _)| port.name == PanicNotes::OUTPUT) {
            let message =
                format!("a field of the result is named `{}`, like the output that reports panics", PanicNotes::OUTPUT);
            return Err(SourceError::new(main.span, message).hint("rename the field"));
        }
        let mut reads = Vec::new();
        crate::control::push_wires(code, Scalar::unsigned(code.width()), &mut reads);
        outputs.push((Port::new(PanicNotes::OUTPUT, Type::Unsigned(code.width().into())), reads));
    }
    Ok(outputs)
}

fn notes(file: &str, machine: &Machine<'_>, assembled: Assembled, program: &Program) -> Notes {
    let place = |(span, reason): &(crate::tree::Span, crate::panic::Reason)| {
        format!("{file}:{}:{}: {reason}", span.line, span.column)
    };
    let panics = match machine.panics.is_on() {
        false => PanicNotes::Off,
        true => PanicNotes::On {
            output: machine.panics.code().known().is_none().then(|| program.outputs().len() - 1),
            places: machine.panics.sites().iter().map(place).collect(),
        },
    };
    let instance = |region: u32| assembled.instances[region as usize];
    let regions = machine.nests.done.iter().map(|nest| Region {
        line: nest.span.line,
        first: instance(nest.first),
        count: instance(nest.end) - instance(nest.first),
        shape: nest.inner.map_or(Shape::Chain(nest.iterations), |inner| Shape::Grid(nest.iterations, inner)),
    });
    let regions = regions.filter(|region| region.count > 1).collect();
    Notes { panics: Some(panics), regions, lines: assembled.lines, ..Notes::default() }
}
