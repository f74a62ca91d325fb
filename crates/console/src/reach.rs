//! Inputs that reach outputs unchanged, as text and as JSON.

use garblet::{
    Program,
    circuit::{
        diagnostic::one_line,
        reach::{Exposed, Form, Reach},
    },
};
use serde::Serialize;

/// The object of `--json`.
#[derive(Serialize)]
pub struct ReachPart<'a> {
    /// Inputs whose bits reach an output unchanged or negated.
    exposed: Vec<ExposedPart<'a>>,
    /// Inputs that no output depends on.
    unused: Vec<&'a str>,
    /// Outputs for which this is unknown because they are too far from the inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unfollowed: Vec<&'a str>,
}

#[derive(Serialize)]
struct ExposedPart<'a> {
    input: &'a str,
    output: &'a str,
    /// The number of the input's bits that reach the output.
    bits: u32,
    of: u32,
    #[serde(serialize_with = "word")]
    form: Form,
}

/// The word for a form.
fn word<S: serde::Serializer>(form: &Form, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match form {
        Form::Unchanged => "unchanged",
        Form::Negated => "negated",
        Form::Moved => "moved",
        Form::Some => "some",
    })
}

impl<'a> ReachPart<'a> {
    /// The inputs that reach outputs of a program.
    pub fn of(program: &'a Program) -> Self {
        let Reach { exposed, unused, unfollowed } = program.reach();
        let exposed = exposed.into_iter().map(|Exposed { input, output, bits, form }| {
            let port = &program.inputs()[input.0 as usize].port;
            ExposedPart {
                input: &port.name,
                output: &program.outputs()[output].port.name,
                bits,
                of: port.width(),
                form,
            }
        });
        let unused = unused.into_iter().map(|input| &program.inputs()[input.0 as usize].port.name[..]);
        let unfollowed = unfollowed.into_iter().map(|output| &program.outputs()[output].port.name[..]);
        ReachPart { exposed: exposed.collect(), unused: unused.collect(), unfollowed: unfollowed.collect() }
    }

    /// A line, if there is something to say.
    pub fn text(&self) -> String {
        let exposed = self.exposed.iter().map(|ExposedPart { input, output, bits, of, form }| match form {
            Form::Unchanged => format!("{input} reaches {output} unchanged"),
            Form::Negated => format!("{input} reaches {output} negated"),
            Form::Moved => format!("all {of} bits of {input} reach {output}, moved or negated"),
            Form::Some => format!("{bits} of {of} bits of {input} reach {output}, unchanged or negated"),
        });
        let unused = self.unused.iter().map(|input| format!("{input} is not used"));
        let unfollowed = self.unfollowed.iter().map(|output| {
            format!("inputs may reach {output} unchanged: the program is too large to follow it back to them")
        });
        let all: Vec<String> = exposed.chain(unused).chain(unfollowed).collect();
        if all.is_empty() { String::new() } else { format!("note: {}\n", one_line(&all.join("; "))) }
    }
}
