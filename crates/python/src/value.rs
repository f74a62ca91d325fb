//! Values: they come in as JSON, with arrays of words in hexadecimal, and go out as Python values.

use std::borrow::Cow;

use garblet::{
    Bits, Party, Program,
    circuit::Type,
    formats::value::{Arrange, KeyHash, Unfit, arrange, float_of_bits, has_use, read_inputs, to_json},
};
use garblet_console::inputs::tell_arranged;
use pyo3::{
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyTuple},
};
use serde_json::Value;

use crate::fault::Fault;

/// The name of inputs in messages.
const INPUTS: &str = "inputs";

/// The treatment of a party's lists.
#[derive(Clone, Default)]
pub(crate) struct How {
    /// The hash of text keys, if the parties hash them.
    pub(crate) keys: Option<KeyHash>,
    /// The order of lists.
    pub(crate) arrange: Arrange,
}

impl How {
    /// The program whose inputs have the types that this party gives.
    ///
    /// *Errors*: a program without keys.
    pub(crate) fn given<'a>(&self, program: &'a Program) -> Result<Cow<'a, Program>, Fault> {
        match &self.keys {
            None => Ok(Cow::Borrowed(program)),
            Some(keys) => keys.texts(program).map(Cow::Owned).map_err(|error| Fault::usage(format!("job: {error}"))),
        }
    }
}

/// The inputs of one party, in program order.
///
/// *Errors*: all that is wrong with them. What was done with lists is told.
pub(crate) fn of_party(program: &Program, party: Party, inputs: &str, how: &How) -> Result<Vec<Bits>, Fault> {
    let given = how.given(program)?;
    let mut values = read_inputs(&given, party, INPUTS, inputs).map_err(|wrong| Fault::input(&wrong))?;
    let unfit = |unfit: Unfit| {
        let fault = Fault::input(&unfit.diagnose(INPUTS, None).into());
        match unfit.cure() {
            // Only the parties' program knows the order of hashes.
            Some(Arrange::Sort) if how.keys.is_some() => fault.hint("arrange=\"sort\" sorts the rows by hashed key"),
            _ => fault,
        }
    };
    if let Some(keys) = &how.keys {
        keys.hash(program, &mut values).map_err(unfit)?;
    }
    if !has_use(how.arrange, program, values.iter().map(|(id, _)| *id)) && how.arrange != Arrange::Check {
        return Err(
            Fault::usage("arrange: the program does not rely on the order of these inputs").hint("leave it out")
        );
    }
    for arranged in arrange(program, &mut values, how.arrange).map_err(unfit)? {
        tell_arranged(&arranged, INPUTS);
    }
    Ok(values.into_iter().map(|(_, bits)| bits).collect())
}

/// The inputs of all parties from one text, in program order.
///
/// *Errors*: all that is wrong with them.
pub(crate) fn of_all(program: &Program, inputs: &str) -> Result<Vec<Bits>, Fault> {
    let mut together = program.clone();
    for input in 0..program.inputs().len() as u32 {
        together.set_owner(garblet::circuit::InputId(input), Party(0));
    }
    of_party(&together, Party(0), inputs, &How::default())
}

/// A Python value: integers, `bool`, `bytes`, `decimal.Decimal` for fixed-point and `float` for floating-point numbers, lists, tuples, and dictionaries for records. A
/// variant is its name, or a dictionary from its name to its fields.
pub(crate) fn to_python<'py>(py: Python<'py>, ty: &Type, bits: &Bits) -> PyResult<Bound<'py, PyAny>> {
    Ok(match ty {
        Type::Bool => PyBool::new(py, bits.get(0)).to_owned().into_any(),
        Type::Bits(_) | Type::Unsigned(_) => integer(py, bits, false)?,
        Type::Signed(_) => integer(py, bits, true)?,
        Type::Fixed(..) => match to_json(ty, bits) {
            Value::String(text) => py.import("decimal")?.getattr("Decimal")?.call1((text,))?,
            other => json(py, &other)?,
        },
        Type::Float(format) => {
            let number = float_of_bits(*format, bits.to_u128().unwrap_or_default() as u64);
            number.into_pyobject(py)?.into_any()
        }
        Type::Bytes(_) => PyBytes::new(py, &bits.to_bytes()).into_any(),
        Type::Array(element, count) => {
            let all = slices(bits, 0, element.width(), *count as usize);
            let values: PyResult<Vec<_>> = all.map(|bits| to_python(py, element, &bits)).collect();
            PyList::new(py, values?)?.into_any()
        }
        Type::List(element, most) => {
            let counted = Type::count_width(*most) as usize;
            let count = bits.slice(0, counted).to_u128().unwrap_or_default().min(u128::from(*most)) as usize;
            let all = slices(bits, counted, element.width(), count);
            let values: PyResult<Vec<_>> = all.map(|bits| to_python(py, element, &bits)).collect();
            PyList::new(py, values?)?.into_any()
        }
        Type::Record(fields) => {
            let mut start = 0;
            let mut values = Vec::with_capacity(fields.len());
            for (name, ty) in fields {
                let width = ty.width() as usize;
                values.push((name, to_python(py, ty, &bits.slice(start, width))?));
                start += width;
            }
            match ty.is_tuple() {
                true => PyTuple::new(py, values.into_iter().map(|(_, value)| value))?.into_any(),
                false => {
                    let record = PyDict::new(py);
                    values.into_iter().try_for_each(|(name, value)| record.set_item(name, value))?;
                    record.into_any()
                }
            }
        }
        Type::Enum(_) => json(py, &to_json(ty, bits))?,
    })
}

fn slices(bits: &Bits, start: usize, width: u64, count: usize) -> impl Iterator<Item = Bits> {
    (0..count).map(move |k| bits.slice(start + k * width as usize, width as usize))
}

fn integer<'py>(py: Python<'py>, bits: &Bits, signed: bool) -> PyResult<Bound<'py, PyAny>> {
    let negative = signed && !bits.is_empty() && bits.get(bits.len() - 1);
    match bits.to_u128() {
        Some(value) if !negative => Ok(value.into_pyobject(py)?.into_any()),
        _ => {
            // In whole bytes, with the sign carried on.
            let mut whole = bits.clone();
            whole.extend(std::iter::repeat_n(negative, bits.len().next_multiple_of(8) - bits.len()));
            let more = PyDict::new(py);
            more.set_item("signed", signed)?;
            let bytes = PyBytes::new(py, &whole.to_bytes());
            py.get_type::<PyInt>().call_method("from_bytes", (bytes, "little"), Some(&more))
        }
    }
}

fn json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
