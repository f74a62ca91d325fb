//! The bytes of a job: one encoding for each, fields of fixed order, integers little-endian, lists and texts after their lengths.
//!
//! ```text
//! 1            version 1
//! 32           program
//! list         inputs: name, type, 0 and party, or 1 and state, output, version
//! list         outputs: name, type, 0 for all, 1 and the list of parties, or 2 for a state
//! 32           generator
//! list of 32   clients
//! 32           cloud
//! 1            statistical bits
//! list         parameters: name, value
//! 1            0, or 1 and state, version that is kept
//! text         label
//! ```
//!
//! Lengths and parties have two bytes, versions eight.

use garblet_circuit::{Party, Port, Recipients, diagnostic::clip};

use super::terms::{
    Destination, Identity, JobInput, JobOutput, Kept, LABEL_BYTES_MAX, Origin, PORTS_MAX, Statistical, TYPE_BYTES_MAX,
    Terms,
};
use super::{CLIENTS_MAX, JOB_BYTES_MAX};
use crate::cursor::{Reader, Writer};
use crate::malformed::Malformed;
use crate::shown::NAME_BYTES_MAX;

/// The version of the encoding.
const VERSION: u8 = 1;

/// The bytes of terms that were checked.
pub(super) fn encode(terms: &Terms) -> Vec<u8> {
    let mut to = Writer::with_capacity(1024);
    to.u8(VERSION).bytes(&terms.program);
    to.list(&terms.inputs, |to, input| {
        put_port(to, &input.port);
        match &input.origin {
            Origin::Party(party) => to.u8(0).u16(party.0),
            Origin::State { state, output, version } => to.u8(1).text(state).text(output).u64(*version),
        };
    });
    to.list(&terms.outputs, |to, output| {
        put_port(to, &output.port);
        match &output.to {
            Destination::Parties(Recipients::All) => to.u8(0),
            Destination::Parties(Recipients::Only(parties)) => to.u8(1).list(parties, |to, party| {
                to.u16(party.0);
            }),
            Destination::State => to.u8(2),
        };
    });
    to.bytes(&terms.generator.0);
    to.list(&terms.clients, |to, client| {
        to.bytes(&client.0);
    });
    to.bytes(&terms.cloud.0).u8(terms.statistical.bits());
    to.list(&terms.parameters, |to, (name, value)| {
        to.text(name).text(value);
    });
    match &terms.keeps {
        None => to.u8(0),
        Some(kept) => to.u8(1).text(&kept.state).u64(kept.version),
    };
    to.text(&terms.label);
    to.finish().to_vec()
}

fn put_port(to: &mut Writer, port: &Port) {
    to.text(&port.name).text(&port.ty.to_string());
}

/// Reads terms from bytes; they are still to be checked.
pub(super) fn decode(bytes: &[u8]) -> Result<Terms, Malformed> {
    let mut from = Reader::new("job", bytes);
    if bytes.len() > JOB_BYTES_MAX {
        return Err(from.fault("size", 0, format!("at most {JOB_BYTES_MAX} bytes"), bytes.len().to_string()));
    }
    from.constant("version", VERSION)?;
    let terms = Terms {
        program: from.array("program")?,
        inputs: from.list("inputs", PORTS_MAX, input)?,
        outputs: from.list("outputs", PORTS_MAX, output)?,
        generator: from.array("generator").map(Identity)?,
        clients: from.list("clients", CLIENTS_MAX, |from| from.array("client").map(Identity))?,
        cloud: from.array("cloud").map(Identity)?,
        statistical: statistical(&mut from)?,
        parameters: from.list("parameters", PORTS_MAX, |from| {
            let name = from.text("name of a parameter", NAME_BYTES_MAX)?;
            Ok((name, from.text("parameter", NAME_BYTES_MAX)?))
        })?,
        keeps: kept(&mut from)?,
        label: from.text("label", LABEL_BYTES_MAX)?,
    };
    from.end()?;
    Ok(terms)
}

fn input(from: &mut Reader<'_>) -> Result<JobInput, Malformed> {
    let port = port(from)?;
    let origin = match from.u8("origin of an input")? {
        0 => Origin::Party(from.u16("owner of an input").map(Party)?),
        1 => Origin::State {
            state: from.text("state of an input", NAME_BYTES_MAX)?,
            output: from.text("kept output of an input", NAME_BYTES_MAX)?,
            version: from.u64("version of a state")?,
        },
        other => return Err(from.fault("origin of an input", 1, "0 or 1", other.to_string())),
    };
    Ok(JobInput { port, origin })
}

fn output(from: &mut Reader<'_>) -> Result<JobOutput, Malformed> {
    let port = port(from)?;
    let to = match from.u8("recipients of an output")? {
        0 => Destination::Parties(Recipients::All),
        1 => {
            Destination::Parties(Recipients::Only(from.list("recipients of an output", CLIENTS_MAX + 2, |from| {
                from.u16("recipient of an output").map(Party)
            })?))
        }
        2 => Destination::State,
        other => return Err(from.fault("recipients of an output", 1, "0, 1 or 2", other.to_string())),
    };
    Ok(JobOutput { port, to })
}

fn port(from: &mut Reader<'_>) -> Result<Port, Malformed> {
    let name = from.text("name of a port", NAME_BYTES_MAX)?;
    let text = from.text("type of a port", TYPE_BYTES_MAX)?;
    let fault = |expected: String| from.fault("type of a port", text.len(), expected, format!("`{}`", clip(&text)));
    match text.parse::<garblet_circuit::Type>() {
        Ok(ty) if ty.to_string() == text => Ok(Port { name, ty }),
        Ok(ty) => Err(fault(format!("`{ty}`"))),
        Err(error) => Err(fault(format!("a type: {error}"))),
    }
}

fn statistical(from: &mut Reader<'_>) -> Result<Statistical, Malformed> {
    let bits = from.u8("statistical")?;
    let known = Statistical::ALL.into_iter().find(|statistical| statistical.bits() == bits);
    known.ok_or_else(|| from.fault("statistical", 1, "40, 64 or 80", bits.to_string()))
}

fn kept(from: &mut Reader<'_>) -> Result<Option<Kept>, Malformed> {
    if !from.flag("state that is kept")? {
        return Ok(None);
    }
    let state = from.text("state that is kept", NAME_BYTES_MAX)?;
    Ok(Some(Kept { state, version: from.u64("version that is kept")? }))
}
