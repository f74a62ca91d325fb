//! Visits for JavaScript.

use garblet_client::{self as client, Begun, Heard, Opened, Pending, Rejected, Server};
use js_sys::{Object, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use crate::error::{Thrown, failed, set, wrong};
use crate::{Invitation, Job, Receipt, array, bits, bytes};

/// A submission that both servers are to answer. *Secret*.
#[wasm_bindgen]
pub struct Visit {
    visit: Option<client::Visit>,
    frames: [Vec<u8>; 2],
    receipt: Option<Receipt>,
}

/// The output of a run. *Secret*.
#[wasm_bindgen]
pub struct Outcome(Opened);

#[wasm_bindgen]
impl Outcome {
    /// A 0 or 1 for each bit of all outputs of the client, in the program's order.
    #[wasm_bindgen(getter)]
    pub fn output(&self) -> Uint8Array {
        Uint8Array::from(&bytes(&self.0.output)[..])
    }

    /// True if a run that was to keep a state panicked: it has no result, and the state is unchanged.
    #[wasm_bindgen(getter, js_name = hasPanicked)]
    pub fn has_panicked(&self) -> bool {
        self.0.has_panicked()
    }

    /// The receipt of the run. Keep it for the next one.
    #[wasm_bindgen(getter)]
    pub fn receipt(&self) -> Receipt {
        Receipt(self.0.receipt().clone())
    }
}

#[wasm_bindgen]
impl Visit {
    /// Deals a client's input, a 0 or 1 for each bit of all its inputs in the program's order, to both servers.
    ///
    /// `seed` is 32 bytes of `crypto.getRandomValues`, new for each visit. Keep the receipt of the visit before you send
    /// anything.
    pub fn begin(
        job: &Job,
        generator: &Invitation,
        cloud: &Invitation,
        receipt: &Receipt,
        inputs: Vec<u8>,
        seed: Vec<u8>,
    ) -> Result<Visit, Thrown> {
        let (inputs, seed) = (Zeroizing::new(inputs), Zeroizing::new(seed));
        let (inputs, seed) = (bits(&inputs)?, Zeroizing::new(array(&seed, "seed")?));
        let begun = client::Visit::begin_from_seed(&job.0, [&generator.0, &cloud.0], &receipt.0, &inputs, &seed);
        let Begun { visit, receipt, to_generator, to_cloud } = begun.map_err(|error| failed(&error, error.hint()))?;
        let (visit, receipt) = (Some(visit), Some(Receipt(receipt)));
        Ok(Visit { visit, frames: [to_generator, to_cloud], receipt })
    }

    /// Resumes a saved visit ([`Visit::save`]) with the frames that were sent. `receipt` is the current one: the receipt of the
    /// outcome is never older.
    pub fn resume(
        saved: Vec<u8>,
        receipt: &Receipt,
        to_generator: Vec<u8>,
        to_cloud: Vec<u8>,
        generator: &Invitation,
        cloud: &Invitation,
    ) -> Result<Visit, Thrown> {
        let saved = Zeroizing::new(saved);
        let pending = Pending::decode(&saved).map_err(|error| failed(&error, error.hint()))?;
        let secrets = [&generator.0.secret, &cloud.0.secret];
        let visit = client::Visit::resume(pending, receipt.0.clone(), [&to_generator, &to_cloud], secrets);
        let visit = visit.map_err(|error| failed(&error, error.hint()))?;
        Ok(Visit { visit: Some(visit), frames: [to_generator, to_cloud], receipt: None })
    }

    /// The frame for the generator.
    #[wasm_bindgen(getter, js_name = toGenerator)]
    pub fn to_generator(&self) -> Vec<u8> {
        self.frames[0].clone()
    }

    /// The frame for the cloud.
    #[wasm_bindgen(getter, js_name = toCloud)]
    pub fn to_cloud(&self) -> Vec<u8> {
        self.frames[1].clone()
    }

    /// The receipt with the counter that this visit uses; none for a resumed visit.
    #[wasm_bindgen(getter)]
    pub fn receipt(&self) -> Option<Receipt> {
        self.receipt.clone()
    }

    /// The bytes to resume the visit after the page was closed. *Secret*: they and both answers reveal the output.
    pub fn save(&self) -> Result<Uint8Array, Thrown> {
        Ok(Uint8Array::from(&self.open_visit()?.pending().encode()[..]))
    }

    /// The most bytes that a frame of a server may have.
    #[wasm_bindgen(getter, js_name = frameBytesMax)]
    pub fn frame_bytes_max(&self) -> Result<usize, Thrown> {
        Ok(self.open_visit()?.frame_bytes_max())
    }

    /// Hears a frame of a server, `generator` or `cloud`. Returns `waiting`, `answer` or `no-answer`; after the latter two the server
    /// says nothing more.
    pub fn hear(&mut self, server: &str, frame: &[u8]) -> Result<String, Thrown> {
        let server = Server::BOTH.into_iter().find(|known| known.to_string() == server);
        let server =
            server.ok_or_else(|| wrong("server: expected `generator` or `cloud`", "name one of the servers"))?;
        let visit = self.visit.as_mut().ok_or_else(over)?;
        Ok(match visit.hear(server, frame) {
            Heard::Waiting => "waiting",
            Heard::Answer => "answer",
            Heard::NoAnswer => "no-answer",
        }
        .into())
    }

    /// Opens the output, and ends the visit.
    ///
    /// An error says what each server said, and has it for programs in `replies`, with codes of which `garblet-client.d.ts` has all. It has `stateVersion` if both servers refuse because the job's state has that version now,
    /// and `isNeverRun` if both prove that the submission had no effect. After any other error, keep what you have saved.
    pub fn open(&mut self) -> Result<Outcome, Thrown> {
        let visit = self.visit.take().ok_or_else(over)?;
        visit.open().map(Outcome).map_err(|why| rejected(&why))
    }
}

impl Visit {
    fn open_visit(&self) -> Result<&client::Visit, Thrown> {
        self.visit.as_ref().ok_or_else(over)
    }
}

fn over() -> Thrown {
    wrong("the visit is over", "begin another one")
}

fn rejected(why: &Rejected) -> Thrown {
    let thrown = failed(why, why.hint());
    if let Some((version, _)) = why.state_now() {
        set(&thrown, "stateVersion", &JsValue::from(version));
    }
    if why.is_never_run() {
        set(&thrown, "isNeverRun", &JsValue::from(true));
    }
    if let Rejected::Unanswered { generator, cloud } = why {
        let replies = Object::new();
        for (server, said) in Server::BOTH.into_iter().zip([generator, cloud]) {
            let reply = Object::new();
            set(&reply, "code", &said.code().into());
            set(&reply, "isProven", &said.is_proven().into());
            set(&replies, &server.to_string(), &reply);
        }
        set(&thrown, "replies", &replies);
    }
    thrown
}

#[cfg(test)]
mod tests {
    use client::{Reason, Said};

    use super::*;

    #[test]
    fn the_types_have_the_code_of_every_reason() {
        let types = include_str!("../../../web/garblet-client.d.ts");
        let (_, list) = types.split_once("export type ReplyCode =").expect("the list");
        let (list, _) = list.split_once(';').expect("its end");
        let listed: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        let others = [Said::Answer, Said::Nothing, Said::OtherRun].into_iter().map(|said| said.code());
        let codes: Vec<String> = others.chain(Reason::ALL.iter().copied().map(Reason::name)).collect();
        assert_eq!(listed, codes);
        assert_eq!(Reason::OldCounter.name(), "old-counter");
    }

    #[test]
    fn only_a_sealed_reply_is_proven() {
        let reply = |said: Said| (said.code(), said.is_proven());
        assert_eq!(reply(Said::Unproven(Reason::StateClosed)), ("state-closed".into(), false));
        let refusal = client::Refusal::new([0; 32], Reason::StateClosed, &[]);
        assert_eq!(reply(Said::Refusal(refusal)), ("state-closed".into(), true));
        assert_eq!(reply(Said::Nothing), ("silent".into(), false));
    }
}
