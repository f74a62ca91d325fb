//! Visits: a client of two servers of `outsourced`, by the file of their agreement.

use std::path::Path;

use garblet::{check_panics, library::PREFIX, results};
use garblet_client::{Heard, Invitation, Rejected, Server};
use garblet_console::{
    agreement::{Source, of_text},
    failure::Failure,
    hints::panic_failure,
    output::heard,
    visit::{ATTEMPTS, Answer, Asked, Client, Kept, Question, unanswered},
};
use js_sys::{Array, Uint8Array};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use zeroize::Zeroizing;

use crate::{
    code::{Code, Coded},
    error::{Thrown, failed, set, thrown, thrown_coded},
    program::described,
    run::values,
};

/// The options of a visit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    /// The agreement's name, for messages, and its text.
    name: String,
    text: String,
    program: String,
    /// Of the generator and the cloud.
    invitations: [String; 2],
    #[serde(default)]
    clients: Vec<String>,
    #[serde(default)]
    label: String,
    /// The text that earlier visits kept.
    memory: Option<String>,
    #[serde(default)]
    forget: bool,
}

/// A client of two servers, and what it keeps. *Secret*.
#[wasm_bindgen]
pub struct Visitor {
    client: Client,
    kept: Kept,
    question: Option<Question>,
    asked: Option<Asked>,
    attempts: usize,
}

#[wasm_bindgen]
impl Visitor {
    /// Reads the agreement, the invitations, and what earlier visits kept. `said` is a JSON object, `files` has the content of each program that the agreement
    /// names, as pairs of name and bytes.
    pub fn read(said: String, files: &Array) -> Result<Visitor, Thrown> {
        let said = Zeroizing::new(said);
        let wrong = |_| failed(&"options: expected the documented names and types, got others", "see garblet.d.ts");
        let said: Said = serde_json::from_str(&said).map_err(wrong)?;
        let place = Path::new(&said.name);
        // Warnings are for authors.
        let (agreement, _) = heard(|| of_text(place, &said.text, &|source| found(source, files)));
        let agreement = agreement.map_err(|failure| thrown_coded(&Coded::given(failure, Code::Agreement)))?;
        let [generator, cloud] = said.invitations.map(Zeroizing::new);
        let invitations = [invitation(Server::Generator, &generator)?, invitation(Server::Cloud, &cloud)?];
        let memory = said.memory.map(Zeroizing::new);
        let kept = memory.map(|text| Kept::read(Path::new("memory"), &text)).transpose();
        let kept = kept.map_err(|failure| thrown_coded(&Coded::given(failure, Code::Memory)))?.unwrap_or_default();
        let mut client = Client::new(agreement, invitations, said.program);
        (client.clients, client.label, client.give_up) = (said.clients, said.label, said.forget);
        Ok(Visitor { client, kept, question: None, asked: None, attempts: 0 })
    }

    /// A description of the program, of this client and of what the servers learn, as a JSON object.
    pub fn describe(&self) -> Result<String, Thrown> {
        let said = || Ok((described(self.client.asked()?), self.client.told()?));
        let (mut said, learn) = said().map_err(|failure: Failure| thrown(&failure))?;
        said["client"] = self.client.name().into();
        said["serversLearn"] = json!(learn);
        Ok(said.to_string())
    }

    /// Takes the inputs, a JSON object. Nothing is sent yet.
    pub fn give(&mut self, inputs: String) -> Result<(), Thrown> {
        let inputs = Zeroizing::new(inputs);
        let mut wrong = None;
        let question = self.client.question(&self.kept, |program, party| {
            values(program, party, &inputs, None).map_err(|thrown| {
                wrong = Some(thrown);
                Failure::call("inputs: expected others")
            })
        });
        self.question = Some(question.map_err(|failure| wrong.unwrap_or_else(|| thrown(&failure)))?);
        Ok(())
    }

    /// Shares the inputs anew between both servers. Store [`Visitor::memory`] before anything is sent.
    pub fn ask(&mut self) -> Result<(), Thrown> {
        let question = self.question.as_ref().ok_or_else(over)?;
        let asked = self.client.ask(question, &mut self.kept, &mut rand::rng());
        self.asked = Some(asked.map_err(|failure| thrown(&failure))?);
        self.attempts += 1;
        Ok(())
    }

    /// Takes up the last visit, whose answers have not arrived.
    pub fn resume(&mut self) -> Result<(), Thrown> {
        self.asked = Some(self.client.again(&self.kept).map_err(|failure| thrown(&failure))?);
        self.attempts = 1;
        Ok(())
    }

    /// The text that the client keeps. *Secret* while a visit is unanswered.
    #[wasm_bindgen(getter)]
    pub fn memory(&self) -> Result<String, Thrown> {
        self.kept.text().map_err(|error| failed(&format!("memory: {error}"), "please report it"))
    }

    /// The frame for the generator.
    #[wasm_bindgen(getter, js_name = toGenerator)]
    pub fn to_generator(&self) -> Result<Uint8Array, Thrown> {
        Ok(Uint8Array::from(&self.asked.as_ref().ok_or_else(over)?.frames[0][..]))
    }

