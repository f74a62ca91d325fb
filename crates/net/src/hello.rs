//! The first message each way: the sender's identity and plan, so that peers that disagree both report the differences.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::channel::Channel;
use crate::difference::Difference;
use crate::error::NetError;
use crate::message::Message;
use crate::parts::{self, Description, Parts};

/// The version of the wire format. It grows with every change that an older peer would misread.
pub const WIRE_VERSION: u32 = 3;
/// The name of a difference between wire versions.
pub const WIRE: &str = "wire version";

const MAGIC: [u8; 8] = *b"garblet\0";
const PARAMETERS_MAX: usize = 32;

/// The name of a parameter whose value may be open, with the value of hellos that do not name it.
pub type MayBeOpen = (&'static str, Option<&'static str>);

/// The name of a parameter whose value is a row of amounts, and the units of these.
pub type Amounts = (&'static str, &'static [&'static str]);

/// The statement on which both parties must agree before the first step of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    magic: [u8; 8],
    wire_version: u32,
    package_version: String,
    /// The number of this party; the parties of one run have different numbers.
    pub party: u16,
    /// The number of parties.
    pub party_count: u16,
    /// The protocol's name.
    pub protocol: String,
    /// Digest of the program.
    pub program_digest: [u8; 32],
    /// Everything else that has to be the same on both sides, by name, for instance `("scheme", "half-gates")`.
    pub parameters: Vec<(String, String)>,
    /// The parameters whose values may be open.
    #[serde(skip)]
    open: Vec<MayBeOpen>,
    /// The parameters whose values are amounts.
    #[serde(skip)]
    amounts: Vec<Amounts>,
    /// Computes the program's parts, sent if programs differ.
    #[serde(skip)]
    description: Description,
    /// The fields of the job, sent if the peer has another.
    #[serde(skip)]
    job_fields: Description,
}

/// The parameter for a step other than running a program.
pub const STEP: &str = "step";

/// The parameter with the amounts up to which stores are filled.
pub const AMOUNTS: &str = "amounts";

/// The parameter with the number of runs up to which stores are filled.
pub const COUNT: &str = "count";

/// The parameter with a digest of the amounts in a library, up to which stores are filled.
pub const COUNTS: &str = "counts";

/// The parameter with the percentage of the amounts below which stores are filled.
pub const LOW_WATER: &str = "low-water";

/// The parameter with a digest of the order of the program's gates.
pub const SCHEDULE: &str = "schedule";

/// The parameter that names the session.
pub(crate) const SESSION: &str = "session";

/// The parameter with the digest of a party's job, if it has one.
pub const JOB: &str = "job";

/// The name of a parameter that a party tells the others and that need not agree.
pub fn told(name: &str) -> String {
    format!("{TOLD}{name}")
}

const TOLD: &str = "told ";

/// The value of a parameter that is decided when all hellos are known, among these values.
pub fn open_value(values: &[&str]) -> String {
    format!("{OPEN}{}{CLOSE}", values.join(", "))
}

/// The number is that of the rule by which parties decide: whoever decides by another one is refused.
const OPEN: &str = "auto 1 (";
const CLOSE: char = ')';

/// Returns whether one of two values is open and has the other among its values.
fn fit(a: &str, b: &str) -> bool {
    let has = |open: &str, value: &str| {
        let values = open.strip_prefix(OPEN).and_then(|values| values.strip_suffix(CLOSE));
        values.is_some_and(|values| values.split(", ").any(|one| one == value))
    };
    has(a, b) || has(b, a)
}

/// A job, with which parties have agreed beforehand on everything about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobTerms {
    /// The digest, as text.
    pub digest: String,
    /// All fields that the digest covers; a name is the kind of field and its name within the kind.
    pub fields: Vec<(String, String)>,
}

/// A hello that was received ahead.
pub(crate) struct Heard {
    hello: Hello,
    /// The bytes to count at its turn: of its payload, and of its header.
    later: [u64; 2],
}

impl Hello {
    /// The hello of this build of the program. `package_version` is only for display and may differ between the sides;
    /// everything else must agree, except for the party's number.
    pub fn new(protocol: &str, party: u16, party_count: u16, program_digest: [u8; 32]) -> Self {
        Hello {
            magic: MAGIC,
            wire_version: WIRE_VERSION,
            package_version: env!("CARGO_PKG_VERSION").into(),
            party,
            party_count,
            protocol: protocol.into(),
            program_digest,
            parameters: Vec::new(),
            open: Vec::new(),
            amounts: Vec::new(),
            description: Description::default(),
            job_fields: Description::default(),
        }
    }

    /// Adds a function for the program's parts, by name: both sides send them if, and only if, their programs differ.
    #[must_use]
    pub fn describing(mut self, parts: impl Fn() -> Vec<(String, String)> + Send + Sync + 'static) -> Self {
        self.description = Description::new(parts);
        self
    }

