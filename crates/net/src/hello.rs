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
pub const WIRE_VERSION: u32 = 2;
/// The name of a difference between wire versions.
pub const WIRE: &str = "wire version";

const MAGIC: [u8; 8] = *b"garblet\0";
const PARAMETERS_MAX: usize = 32;

/// The name of a parameter whose value may be open, with the value of hellos that do not name it.
pub type MayBeOpen = (&'static str, Option<&'static str>);

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
    /// Computes the program's parts, sent if programs differ.
    #[serde(skip)]
    description: Description,
    /// The fields of the job, sent if the peer has another.
    #[serde(skip)]
    job_fields: Description,
}

/// The parameter for a step other than running a program.
pub const STEP: &str = "step";

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
    let mut differences = Vec::new();
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
            let [ours, theirs] = [ours, theirs].map(|hello| values(hello, name));
            let tacit = |value: &Option<String>| value.clone().or_else(|| open?.1.map(Into::into)).unwrap_or_default();
            if open.is_none() || repeated || !fit(&tacit(&ours), &tacit(&theirs)) {
                let [ours, theirs] = [ours, theirs].map(|value| value.unwrap_or_else(|| "nothing".into()));
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

fn given<'a>(hello: &'a Hello, name: &str) -> impl Iterator<Item = &'a str> {
    let all = hello.parameters.iter().filter(move |(other, value)| other == name && !value.is_empty());
    all.map(|(_, value)| &value[..])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::memory_pair;
    use crate::parts::TEXT_BYTES_MAX;

    fn hello(party: u16) -> Hello {
        Hello::new("yao", party, 2, [7; 32]).with("scheme", "half-gates").with("batch", 1024)
    }

    fn fields(differences: &[Difference]) -> Vec<&str> {
        differences.iter().map(|difference| &difference.field[..]).collect()
    }

    async fn talk(left: &Hello, right: &Hello) -> [Result<Hello, NetError>; 2] {
        let (mut one, mut two) = memory_pair();
        tokio::join!(left.exchange(&mut one), right.exchange(&mut two)).into()
    }

    #[tokio::test]
    async fn parties_that_agree_learn_each_others_number() {
        let [left, right] = talk(&hello(0), &hello(1)).await;
        assert_eq!(left.expect("agrees").party, 1);
        assert_eq!(right.expect("agrees").party, 0);
    }

    #[tokio::test]
    async fn a_hello_received_ahead_is_still_judged_by_both() {
        for (answer, agreed) in [(hello(0), true), (hello(0).with("hash", "tmmo"), false)] {
            let (mut one, mut two) = memory_pair();
            let answering = async {
                let theirs = Hello::ahead(&mut one).await.expect("a hello");
                assert_eq!((theirs.parameter("scheme"), theirs.parameter("hash")), (Some("half-gates"), None));
                answer.exchange(&mut one).await
            };
            let theirs = hello(1);
            let (answered, asked) = tokio::join!(answering, theirs.exchange(&mut two));
            assert_eq!([answered.is_ok(), asked.is_ok()], [agreed; 2]);
        }
    }

    #[test]
    fn another_package_version_is_fine() {
        let theirs = Hello { package_version: "9.9.9".into(), ..hello(1) };
        assert_eq!(agree(&hello(0), &theirs), []);
    }

    #[tokio::test]
    async fn both_sides_name_each_difference() {
        let cases = [
            (WIRE, Hello { wire_version: WIRE_VERSION + 1, ..hello(1) }),
            ("protocol", Hello { protocol: "gmw".into(), ..hello(1) }),
            ("number of parties", Hello { party_count: 3, ..hello(1) }),
            ("program digest", Hello { program_digest: [8; 32], ..hello(1) }),
            ("batch", Hello { parameters: hello(1).parameters[..1].to_vec(), ..hello(1) }),
            ("hash", hello(1).with("hash", "tmmo")),
            ("batch", hello(1).with("batch", 2048)),
            ("party (must differ)", hello(0)),
        ];
        for (field, theirs) in cases {
            for result in talk(&hello(0), &theirs).await {
                match result {
                    Err(NetError::Incompatible { differences }) => assert_eq!(fields(&differences), [field]),
                    other => panic!("{field}: expected a difference, got {other:?}"),
                }
            }
        }
    }

    #[tokio::test]
    async fn both_sides_name_the_parts_in_which_their_programs_differ() {
        let with = |party, digest, parts: &[(&str, &str)]| {
            let parts: Vec<_> = parts.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
            Hello { program_digest: [digest; 32], ..hello(party) }.describing(move || parts.clone())
        };
        let left = with(0, 7, &[("source", "a"), ("constants", "N=8"), ("owners", "x of 0"), ("circuit", "1")]);
        let right = with(1, 8, &[("source", "a"), ("constants", "N=9"), ("owners", "x of 1"), ("circuit", "2")]);
        let [left, right] = talk(&left, &right).await.map(|result| result.unwrap_err().to_string());
        assert!(left.ends_with("; constants: ours N=8, theirs N=9; owners: ours x of 0, theirs x of 1"), "{left}");
        assert!(right.ends_with("; constants: ours N=9, theirs N=8; owners: ours x of 1, theirs x of 0"), "{right}");
    }

    fn under(hello: Hello, fields: &[(&str, &str)]) -> Hello {
        let fields: Vec<_> = fields.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        hello.under(&JobTerms { digest: format!("{fields:?}").len().to_string(), fields })
    }

    #[tokio::test]
    async fn both_sides_name_the_fields_in_which_their_jobs_differ() {
        let left = under(hello(0), &[("name", "a"), ("const N", "8"), ("party 0", "alice"), ("owner x", "0")]);
        let right = under(hello(1), &[("name", "abc"), ("const N", "8"), ("party 0", "alice"), ("to y", "all")]);
        let [left, right] = talk(&left, &right).await.map(|result| result.unwrap_err().to_string());
        let told =
            "job name: ours a, theirs abc; job owner x: ours 0, theirs nothing; job to y: ours nothing, theirs all";
        assert!(left.contains("job: ours 7") && left.ends_with(told), "{left}");
        assert!(right.contains("job name: ours abc, theirs a; "), "{right}");
    }

    #[test]
    fn a_step_given_twice_is_another_step() {
        let honest = hello(0);
        for (first, second) in [("run", "prepare"), ("prepare", "run"), ("run", "run")] {
            let twice = hello(1).with(STEP, first).with(STEP, second);
            assert_eq!(fields(&agree(&honest, &twice)), [STEP]);
            assert_eq!(fields(&agree(&twice, &honest)), [STEP]);
        }
        assert!(agree(&honest, &hello(1).with(STEP, "run")).is_empty());
    }

    #[tokio::test]
    async fn a_job_against_none_is_a_difference_and_the_only_one() {
        let with = under(hello(0), &[("name", "a")]);
        for [left, right] in
            [[with.clone(), hello(1)], [Hello { party: 0, ..hello(1) }, Hello { party: 1, ..with.clone() }]]
        {
            for result in talk(&left, &right).await {
                match result {
                    Err(NetError::Incompatible { differences }) => assert_eq!(fields(&differences), [JOB]),
                    other => panic!("expected a difference, got {other:?}"),
                }
            }
        }
        assert!(talk(&with, &Hello { party: 1, ..with.clone() }).await.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn fields_that_repeat_a_difference_are_left_out() {
        let with = |party, digest, constant: &str, name: &str| {
            let constants = vec![("constants".to_string(), format!("N={constant}"))];
            let hello = Hello { program_digest: [digest; 32], ..hello(party) }.describing(move || constants.clone());
            under(hello, &[("name", name), ("const N", constant), ("program", constant)])
        };
        let [left, _] = talk(&with(0, 7, "8", "a"), &with(1, 8, "9", "abc")).await;
        match left {
            Err(NetError::Incompatible { differences }) => {
                assert_eq!(fields(&differences), ["program digest", JOB, "constants", "job name"]);
            }
            other => panic!("expected differences, got {other:?}"),
        }
    }

    #[tokio::test]
    async fn parts_are_sent_only_if_programs_differ() {
        let never = |party| hello(party).describing(|| panic!("nobody asked"));
        assert!(talk(&never(0), &never(1)).await.iter().all(Result::is_ok));
        let other = never(1).with("hash", "tmmo");
        assert!(talk(&never(0), &other).await.iter().all(Result::is_err));
    }

    #[tokio::test]
    async fn parts_are_computed_once_for_all_peers() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let describe = || {
            MADE.fetch_add(1, Ordering::Relaxed);
            vec![("circuit".into(), "1".into())]
        };
        let ours = hello(0).describing(describe);
        for _ in 0..3 {
            let theirs = Hello { program_digest: [8; 32], ..hello(1) };
            assert!(talk(&ours.clone(), &theirs).await.iter().all(Result::is_err));
        }
        assert_eq!(MADE.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_peer_with_another_program_that_leaves_is_still_reported() {
        let (mut one, mut two) = memory_pair();
        let leaves = async {
            two.send(&Hello { program_digest: [8; 32], ..hello(1) }).await.expect("sent");
            two.receive::<Hello>().await.expect("a hello");
            drop(two);
        };
        let ours = hello(0);
        let (told, ()) = tokio::join!(ours.exchange(&mut one), leaves);
        match told {
            Err(NetError::Incompatible { differences }) => assert_eq!(fields(&differences), ["program digest"]),
            other => panic!("expected a difference, got {other:?}"),
        }
    }

    #[test]
    fn all_differences_are_named_at_once_with_both_views() {
        let theirs = Hello { protocol: "gmw".into(), program_digest: [8; 32], ..hello(0) };
        let differences = agree(&hello(0), &theirs);
        assert_eq!(fields(&differences), ["protocol", "program digest", "party (must differ)"]);
        let text = NetError::Incompatible { differences }.to_string();
        assert!(text.contains("protocol: ours yao, theirs gmw; program digest: ours 0707"), "{text}");
    }

    #[test]
    fn parameters_of_another_protocol_are_not_compared() {
        let theirs = Hello { protocol: "gmw".into(), ..hello(1).with("form", "2012") };
        assert_eq!(fields(&agree(&hello(0), &theirs)), ["protocol"]);
    }

    #[test]
    fn preparing_and_running_is_the_only_reported_difference() {
        let theirs = Hello { program_digest: [0; 32], ..hello(1).with(STEP, "prepare").with("count", 3) };
        let differences = agree(&hello(0), &theirs);
        let [difference] = &differences[..] else { panic!("{differences:?}") };
        assert_eq!(difference.to_string(), "step: ours run, theirs prepare");
        assert_eq!(agree(&hello(0).with(STEP, "prepare"), &hello(1).with(STEP, "prepare")), []);
    }

    #[test]
    fn an_empty_value_is_shown_as_nothing() {
        let differences = agree(&hello(0).with("keep", "first"), &hello(1).with("keep", ""));
        assert_eq!(differences[0].to_string(), "keep: ours first, theirs nothing");
    }

    #[test]
    fn an_empty_value_is_no_value_wherever_it_is_read() {
        let value = |hello: &Hello| hello.parameter("form").map(str::to_string);
        assert_eq!(value(&hello(1).with("form", "")), None);
        let twice = hello(1).with("form", "").with("form", "short");
        assert_eq!(value(&twice).as_deref(), Some("short"));
        let open = |tacit| hello(0).open_to(vec![("form", tacit)]).with("form", open_value(&["long", "short"]));
        assert_eq!(agree(&open(Some("long")), &hello(1).with("form", "")), []);
        assert_eq!(agree(&open(None), &twice), []);
        assert_eq!(fields(&agree(&open(None), &hello(1).with("form", ""))), ["form"]);
        // A step without a value is a run, as one that is not named.
        assert_eq!(agree(&hello(0), &hello(1).with(STEP, "")), []);
    }

    #[test]
    fn an_open_parameter_agrees_with_each_of_its_values_and_nothing_else_is_open() {
        let with = |name: &str, value: &str| hello(1).with(name, value);
        let text = open_value(&["half-gates", "three-halves"]);
        let closed = hello(0).with("form", &text).with(&told("link"), "1ms");
        assert_eq!(fields(&agree(&closed, &with("form", "three-halves"))), ["form"], "nobody said that it may be open");
        let open = closed.open_to(vec![("form", None)]);
        assert_eq!(agree(&open, &with("form", "three-halves")), []);
        assert_eq!(agree(&open, &with("form", &text)), []);
        for (first, second) in [(&text[..], &text[..]), (&text, "three-halves"), ("three-halves", &text)] {
            assert_eq!(fields(&agree(&open, &with("form", first).with("form", second))), ["form"], "given twice");
        }
        assert_eq!(fields(&agree(&open.clone().with("form", &text), &with("form", "three-halves"))), ["form"]);
        assert_eq!(fields(&agree(&open, &with("form", "grr3"))), ["form"]);
        assert_eq!(fields(&agree(&open, &with("form", &text.replace('1', "2")))), ["form"], "another rule");
        for name in ["batch", JOB, SCHEDULE, SESSION] {
            let ours = hello(0).open_to(vec![("form", None)]).with(name, "1");
            assert_eq!(fields(&agree(&ours, &with(name, &open_value(&["1"])))), [name]);
        }
        assert_eq!(fields(&agree(&hello(0), &Hello { protocol: "auto 1 (yao)".into(), ..hello(1) })), ["protocol"]);
    }

    #[test]
    fn an_open_parameter_agrees_with_its_value_that_is_not_named() {
        let open = |tacit| hello(0).open_to(vec![("form", tacit)]).with("form", open_value(&["long", "short"]));
        assert_eq!(agree(&open(Some("long")), &hello(1)), []);
        let closed = Hello { party: 1, ..hello(0) }.open_to(vec![("form", Some("long"))]);
        assert_eq!(agree(&closed, &Hello { party: 0, ..open(None) }), []);
        for tacit in [None, Some("middle")] {
            assert_eq!(agree(&open(tacit), &hello(1))[0].theirs, "nothing", "{tacit:?}");
        }
        assert_eq!(fields(&agree(&open(Some("long")), &hello(1).with("form", "middle"))), ["form"]);
    }

    #[test]
    fn a_party_beyond_the_count_is_refused() {
        assert_eq!(fields(&agree(&hello(0), &hello(2))), ["party"]);
    }

    #[tokio::test]
    async fn malformed_hellos_are_refused() {
        for bad in [
            Hello { magic: *b"GARBLET\0", ..hello(1) },
            Hello { protocol: "yao\u{1b}[2J".into(), ..hello(1) },
            Hello { protocol: "y".repeat(TEXT_BYTES_MAX + 1), ..hello(1) },
            hello(1).with("a\u{202e}b", ""),
            hello(1).with("a", "\u{2066}b\u{2029}"),
            Hello { parameters: vec![(String::new(), String::new()); PARAMETERS_MAX + 1], ..hello(1) },
        ] {
            assert!(bad.check().is_err());
            let (mut channel, _peer) = memory_pair();
            assert!(channel.send(&bad).await.is_err());
        }
    }
}
