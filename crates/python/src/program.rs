//! Programs.

use std::sync::Arc;

use garblet::{
    LoadError, LoadOptions, Party, circuit,
    circuit::{InputId, Recipients, Type, diagnostic::nearest},
    lang::{Constants, Options},
    results, tell_panics,
};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    fault::Fault,
    leaving::Call,
    masked::{Unmasked, masked},
    report::outputs,
    value,
    value::How,
    waiting::beside,
};

/// A program: the function, the owner of each input and the recipients of each output. It is immutable.
#[pyclass(frozen, module = "garblet")]
pub(crate) struct Program(pub(crate) Arc<garblet::Program>);

/// An input or an output of a program.
#[pyclass(frozen, get_all, module = "garblet")]
pub(crate) struct Port {
    name: String,
    /// The type, as the language writes it.
    r#type: String,
    /// The number of bits.
    width: u64,
    /// The owner of the input; None for an output.
    owner: Option<u16>,
    /// The recipients of the output; None for all parties, and for an input.
    recipients: Option<Vec<u16>>,
    /// For an array of words: the kind of its words, `u`, `i` or `b`, their bits, and the lengths of all dimensions.
    words: Option<(char, u32, Vec<u32>)>,
}

impl Port {
    fn new(port: &circuit::Port, owner: Option<u16>, recipients: Option<Vec<u16>>) -> Self {
        Port {
            name: port.name.clone(),
            r#type: port.ty.to_string(),
            width: port.ty.width(),
            owner,
            recipients,
            words: words(&port.ty),
        }
    }
}

#[pymethods]
impl Port {
    fn __repr__(&self) -> String {
        format!("Port({}: {})", self.name, self.r#type)
    }
}

/// An array of words in memory that needs no conversion.
pub(crate) fn words(ty: &Type) -> Option<(char, u32, Vec<u32>)> {
    let mut lengths = Vec::new();
    let mut element = ty;
    while let Type::Array(inner, count) = element {
        lengths.push(*count);
        element = inner;
    }
    let (kind, bits) = match element {
        Type::Bytes(count) => {
            lengths.push(*count);
            ('u', 8)
        }
        Type::Unsigned(bits) => ('u', *bits),
        Type::Signed(bits) => ('i', *bits),
        Type::Bool => ('b', 1),
        _ => return None,
    };
    (!lengths.is_empty()).then_some((kind, bits, lengths))
}

/// Compiles a source of the function language.
#[pyfunction]
pub(crate) fn compile(
    py: Python<'_>,
    source: String,
    name: String,
    constants: Vec<(String, String)>,
    panics: bool,
    effort: Option<u64>,
    function: String,
) -> PyResult<Program> {
    let options = options(&constants, panics, effort, function).map_err(|fault| fault.raise(py))?;
    let compiled = beside(py, move || garblet::compile(&name, &source, options))?;
    compiled.map(|program| Program(Arc::new(program))).map_err(|wrong| Fault::compile(&wrong).raise(py))
}

/// Loads a program: a file, or `lib:NAME`.
#[pyfunction]
pub(crate) fn load(
    py: Python<'_>,
    name: String,
    constants: Vec<(String, String)>,
    panics: bool,
    effort: Option<u64>,
    function: String,
    as_it_is: bool,
) -> PyResult<Program> {
    let source = options(&constants, panics, effort, function).map_err(|fault| fault.raise(py))?;
    let options = LoadOptions { source, as_it_is };
    let fault = |error| match error {
        LoadError::Wrong(wrong) => Fault::compile(&wrong),
        other => Fault::usage(other).hint("constants=, panics= and function= are for function sources (.garble.rs)"),
    };
    let loaded = beside(py, move || garblet::load(&name, options))?;
    loaded.map(|program| Program(Arc::new(program))).map_err(|error| fault(error).raise(py))
}

fn options(given: &[(String, String)], panics: bool, effort: Option<u64>, function: String) -> Result<Options, Fault> {
    let mut constants = Constants::default();
    for (name, value) in given {
        constants.set(name, value).map_err(Fault::usage)?;
    }
    Ok(Options { constants, function, panics, effort: effort.unwrap_or(Options::EFFORT) })
}

/// The index of a name in a list.
fn position(what: &str, name: &str, known: &[&str]) -> Result<usize, Fault> {
    known.iter().position(|k| *k == name).ok_or_else(|| {
        let hint = match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has {}", known.join(", ")),
        };
        Fault::usage(format!("the program has no {what} `{name}`")).hint(hint)
    })
}

/// Checks that a party's number is in range.
fn known_party(party: u16) -> Result<(), Fault> {
    let most = u16::MAX - 1;
    (party <= most).then_some(()).ok_or_else(|| Fault::usage(format!("party: expected 0 to {most}, got {party}")))
}

#[pymethods]
impl Program {
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The digest of all that parties must agree on.
    #[getter]
    fn digest(&self) -> [u8; 32] {
        self.0.digest()
    }

    #[getter]
    fn inputs(&self) -> Vec<Port> {
        self.0.inputs().iter().map(|input| Port::new(&input.port, Some(input.owner.0), None)).collect()
    }