    /// Adds this party's job; both sides send their jobs' fields if, and only if, the jobs differ.
    #[must_use]
    pub fn under(self, job: &JobTerms) -> Self {
        let (digest, fields) = (&job.digest, job.fields.clone());
        Hello { job_fields: Description::new(move || parts::of_job(&fields)), ..self.with(JOB, digest) }
    }

    /// Lets these parameters be open on either side: see [`open_value`].
    #[must_use]
    pub fn open_to(self, open: Vec<MayBeOpen>) -> Self {
        Hello { open, ..self }
    }

    /// Adds a parameter that must be equal on both sides, a row of amounts: a difference shows each with its unit.
    #[must_use]
    pub fn with_amounts(mut self, (name, units): Amounts, amounts: &[impl ToString]) -> Self {
        self.amounts.push((name, units));
        self.with(name, amounts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
    }

    /// The hello that counts in a choice, equally long for whoever reads it: without parameters, of which a session or a job may be one.
    #[must_use]
    pub fn bare(&self) -> Self {
        Hello { parameters: Vec::new(), ..self.clone() }
    }

    /// Adds a parameter that must be equal on both sides.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.parameters.push((name.into(), value.to_string()));
        self
    }

    /// Payload bytes of this message.
    pub fn encoded_bytes(&self) -> u64 {
        postcard::to_stdvec(self).map_or(0, |bytes| bytes.len() as u64)
    }

    /// The value of a parameter, the first one if it is given more than once. An empty text is no value.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        given(self, name).next()
    }

    /// Receives the peer's hello before sending one, so that an answering party can choose its reply; the following
    /// [`exchange`](Hello::exchange) knows it and counts it. Only one of two parties may wait like this. A second call
    /// returns the same hello.
    pub async fn ahead(channel: &mut Channel) -> Result<Hello, NetError> {
        if let Some(heard) = &channel.heard {
            return Ok(heard.hello.clone());
        }
        let (bytes, header_bytes) = (channel.bytes_received, channel.reader.header_bytes);
        let hello = channel.receive_unless_refused::<Hello>().await?;
        let later = [channel.bytes_received - bytes, channel.reader.header_bytes - header_bytes];
        (channel.bytes_received, channel.reader.header_bytes) = (bytes, header_bytes);
        channel.heard = Some(Box::new(Heard { hello: hello.clone(), later }));
        Ok(hello)
    }

    /// Exchanges hellos. Returns the peer's if the two agree and have different party numbers.
    ///
    /// *Cost:* one round. *Errors:* [`NetError::Incompatible`] with every difference, on both sides, since both send
    /// everything before either judges.
    pub async fn exchange(&self, channel: &mut Channel) -> Result<Hello, NetError> {
        let theirs = self.greet(channel).await?;
        self.judge(theirs, channel).await
    }

    /// Exchanges hellos without judging the peer's. If its program or job differs, also sends the parts of ours.
    pub async fn greet(&self, channel: &mut Channel) -> Result<Hello, NetError> {
        channel.send(&*self.on(channel)).await?;
        let theirs = match channel.heard.take() {
            Some(heard) => {
                let [bytes, header_bytes] = heard.later;
                channel.bytes_received += bytes;
                channel.reader.header_bytes += header_bytes;
                channel.count_wait();
                channel.flush().await?;
                heard.hello
            }
            None => channel.receive_unless_refused::<Hello>().await?,
        };
        if let Some(parts) = self.parts_for(&theirs)
            && channel.send(&parts).await.is_ok()
        {
            // A peer that has already left still had another program: report that.
            let _ = channel.flush().await;
        }
        Ok(theirs)
    }

    /// Judges the hello received by [`greet`](Hello::greet), as [`exchange`](Hello::exchange) does.
    pub async fn judge(&self, theirs: Hello, channel: &mut Channel) -> Result<Hello, NetError> {
        let mut differences = agree(&self.on(channel), &theirs);
        if let Some(ours) = self.parts_for(&theirs)
            // Report that the programs differ, whatever the peer does next.
            && let Ok(parts) = channel.receive::<Parts>().await
        {
            differences.extend(parts::differences(&ours, &parts));
            parts::leave_out_told_twice(&mut differences);
        }
        if differences.is_empty() { Ok(theirs) } else { Err(NetError::Incompatible { differences }) }
    }

    /// The hello on a channel that may belong to a session.
    pub(crate) fn on(&self, channel: &Channel) -> Cow<'_, Hello> {
        match &channel.session {
            Some(session) => Cow::Owned(self.clone().with(SESSION, session)),
            None => Cow::Borrowed(self),
        }
    }

    /// Our parts, if both sides want to do the same with different programs or jobs; both sides decide this alike.
    fn parts_for(&self, theirs: &Hello) -> Option<Parts> {
        let alike =
            self.wire_version == theirs.wire_version && self.protocol == theirs.protocol && step(self) == step(theirs);
        let program = self.program_digest != theirs.program_digest;
        // A peer without a job has no fields to compare.
        let job = self.parameter(JOB).zip(theirs.parameter(JOB)).is_some_and(|(ours, theirs)| ours != theirs);
        let of = |wanted: bool, parts: &Description| if wanted { parts.parts().clone() } else { Parts::default() };
        (alike && (program || job)).then(|| of(program, &self.description).and(of(job, &self.job_fields)))
    }
}

