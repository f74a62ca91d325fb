//! Reads a program file.

use std::{collections::HashMap, sync::Arc};

use garblet_circuit::{
    Circuit, Component, ComponentId, InputId, InstanceId, Link, Party, Port, Program, Recipients, Source, Type,
    diagnostic::{Diagnostic, Diagnostics, check_format, clip},
    notes::{Limit, Order, Ordered},
};
use jsonc_parser::ast::{ObjectProp, Value};

use super::{
    FORMAT, ORDERS,
    feed::{Feeder, Group},
    gates::Statements,
    is_name, key_bits, key_type,
    order::order,
    relied::{Relied, inherit},
};
use crate::{
    MAX_PARTY, front_end,
    json::{JsonText, describe},
    whole::check_input_wires,
};

/// The most instances of a file, after repetition.
const MAX_INSTANCES: u64 = 1 << 20;

/// Named items, in the file's order.
pub(super) struct Names<'v, T> {
    list: Vec<(&'v str, T)>,
    place: HashMap<&'v str, usize>,
}

impl<'v, T> Names<'v, T> {
    fn new() -> Self {
        Names { list: Vec::new(), place: HashMap::new() }
    }

    fn push(&mut self, name: &'v str, item: T) {
        self.place.insert(name, self.list.len());
        self.list.push((name, item));
    }

    pub(super) fn get(&self, name: &str) -> Option<&T> {
        self.place.get(name).map(|&k| &self.list[k].1)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'v str> {
        self.list.iter().map(|(name, _)| *name)
    }
}