    /// The outputs, without the one for the place of a panic.
    #[getter]
    fn outputs(&self) -> Vec<Port> {
        let recipients = |recipients: &Recipients| match recipients {
            Recipients::All => None,
            Recipients::Only(parties) => Some(parties.iter().map(|party| party.0).collect()),
        };
        results(&self.0).map(|(_, output)| Port::new(&output.port, None, recipients(&output.recipients))).collect()
    }

    #[getter]
    fn and_gates(&self) -> u64 {
        self.0.counts().and
    }

    #[getter]
    fn and_depth(&self) -> u64 {
        self.0.stats().and_depth
    }

    /// The number of parties that it mentions.
    #[getter]
    fn parties(&self) -> u16 {
        self.0.party_count()
    }

    /// The warnings about the source, one text each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.notes().warnings.iter().map(|warning| warning.render().trim_end().into()).collect()
    }

    /// The same with another owner of an input.
    fn with_owner(&self, py: Python<'_>, input: &str, party: u16) -> PyResult<Program> {
        known_party(party).map_err(|fault| fault.raise(py))?;
        let known: Vec<&str> = self.0.inputs().iter().map(|input| &input.port.name[..]).collect();
        let at = position("input", input, &known).map_err(|fault| fault.raise(py))?;
        let mut program = (*self.0).clone();
        program.set_owner(InputId(at as u32), Party(party));
        Ok(Program(Arc::new(program)))
    }

    /// The same with other recipients of an output; None for all parties.
    fn with_recipients(&self, py: Python<'_>, output: &str, parties: Option<Vec<u16>>) -> PyResult<Program> {
        let (places, known): (Vec<usize>, Vec<&str>) =
            results(&self.0).map(|(at, output)| (at, &output.port.name[..])).unzip();
        let at = position("output", output, &known).map_err(|fault| fault.raise(py))?;
        let named = parties.iter().flatten().try_for_each(|party| known_party(*party));
        named.map_err(|fault| fault.raise(py))?;
        let recipients = parties.map_or(Recipients::All, |mut parties| {
            parties.sort_unstable();
            parties.dedup();
            Recipients::Only(parties.into_iter().map(Party).collect())
        });
        let mut program = (*self.0).clone();
        program.set_recipients(places[at], recipients);
        tell_panics(&mut program);
        Ok(Program(Arc::new(program)))
    }

    /// The same with a mask of a party on an output.
    fn masked(&self, py: Python<'_>, output: &str, party: u16) -> PyResult<Program> {
        let (places, known): (Vec<usize>, Vec<&str>) =
            results(&self.0).map(|(at, output)| (at, &output.port.name[..])).unzip();
        let made = position("output", output, &known).and_then(|at| {
            known_party(party)?;
            masked(&self.0, places[at], Party(party)).map_err(|why| match why {
                Unmasked::Type(ty) => {
                    Fault::usage(format!("output `{output}`: expected an unsigned number of at most 64 bits, got {ty}"))
                }
                Unmasked::Alone => {
                    Fault::usage(format!("output `{output}`: a mask of party {party} would hide it from all"))
                        .hint("mask what somebody else learns, or let another party give the mask")
                }
                Unmasked::Program(error) => Fault::usage(error),
            })
        });
        made.map(|program| Program(Arc::new(program))).map_err(|fault| fault.raise(py))
    }

    /// Evaluates in the clear. `inputs` has the inputs of all parties as JSON.
    fn evaluate<'py>(&self, py: Python<'py>, inputs: String) -> PyResult<Bound<'py, PyDict>> {
        let program = self.0.clone();
        let computed = beside(py, move || {
            let inputs = value::of_all(&program, &inputs)?;
            Ok(circuit::evaluate(&program, &inputs).into_iter().map(Some).collect())
        })?;
        let values: Vec<_> = computed.map_err(|fault: Fault| fault.raise(py))?;
        outputs(py, &self.0, &values).map(|(known, _)| known)
    }

    /// Checks a party's inputs, which are JSON.
    fn check(&self, py: Python<'_>, party: u16, inputs: &str) -> PyResult<()> {
        let read = Call::new().detach(py, || value::of_party(&self.0, Party(party), inputs, &How::default()));
        read.map(drop).map_err(|fault| fault.raise(py))
    }

    /// The program for this number of independent rows.
    fn batch(&self, py: Python<'_>, rows: u32) -> PyResult<Program> {
        let wrong = match (rows, self.0.notes().rows) {
            (_, Some(_)) => "the program is a batch already".into(),
            (0, _) => "a batch of no rows".into(),
            _ => {
                let program = self.0.clone();
                match beside(py, move || program.batch(rows))? {
                    Ok(batch) => return Ok(Program(Arc::new(batch))),
                    Err(error) => format!("a batch of {rows} rows: {error}"),
                }
            }
        };
        Err(Fault::usage(wrong).raise(py))
    }

    /// The rows, if it is a batch.
    #[getter]
    fn rows(&self) -> Option<u32> {
        self.0.notes().rows
    }

    /// The program as an SVG picture.
    fn svg(&self) -> String {
        garblet::formats::draw::svg(&self.0)
    }
}
