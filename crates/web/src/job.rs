//! Jobs for JavaScript.

use garblet_circuit::Party;
use garblet_client as client;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::{Thrown, failed};
use crate::{Invitation, identity};

/// The terms of a run, on which its parties agree.
#[wasm_bindgen]
pub struct Job(pub(crate) client::Job);

/// An input or an output of the program.
#[wasm_bindgen]
pub struct Port {
    name: String,
    ty: String,
    width: u32,
}

/// A state that the servers keep.
#[wasm_bindgen]
pub struct State {
    name: String,
    version: u64,
}

#[wasm_bindgen]
impl Port {
    /// The name in the program.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The type, as programs write it.
    #[wasm_bindgen(getter, js_name = type)]
    pub fn ty(&self) -> String {
        self.ty.clone()
    }

    /// The number of bits.
    #[wasm_bindgen(getter)]
    pub fn width(&self) -> u32 {
        self.width
    }
}

#[wasm_bindgen]
impl State {
    /// The name.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The version that it has after the run.
    #[wasm_bindgen(getter)]
    pub fn version(&self) -> u64 {
        self.version
    }
}

#[wasm_bindgen]
impl Job {
    /// Reads a job from an untrusted sender.
    pub fn decode(bytes: &[u8]) -> Result<Job, Thrown> {
        client::Job::decode(bytes).map(Job).map_err(|error| failed(&error, error.hint()))
    }

    /// The job as bytes, always the same.
    pub fn encode(&self) -> Vec<u8> {
        self.0.encode().to_vec()
    }

    /// The digest by which parties check that they run the same job.
    #[wasm_bindgen(getter)]
    pub fn digest(&self) -> Vec<u8> {
        self.0.digest().to_vec()
    }

    /// Words that help people to tell jobs apart.
    #[wasm_bindgen(getter)]
    pub fn label(&self) -> String {
        self.0.terms().label.clone()
    }

    /// The number of the client with that identity, if the job has it.
    #[wasm_bindgen(js_name = clientNumber)]
    pub fn client_number(&self, bytes: &[u8]) -> Result<Option<u16>, Thrown> {
        Ok(self.0.client(&identity(bytes)?).map(|party| party.0))
    }

    /// The state that the answers speak of, if the job has one.
    #[wasm_bindgen(getter)]
    pub fn state(&self) -> Option<State> {
        self.0.state().map(|(name, version)| State { name: name.into(), version })
    }

    /// The job for the current version of a state, which is zero before the first one: the job reads that version, and
    /// keeps the next one.
    #[wasm_bindgen(js_name = atVersion)]
    pub fn at_version(&self, state: &str, version: u64) -> Result<Job, Thrown> {
        let moved = client::Job::new(self.0.terms().clone().at_version(state, version));
        moved.map(Job).map_err(|error| failed(&error, error.hint()))
    }

    /// The inputs of an invited client, in the program's order.
    #[wasm_bindgen(js_name = inputsOf)]
    pub fn inputs_of(&self, invitation: &Invitation) -> Vec<Port> {
        ports(self.party(invitation).into_iter().flat_map(|party| self.0.inputs_of(party)))
    }

    /// The outputs of an invited client, in the program's order.
    #[wasm_bindgen(js_name = outputsOf)]
    pub fn outputs_of(&self, invitation: &Invitation) -> Vec<Port> {
        ports(self.party(invitation).into_iter().flat_map(|party| self.0.outputs_of(party)))
    }
}

impl Job {
    fn party(&self, invitation: &Invitation) -> Option<Party> {
        self.0.client(&invitation.0.identity())
    }
}

fn ports<'a>(ports: impl Iterator<Item = &'a garblet_circuit::Port>) -> Vec<Port> {
    let port =
        |port: &garblet_circuit::Port| Port { name: port.name.clone(), ty: port.ty.to_string(), width: port.width() };
    ports.map(port).collect()
}
