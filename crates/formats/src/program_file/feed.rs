//! The feeding of ports: sources to links.

use std::collections::HashMap;

use garblet_circuit::{
    Bits, Component, InputId, Link, Program, Source, Type,
    diagnostic::{Diagnostic, clip},
};
use jsonc_parser::ast::Value;

use super::{reader::Names, reference::Reference};
use crate::{
    json::{JsonText, describe},
    value::Reader as ValueReader,
};

/// The most links of a file, after repetition: a short file cannot demand endless ones.
const MAX_LINKS: usize = 1 << 24;

/// A run of instances that a file makes with one entry.
pub(super) struct Group {
    /// Number of the first of them, in the file's order.
    pub(super) first: usize,
    pub(super) count: u64,
    /// There is no `"repeat"`.
    pub(super) single: bool,
    pub(super) component: std::sync::Arc<Component>,
}

/// Turns sources to links whose instances are numbered in the file's order.
pub(super) struct Feeder<'f, 'a> {
    pub(super) json: JsonText<'a>,
    pub(super) program: &'f Program,
    pub(super) inputs: HashMap<&'f str, InputId>,
    pub(super) groups: &'f Names<'f, Group>,
    pub(super) link_count: usize,
}

impl Feeder<'_, '_> {
    /// The links that `value` describes, which must bring `width` wires to `what`.
    pub(super) fn links(
        &mut self,
        what: &str,
        value: &Value,
        width: u64,
        i: Option<u64>,
        links: &mut Vec<Link>,
    ) -> Result<(), Diagnostic> {
        let before = links.len();
        match value {
            Value::Array(list) => list.elements.iter().try_for_each(|one| self.source(what, one, i, links))?,
            one => self.source(what, one, i, links)?,
        }
        self.link_count += links.len() - before;
        if self.link_count > MAX_LINKS {
            return Err(self.json.error_at(value, format!("the program has more than {MAX_LINKS} links")));
        }
        let got: u64 = links[before..].iter().map(|l| u64::from(l.len)).sum();
        match got == width {
            true => Ok(()),
            false => Err(self.json.error_at(value, format!("{what} takes {width} wires, got {got}"))),
        }
    }

    fn source(&self, what: &str, value: &Value, i: Option<u64>, links: &mut Vec<Link>) -> Result<(), Diagnostic> {
        match value {
            Value::StringLit(text) => {
                let reference = Reference::parse(&text.value, i);
                let reference = reference.map_err(|message| self.json.error_at(value, format!("{what}: {message}")))?;
                self.reference(what, value, &reference, links)
            }
            Value::BooleanLit(b) => {
                links.push(Link { source: Source::Constant(b.value), start: 0, len: 1 });
                Ok(())
            }
            Value::Object(_) => {
                constant_links(&self.constant(what, value)?, links);
                Ok(())
            }
            other => {
                let message = format!("{what}: expected a source such as \"x[0]\" or true, got {}", describe(other));
                Err(self.json.error_at(value, message))
            }
        }
    }

    fn constant(&self, what: &str, value: &Value) -> Result<Bits, Diagnostic> {
        let members = self.json.members(value, what)?;
        let member = |name| members.iter().find(|(key, _)| *key == name).map(|(_, property)| &property.value);
        let error = |at: &Value, message| self.json.error_at(at, format!("{what}: {message}"));
        let reader = ValueReader { json: self.json };
        match (&members[..], member("bits"), member("type"), member("value")) {
            ([_], Some(Value::StringLit(bits)), ..) => {
                let width = u32::try_from(bits.value.len()).unwrap_or(u32::MAX);
                reader.value(what, value, &Type::Bits(width))
            }
            ([_, _], None, Some(ty), Some(constant)) => {
                let Value::StringLit(text) = ty else {
                    return Err(error(ty, format!("expected a type, got {}", describe(ty))));
                };
                let ty: Type = text.value.parse().map_err(|e: garblet_circuit::TypeError| error(ty, e.to_string()))?;
                reader.value(what, constant, &ty)
            }
            _ => Err(error(value, "expected {\"bits\": \"01..\"} or {\"type\": .., \"value\": ..}".into())),
        }
    }

    fn reference(
        &self,
        what: &str,
        value: &Value,
        reference: &Reference<'_>,
        links: &mut Vec<Link>,
    ) -> Result<(), Diagnostic> {
        let name = reference.name;
        let error = |message: String| self.json.error_at(value, format!("{what}: {message}"));
        if let Some(&id) = self.inputs.get(name) {
            if reference.port.is_some() {
                return Err(error(format!("`{name}` is an input of the program, it has no ports")));
            }
            let all = self.program.input_link(id);
            links.push(part(all, reference).map_err(|e| error(format!("input `{name}` {e}")))?);
            return Ok(());
        }
        let Some(group) = self.groups.get(name) else {
            let known = self.inputs.keys().copied().chain(self.groups.names());
            return Err(error(format!("there is no input or instance `{}`", clip(name))).suggest(name, known));
        };
        let numbers = match reference.instance {
            None => 0..group.count,
            Some(_) if group.single => return Err(error(format!("`{name}` is one instance, not several"))),
            Some(k) if k < group.count => k..k + 1,
            Some(k) => return Err(error(format!("there are {} of `{name}`, from 0, got `[{k}]`", group.count))),
        };
        let (start, len) = match reference.port {
            None => (0, group.component.output_width()),
            Some(port) => place(group.component.outputs(), port).ok_or_else(|| {
                let known = group.component.outputs().iter().map(|p| p.name.as_str());
                error(format!("`{name}` has no output `{}`", clip(port))).suggest(port, known)
            })?,
        };
        if numbers.end - numbers.start > 1 && reference.wires.is_some() {
            return Err(error(format!(
                "`{name}` are {} instances: choose one, as in `{name}[0].port[..]`",
                group.count
            )));
        }
        if links.len() as u64 + (numbers.end - numbers.start) > MAX_LINKS as u64 {
            return Err(error(format!("more than {MAX_LINKS} links")));
        }
        for k in numbers {
            let source = Source::Instance(garblet_circuit::InstanceId((group.first as u64 + k) as u32));
            let link = part(Link { source, start, len }, reference).map_err(|e| error(format!("`{name}` {e}")))?;
            links.push(link);
        }
        Ok(())
    }
}

/// First wire and width of a port.
pub(super) fn place(ports: &[garblet_circuit::Port], name: &str) -> Option<(u32, u32)> {
    let at = ports.iter().position(|p| p.name == name)?;
    Some((ports[..at].iter().map(garblet_circuit::Port::width).sum(), ports[at].width()))
}

/// The wires of a link that a reference chooses.
fn part(all: Link, reference: &Reference<'_>) -> Result<Link, String> {
    match &reference.wires {
        None => Ok(all),
        Some(wires) if wires.end > u64::from(all.len) => {
            Err(format!("has {} wires here, got wires {}..{}", all.len, wires.start, wires.end))
        }
        Some(wires) => {
            let (start, len) = (wires.start as u32, (wires.end - wires.start) as u32);
            Ok(Link { source: all.source, start: all.start + start, len })
        }
    }
}

/// One link for each run of equal bits.
fn constant_links(bits: &Bits, links: &mut Vec<Link>) {
    let first = links.len();
    for bit in bits.iter() {
        match links[first..].last_mut() {
            Some(link) if link.source == Source::Constant(bit) => link.len += 1,
            _ => links.push(Link { source: Source::Constant(bit), start: 0, len: 1 }),
        }
    }
}