/// Reads a program file's text.
pub(super) fn read(source: &front_end::Source<'_>, text: &str) -> Result<Program, Diagnostics> {
    let json = JsonText { file: &source.file, text };
    let root = json.parse()?;
    let members = json.members(&root, "program file")?;
    let keys = ["format", "name", "components", "inputs", "instances", "outputs", "source"];
    let is_foreign = !members.is_empty() && !members.iter().any(|(key, _)| keys[2..].contains(key));
    check_stated_format(json, &members, is_foreign)?;
    if is_foreign {
        return Err(foreign(json, &members).into());
    }
    if members.iter().any(|(key, _)| *key == "source") {
        return bound_source(json, source, &root);
    }
    let file = Fields::new(json, &root, "program file", &keys)?;
    let name = file.get("name").map(|value| text_of(json, "name", value)).transpose()?;
    let mut program = Program::new(name.unwrap_or(source.stem()));
    let mut components = Names::new();
    let mut relied = HashMap::new();
    for (name, property) in file.members("components")? {
        let (component, own) = component(json, source, name, &property.value)?;
        let id = program.add_component(component);
        relied.insert(id, own);
        components.push(name, id);
    }
    let mut wires = 0u64;
    for (name, property) in file.members("inputs")? {
        input(json, &mut program, name, &property.value)?;
        wires = wires.saturating_add(program.inputs().last().map_or(0, |input| input.port.ty.width()));
        check_input_wires("the program", wires).map_err(|error| json.error_at(&property.value, error))?;
    }
    let instances = file.members("instances")?;
    let (groups, names) = groups(json, &program, &components, &instances)?;
    let inputs: Vec<String> = program.inputs().iter().map(|i| i.port.name.clone()).collect();
    let by_name = |(k, name): (usize, &'_ String)| (name.clone(), InputId(k as u32));
    let ids: HashMap<String, InputId> = inputs.iter().enumerate().map(by_name).collect();
    let mut feeder = Feeder {
        json,
        program: &program,
        inputs: ids.iter().map(|(name, id)| (name.as_str(), *id)).collect(),
        groups: &groups,
        link_count: 0,
    };
    let feeds = feeds(&mut feeder, &names, &instances)?;
    let outputs = outputs(&mut feeder, &file)?;
    let component_ids: Vec<ComponentId> = names.iter().map(|n| n.component).collect();
    let clash = |what| Diagnostic::new(json.file, what).hint("give each circuit an input of its own");
    inherit(&mut program, &relied, &component_ids, &feeds).map_err(clash)?;
    let label = |k: usize| names[k].label();
    join(json, program, component_ids, feeds, outputs, label).map_err(Diagnostics::from)
}

/// Checks the format that a file states, before anything else in it is judged. Without one it has format 1. In a foreign file only a number is one.
fn check_stated_format(
    json: JsonText<'_>,
    members: &[(&str, &ObjectProp<'_>)],
    is_foreign: bool,
) -> Result<(), Diagnostic> {
    let Some((_, property)) = members.iter().find(|(key, _)| *key == "format") else { return Ok(()) };
    let stated = match &property.value {
        Value::NumberLit(number) => number.value.parse().ok(),
        _ if is_foreign => return Ok(()),
        _ => None,
    };
    let expected = || format!("format: expected a whole number, got {}", describe(&property.value));
    let stated = stated.ok_or_else(|| json.error_at(&property.value, expected()))?;
    check_format(stated, FORMAT).map_err(|other| json.error_at(&property.value, other.to_string()).hint(other.hint()))
}

/// The refusal of JSON that has none of the keys of a program file.
fn foreign(json: JsonText<'_>, members: &[(&str, &ObjectProp<'_>)]) -> Diagnostic {
    let keys: Vec<String> = members.iter().take(8).map(|(key, _)| clip(key)).collect();
    Diagnostic::new(json.file, format!("is JSON, but not a program file: it has the keys {}", keys.join(", "))).hint(
        "a program file has components, inputs, instances and outputs, or a source; a netlist of Yosys begins with creator or modules",
    )
}

/// A program file that names a source, and circuits that replace functions of it.
fn bound_source(json: JsonText<'_>, source: &front_end::Source<'_>, root: &Value<'_>) -> Result<Program, Diagnostics> {
    let file = Fields::new(json, root, "program file", &["format", "source", "externs"])?;
    let name = text_of(json, "source", file.need("source")?)?;
    let mut bound = Vec::new();
    for (function, property) in file.members("externs")? {
        let circuit = text_of(json, &format!("externs: `{function}`"), &property.value)?;
        let program = source.load(circuit).map_err(|inner| {
            let message = format!("externs: `{function}`: {}", inner.to_string().replace('\n', "; "));
            Diagnostics::from(json.error_at(&property.value, message))
        })?;
        bound.push((function.to_string(), program));
    }
    source.load_bound(name, bound)
}

/// An object of which only some keys are allowed.
struct Fields<'v, 'a> {
    json: JsonText<'a>,
    value: &'v Value<'a>,
    what: String,
    members: Vec<(&'v str, &'v ObjectProp<'a>)>,
}

impl<'v, 'a> Fields<'v, 'a> {
    fn new(json: JsonText<'a>, value: &'v Value<'a>, what: &str, known: &[&str]) -> Result<Self, Diagnostic> {
        let members = json.members(value, what)?;
        if let Some((key, property)) = members.iter().find(|(key, _)| !known.contains(key)) {
            let error = json.error_at(&property.name, format!("{what}: unknown key `{}`", clip(key)));
            return Err(error.suggest(key, known.iter().copied()));
        }
        Ok(Fields { json, value, what: what.into(), members })
    }

    fn get(&self, key: &str) -> Option<&'v Value<'a>> {
        self.members.iter().find(|(k, _)| *k == key).map(|(_, property)| &property.value)
    }

    fn need(&self, key: &str) -> Result<&'v Value<'a>, Diagnostic> {
        let missing = || self.json.error_at(self.value, format!("{}: `{key}` is missing", self.what));
        self.get(key).ok_or_else(missing)
    }

    /// The members of the object at `key`, all of them names; none if there is no such key.
    fn members(&self, key: &str) -> Result<Vec<(&'v str, &'v ObjectProp<'a>)>, Diagnostic> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let members = self.json.members(value, key)?;
        if let Some((name, property)) = members.iter().find(|(name, _)| !is_name(name)) {
            let message = format!("{key}: {:?} is not a name, expected letters, digits, `_` or `-`", clip(name));
            return Err(self.json.error_at(&property.name, message));
        }
        Ok(members)
    }
}

fn text_of<'v>(json: JsonText<'_>, what: &str, value: &'v Value<'_>) -> Result<&'v str, Diagnostic> {
    match value {
        Value::StringLit(text) => Ok(&text.value),
        other => Err(json.error_at(value, format!("{what}: expected a string, got {}", describe(other)))),
    }
}

