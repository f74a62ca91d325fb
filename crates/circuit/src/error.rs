//! Errors of circuits, components and programs.

/// A circuit, component or program that is malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CircuitError {
    /// More wires than a circuit may have.
    #[error("circuit has {wires} wires, the limit is {limit}")]
    TooManyWires {
        /// Wires of the circuit.
        wires: u64,
        /// The most allowed.
        limit: u64,
    },
    /// A gate reads a wire that no earlier gate sets.
    #[error("gate {gate} reads wire {wire}, but only wires below {set} are set before it")]
    GateReadsUnsetWire {
        /// Position of the gate.
        gate: usize,
        /// The wire it reads.
        wire: u32,
        /// Wires that are set at that point.
        set: u32,
    },
    /// An output names a wire that no gate sets.
    #[error("output {output} is wire {wire}, but only wires below {set} exist")]
    OutputReadsUnsetWire {
        /// Position of the output.
        output: usize,
        /// The wire it names.
        wire: u32,
        /// Wires that exist.
        set: u32,
    },
    /// Ports and circuit disagree on the number of wires.
    #[error("component `{component}`: {side} ports have {ports} wires, its circuit has {wires}")]
    PortWidths {
        /// The component.
        component: String,
        /// `input` or `output`.
        side: &'static str,
        /// Wires of the ports.
        ports: u64,
        /// Wires of the circuit.
        wires: u64,
    },
    /// Two ports of one side have the same name.
    #[error("component `{component}`: {side} port `{port}` appears twice")]
    DuplicatePort {
        /// The component or program.
        component: String,
        /// `input` or `output`.
        side: &'static str,
        /// The port's name.
        port: String,
    },
    /// A link reads wires that do not exist (yet).
    #[error("{target}: link reads wires {start}..{end} of {from}, which has {width}")]
    LinkOutOfRange {
        /// The target that the link feeds.
        target: String,
        /// The source that it reads.
        from: String,
        /// First wire read.
        start: u64,
        /// One past the last wire read.
        end: u64,
        /// Wires that the source has.
        width: u64,
    },
    /// The links into something do not add up to its width.
    #[error("{target}: links bring {got} wires, expected {expected}")]
    LinkWidth {
        /// The target that the links feed.
        target: String,
        /// Wires they bring.
        got: u64,
        /// Wires it takes.
        expected: u64,
    },
    /// A link names an instance, an input or a component that does not exist before it.
    #[error("{target}: {what} {index} does not exist here, there are {count}")]
    NoSuchSource {
        /// The target that the link feeds.
        target: String,
        /// The kind of thing that is missing.
        what: &'static str,
        /// Its number.
        index: u32,
        /// The number of existing ones.
        count: usize,
    },
    /// More items than a program can number.
    #[error("program `{program}` has too many {what}, the limit is {limit}")]
    TooMany {
        /// The program.
        program: String,
        /// The kind of item.
        what: &'static str,
        /// The most allowed.
        limit: usize,
    },
    /// An instance has too many or too few input ports connected.
    #[error("component `{component}` takes {expected} input ports, got {got}")]
    PortCount {
        /// The component.
        component: String,
        /// Ports connected.
        got: usize,
        /// Ports that the component has.
        expected: usize,
    },
}