    /// The frame for the cloud.
    #[wasm_bindgen(getter, js_name = toCloud)]
    pub fn to_cloud(&self) -> Result<Uint8Array, Thrown> {
        Ok(Uint8Array::from(&self.asked.as_ref().ok_or_else(over)?.frames[1][..]))
    }

    /// The most bytes that a frame of a server may have.
    #[wasm_bindgen(getter, js_name = frameBytesMax)]
    pub fn frame_bytes_max(&self) -> Result<usize, Thrown> {
        Ok(self.asked.as_ref().ok_or_else(over)?.visit.frame_bytes_max())
    }

    /// Hears a frame of a server, `generator` or `cloud`. Returns `waiting`, `answer` or `no-answer`; after the latter two the server
    /// says nothing more.
    pub fn hear(&mut self, server: &str, frame: &[u8]) -> Result<String, Thrown> {
        let known = Server::BOTH.into_iter().find(|known| known.to_string() == server);
        let server = known.ok_or_else(|| failed(&"server: expected generator or cloud", "name one of them"))?;
        let asked = self.asked.as_mut().ok_or_else(over)?;
        Ok(match asked.visit.hear(server, frame) {
            Heard::Waiting => "waiting",
            Heard::Answer => "answer",
            Heard::NoAnswer => "no-answer",
        }
        .into())
    }

    /// Opens the output, and returns the report as a JSON object, with what to keep from then on.
    ///
    /// An error has `isMoved` if the state has another version now: then the inputs can be shared again.
    pub fn open(&mut self) -> Result<String, Thrown> {
        let asked = self.asked.take().ok_or_else(over)?;
        match asked.open() {
            Ok(answer) => {
                self.kept.end(Some(answer.opened.receipt()));
                self.report(&answer).map_err(|failure| self.unsuccessful(&failure, Map::new()))
            }
            Err(rejected) => Err(self.rejected(&rejected)),
        }
    }
}

impl Visitor {
    fn report(&self, answer: &Answer) -> Result<String, Failure> {
        let (program, outputs) = (self.client.program_of(answer)?, self.client.outputs(answer)?);
        check_panics(program, &outputs).map_err(|error| panic_failure(&error))?;
        let mut said = json!(self.client.report(answer, &outputs, self.attempts)?);
        // As the outputs of other runs: numbers and texts, without their types.
        let known = results(program).filter_map(|(at, output)| Some((&output.port, outputs.get(at)?.as_ref()?)));
        let known = known.map(|(port, bits)| (port.name.clone(), garblet::formats::value::to_json(&port.ty, bits)));
        said["outputs"] = known.collect::<Map<String, Value>>().into();
        if let Some(said) = said.as_object_mut() {
            let learn = said.remove("servers_learn").unwrap_or_default();
            said.insert("serversLearn".into(), learn);
            said.insert("memory".into(), self.kept.text().map_err(Failure::no_result)?.into());
        }
        Ok(said.to_string())
    }

    fn rejected(&mut self, rejected: &Rejected) -> Thrown {
        let moved = match self.question.take() {
            Some(question) if self.attempts < ATTEMPTS => Client::moved(question, rejected),
            _ => None,
        };
        let is_moved = moved.is_some();
        self.question = moved;
        let mut more = Map::new();
        if let Rejected::Unanswered { generator, cloud } = rejected {
            let reply = |said: &garblet_client::Said| json!({ "code": said.code(), "isProven": said.is_proven() });
            more.insert("replies".into(), json!({ "generator": reply(generator), "cloud": reply(cloud) }));
        }
        more.insert("isNeverRun".into(), rejected.is_never_run().into());
        let failure = unanswered(&mut self.kept, rejected, &[]);
        let thrown = self.unsuccessful(&failure, more);
        set(&thrown, "isMoved", &JsValue::from(is_moved));
        thrown
    }

    /// The error of a visit without an output, with what to keep from then on.
    fn unsuccessful(&self, failure: &Failure, mut more: Map<String, Value>) -> Thrown {
        let thrown = thrown(failure);
        if let Ok(text) = self.kept.text() {
            more.insert("memory".into(), text.into());
        }
        set(&thrown, "recorded", &Value::Object(more).to_string().into());
        thrown
    }
}

/// The program that an agreement names, from the pairs of name and content.
fn found(source: &str, files: &Array) -> Result<Source, Failure> {
    let name = source.to_string();
    if source.starts_with(PREFIX) {
        return Ok(Source { name, content: None });
    }
    let mut pairs = files.iter().map(|pair| Array::from(&pair));
    let content = pairs.find(|pair| pair.get(0).as_string().as_deref() == Some(source));
    match content {
        Some(pair) => Ok(Source { name, content: Some(Uint8Array::new(&pair.get(1)).to_vec()) }),
        None => Err(Failure::call(format!("source: the content of {source} is missing"))
            .hint("give the content of each program that the agreement names, in `files`")),
    }
}

fn invitation(server: Server, text: &str) -> Result<Invitation, Thrown> {
    let wrong = |error: garblet_client::InvitationError| {
        let failure = Failure::call(format!("the invitation of the {server}: {error}")).hint(error.hint());
        thrown_coded(&Coded::given(failure, Code::Invitation))
    };
    Invitation::from_text(text).map_err(wrong)
}

fn over() -> Thrown {
    failed(&"the visit is over, or has not begun", "begin another one")
}