/// A number from 0 to `most`.
fn number_of(json: JsonText<'_>, what: &str, value: &Value<'_>, most: u64) -> Result<u64, Diagnostic> {
    let number = if let Value::NumberLit(n) = value { n.value.parse().ok().filter(|&n| n <= most) } else { None };
    let message = || format!("{what}: expected a number from 0 to {most}, got {}", describe(value));
    number.ok_or_else(|| json.error_at(value, message()))
}

fn type_of(json: JsonText<'_>, what: &str, value: &Value<'_>) -> Result<Type, Diagnostic> {
    let text = text_of(json, what, value)?;
    text.parse().map_err(|e| json.error_at(value, format!("{what}: {e}")))
}

fn ports(json: JsonText<'_>, what: &str, fields: &Fields<'_, '_>, side: &str) -> Result<Option<Vec<Port>>, Diagnostic> {
    if fields.get(side).is_none() {
        return Ok(None);
    }
    let mut all = Vec::new();
    let mut width = 0;
    for (name, property) in fields.members(side)? {
        let ty = type_of(json, &format!("{what}, {side}, `{name}`"), &property.value)?;
        width += ty.width();
        all.push(Port::new(name, ty));
    }
    let checked = match side {
        "inputs" => check_input_wires(what, width),
        _ if width <= Circuit::MAX_WIRES / 2 => Ok(()),
        _ => Err(format!("{what}: {side} have {width} wires, which is too many")),
    };
    checked.map(|()| Some(all)).map_err(|message| json.error_at(fields.value, message))
}

fn component(
    json: JsonText<'_>,
    source: &front_end::Source<'_>,
    name: &str,
    value: &Value<'_>,
) -> Result<(Component, Relied), Diagnostics> {
    let what = format!("component `{name}`");
    let fields = Fields::new(json, value, &what, &["file", "library", "gates", "inputs", "outputs"])?;
    let inputs = ports(json, &what, &fields, "inputs")?;
    let outputs = ports(json, &what, &fields, "outputs")?;
    let failed = |message: String| json.error_at(value, format!("{what}: {message}"));
    let mut relied = Relied::default();
    let (circuit, inputs, outputs) = match (fields.get("file"), fields.get("library"), fields.get("gates")) {
        (None, None, Some(gates)) => {
            let (Some(inputs), Some(outputs)) = (inputs, outputs) else {
                return Err(failed("inline gates need `inputs` and `outputs`".into()).into());
            };
            (inline(json, &what, &inputs, &outputs, gates)?, inputs, outputs)
        }
        (file, library, None) if file.is_some() != library.is_some() => {
            let reference = match (file, library) {
                (Some(file), _) => text_of(json, &what, file)?.to_string(),
                (_, library) => format!("lib:{}", text_of(json, &what, library.unwrap_or(value))?),
            };
            let at = file.or(library).unwrap_or(value);
            let loaded = source.load(&reference).map_err(|errors| through(json, &what, at, errors))?;
            relied = Relied::of(&loaded);
            let flat = loaded.flatten().map_err(|e| failed(e.to_string()))?;
            let inputs = inputs.unwrap_or_else(|| flat.inputs().to_vec());
            let outputs = outputs.unwrap_or_else(|| flat.outputs().to_vec());
            (flat.circuit().clone(), inputs, outputs)
        }
        _ => return Err(failed("expected one of `file`, `library` and `gates`".into()).into()),
    };
    let component = Component::new(name, inputs, outputs, circuit).map_err(|e| failed(e.to_string()))?;
    Ok((component, relied))
}