impl Message for Hello {
    const NAME: &'static str = "hello";
    const KIND: u8 = 0;
    const MAX_BYTES: usize = 16 << 10;

    fn check(&self) -> Result<(), String> {
        if self.magic != MAGIC {
            return Err("another program's hello".into());
        }
        if self.parameters.len() > PARAMETERS_MAX {
            return Err(format!("{} parameters, expected at most {PARAMETERS_MAX}", self.parameters.len()));
        }
        let parameters = self.parameters.iter().flat_map(|(name, value)| [name, value]);
        parts::check_texts([&self.package_version, &self.protocol].into_iter().chain(parameters))
    }
}

/// All differences between two hellos; empty if the parties can work together. If their steps differ, programs and parameters are not compared,
/// since those of one step mean nothing to the other.
pub fn agree(ours: &Hello, theirs: &Hello) -> Vec<Difference> {
    let (mut differences, amounts) = (Vec::new(), &ours.amounts);
    let mut note = |field: &str, ours: String, theirs: String| {
        differences.push(Difference { field: field.into(), ours, theirs });
    };
    let mut same = |field: &str, ours: String, theirs: String| {
        let differ = ours != theirs;
        if differ {
            note(field, ours, theirs);
        }
        !differ
    };
    if ours.wire_version != theirs.wire_version {
        let version = |hello: &Hello| format!("{} (garblet {})", hello.wire_version, hello.package_version);
        same(WIRE, version(ours), version(theirs));
    }
    let same_protocol = same("protocol", ours.protocol.clone(), theirs.protocol.clone());
    same("number of parties", ours.party_count.to_string(), theirs.party_count.to_string());
    if same(STEP, step(ours), step(theirs)) {
        same("program digest", hex(&ours.program_digest), hex(&theirs.program_digest));
        let all = ours.parameters.iter().chain(&theirs.parameters).filter(|_| same_protocol);
        let mut names: Vec<&str> =
            all.map(|(name, _)| &name[..]).filter(|name| *name != STEP && !name.starts_with(TOLD)).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let open = ours.open.iter().find(|(open, _)| *open == name);
            // What is given more than once is not open, even if each value is.
            let repeated = [ours, theirs].iter().any(|hello| given(hello, name).count() > 1);
            let said = |hello| values(hello, name).or_else(|| open?.1.map(Into::into));
            let [ours, theirs] = [ours, theirs].map(said);
            let [own, other] = [&ours, &theirs].map(|value| value.as_deref().unwrap_or_default());
            if open.is_none() || repeated || !fit(own, other) {
                let shown = |value| with_units(amounts, name, value);
                let [ours, theirs] = [ours, theirs].map(|value| value.map_or("nothing".into(), shown));
                same(name, ours, theirs);
            }
        }
    }
    if ours.party == theirs.party {
        note("party (must differ)", ours.party.to_string(), theirs.party.to_string());
    } else if ours.party_count == theirs.party_count && theirs.party >= theirs.party_count {
        note("party", ours.party.to_string(), format!("{} of {}", theirs.party, theirs.party_count));
    }
    differences
}

/// A party's next step; if it names more than one, all of them.
fn step(hello: &Hello) -> String {
    values(hello, STEP).unwrap_or_else(|| "run".into())
}

/// The value of a parameter, if it is given; if it is given more than once, all its values.
fn values(hello: &Hello, name: &str) -> Option<String> {
    let values: Vec<&str> = given(hello, name).collect();
    (!values.is_empty()).then(|| values.join(" and "))
}

/// A parameter's value, with their units if it is a row of amounts.
fn with_units(amounts: &[Amounts], name: &str, value: String) -> String {
    let numbers: Vec<&str> = value.split(", ").collect();
    match amounts.iter().find(|(of, units)| *of == name && units.len() == numbers.len()) {
        Some((_, units)) => {
            numbers.iter().zip(*units).map(|(number, unit)| format!("{number} {unit}")).collect::<Vec<_>>().join(", ")
        }
        None => value,
    }
}

fn given<'a>(hello: &'a Hello, name: &str) -> impl Iterator<Item = &'a str> {
    let all = hello.parameters.iter().filter(move |(other, value)| other == name && !value.is_empty());
    all.map(|(_, value)| &value[..])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