/// The diagnostics of a file that was referred to; its own place is more useful if it has one.
fn through(json: JsonText<'_>, what: &str, at: &Value<'_>, errors: Diagnostics) -> Diagnostics {
    let Some(first) = errors.iter().next().filter(|first| first.place.is_none()) else { return errors };
    let mut error = json.error_at(at, format!("{what}: {first}"));
    error.hint = first.hint.clone();
    error.into()
}

fn inline(
    json: JsonText<'_>,
    what: &str,
    inputs: &[Port],
    outputs: &[Port],
    gates: &Value<'_>,
) -> Result<Circuit, Diagnostic> {
    let Value::Array(list) = gates else {
        return Err(json.error_at(gates, format!("{what}: expected an array of gates, got {}", describe(gates))));
    };
    let mut statements = Statements::new(inputs, outputs);
    for statement in &list.elements {
        let text = text_of(json, what, statement)?;
        statements.add(text).map_err(|message| json.error_at(statement, format!("{what}: {message}")))?;
    }
    statements.finish().map_err(|message| json.error_at(gates, format!("{what}: {message}")))
}

fn input(json: JsonText<'_>, program: &mut Program, name: &str, value: &Value<'_>) -> Result<(), Diagnostic> {
    let what = format!("input `{name}`");
    let fields = Fields::new(json, value, &what, &["type", "owner", "order", "below"])?;
    let ty = type_of(json, &what, fields.need("type")?)?;
    let owner = number_of(json, &format!("{what}, owner"), fields.need("owner")?, MAX_PARTY)?;
    let order = fields.get("order").map(|order| order_of(json, &what, order, &ty)).transpose()?;
    let below = fields.get("below").map(|below| below_of(json, &what, below, &ty)).transpose()?;
    let key_bits = key_bits(&ty);
    program.add_input(Port::new(name, ty), Party(owner as u16)).map_err(|e| json.error_at(value, e.to_string()))?;
    let mut notes = program.notes().clone();
    notes.ordered.extend(order.map(|order| Ordered { input: name.into(), key_bits, order }));
    let limit = |below| Limit { input: name.into(), field: name.into(), bits: key_bits, below };
    notes.limits.extend(below.map(limit));
    program.set_notes(notes);
    Ok(())
}

/// The order that the rows of an input must have.
fn order_of(json: JsonText<'_>, what: &str, value: &Value<'_>, ty: &Type) -> Result<Order, Diagnostic> {
    let text = text_of(json, &format!("{what}, order"), value)?;
    let known = ORDERS.iter().find(|(_, word)| *word == text);
    let (order, _) = known.ok_or_else(|| {
        let words: Vec<&str> = ORDERS.iter().map(|(_, word)| *word).collect();
        json.error_at(value, format!("{what}, order: expected one of {}, got {}", words.join(", "), describe(value)))
    })?;
    match (ty, key_type(ty)) {
        (Type::List(..), Some(Type::Unsigned(_))) => Ok(*order),
        (other, _) => {
            let message =
                format!("{what}, order: it is for lists with keys that are unsigned numbers, and the type is {other}");
            Err(json.error_at(value, message))
        }
    }
}

/// The least number that is too large for the key of an element.
fn below_of(json: JsonText<'_>, what: &str, value: &Value<'_>, ty: &Type) -> Result<u64, Diagnostic> {
    match key_type(ty) {
        Some(&Type::Unsigned(bits @ 1..=63)) => {
            let below = number_of(json, &format!("{what}, below"), value, 1 << bits)?;
            let none = || json.error_at(value, format!("{what}, below: expected 1 or more, got 0"));
            (below > 0).then_some(below).ok_or_else(none)
        }
        _ => Err(json.error_at(
            value,
            format!(
                "{what}, below: it is for arrays and lists of unsigned numbers of at most 63 bits, and the type is {ty}"
            ),
        )),
    }
}

/// An instance in the file's order.
struct Named<'v> {
    name: &'v str,
    component: ComponentId,
    /// Entry of `instances` that it is from.
    entry: usize,
    /// Its number, if the entry repeats.
    i: Option<u64>,
}

impl Named<'_> {
    fn label(&self) -> String {
        self.i.map_or(self.name.to_string(), |i| format!("{}[{i}]", self.name))
    }
}

type Groups<'v> = (Names<'v, Group>, Vec<Named<'v>>);

fn groups<'v>(
    json: JsonText<'_>,
    program: &Program,
    components: &Names<'_, ComponentId>,
    instances: &[(&'v str, &'v ObjectProp<'_>)],
) -> Result<Groups<'v>, Diagnostic> {
    let mut groups = Names::new();
    let mut names = Vec::new();
    for (entry, (name, property)) in instances.iter().enumerate() {
        let what = format!("instance `{name}`");
        if program.inputs().iter().any(|input| input.port.name == *name) {
            return Err(json.error_at(&property.name, format!("`{name}` is an input already")));
        }
        let fields = Fields::new(json, &property.value, &what, &["of", "repeat", "in", "first"])?;
        let of = fields.need("of")?;
        let component = text_of(json, &what, of)?;
        let Some(&id) = components.get(component) else {
            let error = json.error_at(of, format!("{what}: there is no component `{}`", clip(component)));
            return Err(error.suggest(component, components.names()));
        };
        let repeat = fields.get("repeat").map(|n| number_of(json, &format!("{what}, repeat"), n, MAX_INSTANCES));
        let repeat = repeat.transpose()?;
        let (first, count) = (names.len(), repeat.unwrap_or(1));
        if first as u64 + count > MAX_INSTANCES {
            return Err(json.error_at(&property.name, format!("more than {MAX_INSTANCES} instances")));
        }
        names.extend((0..count).map(|i| Named { name, component: id, entry, i: repeat.map(|_| i) }));
        let component = Arc::clone(&program.components()[id.0 as usize]);
        groups.push(name, Group { first, count, single: repeat.is_none(), component });
    }
    Ok((groups, names))
}

/// The links into each instance.
fn feeds(
    feeder: &mut Feeder<'_, '_>,
    names: &[Named<'_>],
    instances: &[(&str, &ObjectProp<'_>)],
) -> Result<Vec<Vec<Link>>, Diagnostic> {
    let json = feeder.json;
    let mut all = Vec::with_capacity(names.len());
    for (_, same) in names.chunk_by(|a, b| a.entry == b.entry).map(|same| (same[0].name, same)) {
        let value = &instances[same[0].entry].1.value;
        let what = format!("instance `{}`", same[0].name);
        let fields = Fields::new(json, value, &what, &["of", "repeat", "in", "first"])?;
        let component = Arc::clone(&feeder.program.components()[same[0].component.0 as usize]);
        let usual = port_feeds(json, &what, &component, fields.get("in"))?;
        let first = port_feeds(json, &what, &component, fields.get("first"))?;
        for named in same {
            let mut links = Vec::new();
            for (k, port) in component.inputs().iter().enumerate() {
                let replaced = first[k].filter(|_| named.i.unwrap_or(0) == 0);
                let Some(value) = replaced.or(usual[k]) else {
                    let message = format!("{what}: input `{}` ({}) is not fed", port.name, port.ty);
                    return Err(json.error_at(value, message));
                };
                let target = format!("input `{}` of `{}`", port.name, named.label());
                feeder.links(&target, value, port.width().into(), named.i, &mut links)?;
            }
            all.push(links);
        }
    }
    Ok(all)
}

/// The source that feeds each input port, according to `value`.
fn port_feeds<'v, 'a>(
    json: JsonText<'a>,
    what: &str,
    component: &Component,
    value: Option<&'v Value<'a>>,
) -> Result<Vec<Option<&'v Value<'a>>>, Diagnostic> {
    let mut feeds = vec![None; component.inputs().len()];
    let members = value.map(|value| json.members(value, what)).transpose()?;
    for (key, property) in members.into_iter().flatten() {
        let Some(k) = component.inputs().iter().position(|p| p.name == key) else {
            let error = json.error_at(&property.name, format!("{what}: it has no input `{}`", clip(key)));
            return Err(error.suggest(key, component.inputs().iter().map(|p| p.name.as_str())));
        };
        feeds[k] = Some(&property.value);
    }
    Ok(feeds)
}

type OutputParts = (Port, Recipients, Vec<Link>);

fn outputs(feeder: &mut Feeder<'_, '_>, file: &Fields<'_, '_>) -> Result<Vec<OutputParts>, Diagnostic> {
    let json = feeder.json;
    let mut all = Vec::new();
    for (name, property) in file.members("outputs")? {
        let what = format!("output `{name}`");
        let fields = Fields::new(json, &property.value, &what, &["type", "from", "to"])?;
        let ty = type_of(json, &what, fields.need("type")?)?;
        let recipients = match fields.get("to") {
            None => Recipients::All,
            Some(value) => recipients(json, &what, value)?,
        };
        let mut links = Vec::new();
        feeder.links(&what, fields.need("from")?, ty.width(), None, &mut links)?;
        all.push((Port::new(name, ty), recipients, links));
    }
    match all.is_empty() {
        true => Err(json.error_at(file.value, "the program has no outputs")),
        false => Ok(all),
    }
}

fn recipients(json: JsonText<'_>, what: &str, value: &Value<'_>) -> Result<Recipients, Diagnostic> {
    let party =
        |value: &Value<'_>| number_of(json, &format!("{what}, to"), value, MAX_PARTY).map(|party| Party(party as u16));
    match value {
        Value::StringLit(text) if text.value == "all" => Ok(Recipients::All),
        Value::Array(list) => {
            let mut parties = list.elements.iter().map(party).collect::<Result<Vec<_>, _>>()?;
            parties.sort();
            parties.dedup();
            Ok(Recipients::Only(parties))
        }
        Value::NumberLit(_) => Ok(Recipients::Only(vec![party(value)?])),
        other => {
            let message =
                format!("{what}, to: expected \"all\", a party or a list of parties, got {}", describe(other));
            Err(json.error_at(value, message))
        }
    }
}

/// Orders the instances and adds them and the outputs to the program.
fn join(
    json: JsonText<'_>,
    mut program: Program,
    components: Vec<ComponentId>,
    mut feeds: Vec<Vec<Link>>,
    outputs: Vec<OutputParts>,
    label: impl Fn(usize) -> String,
) -> Result<Program, Diagnostic> {
    let instance = |link: &Link| if let Source::Instance(id) = link.source { Some(id.0 as usize) } else { None };
    let needs: Vec<Vec<usize>> = feeds.iter().map(|links| links.iter().filter_map(instance).collect()).collect();
    let sorted = order(&needs).map_err(|cycle| {
        let shown = cycle.iter().take(8).map(|&k| label(k)).collect::<Vec<_>>();
        let more = if cycle.len() > 8 { ", .." } else { "" };
        Diagnostic::new(json.file, format!("instances feed one another in a cycle: {}{more}", shown.join(" <- ")))
    })?;
    let mut moved = vec![InstanceId(0); sorted.len()];
    let rename = |moved: &[InstanceId], links: &mut [Link]| {
        for link in links {
            if let Source::Instance(id) = &mut link.source {
                *id = moved[id.0 as usize];
            }
        }
    };
    let failed = |e: garblet_circuit::CircuitError| Diagnostic::new(json.file, e.to_string());
    for k in sorted {
        rename(&moved, &mut feeds[k]);
        moved[k] = program.add_instance(components[k], &feeds[k]).map_err(failed)?;
    }
    for (port, recipients, mut links) in outputs {
        rename(&moved, &mut links);
        program.add_output(port, recipients, links).map_err(failed)?;
    }
    Ok(program)
}
