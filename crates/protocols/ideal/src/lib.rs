//! `ideal`: the ideal functionality, for tests and to learn how a protocol is added. **It protects nothing from party 0**, the trusted
//! party of the ideal model, with which definitions of security compare a protocol.
//!
//! # Steps
//!
//! | phase | step | all other parties | party 0 |
//! |---|---|---|---|
//! | online | 1 | send their inputs | receives them |
//! | online | 2 | receive their outputs | evaluates, and sends each party its outputs |
//!
//! # Cost
//!
//! With `n_p` input and `m_p` output bits of party `p`: 8 bytes between every two parties each way, `n_p / 8` to party 0 and `m_p / 8` from it.
//! One round.

use std::{ops::RangeInclusive, sync::Arc};

use garblet_circuit::{Bits, Party, Program, ScheduleDigest, evaluate};
use garblet_net::{Hello, Mesh, PerPeer};

use garblet_protocol::{
    Adversary, Communication, MeshSession, Phase, Protocol, ProtocolError, Role, RunId, Security,
    bulk::check_padding_of,
    parameters::Parameter,
    party_io,
    protocol::{BoxedRole, Job, PhaseFormulas, Request, Sample, Step, Terms, tabulate},
    run_id::{RUN_ID_BYTES, RunExchanges},
};

/// The ideal functionality with party 0 as the trusted party.
pub struct Ideal;

/// The trusted party.
const TRUSTED: Party = Party(0);

impl Protocol for Ideal {
    type Link = Mesh;
    type Config = ();
    type Plan = ();
    type Order = ();

    const NAME: &'static str = "ideal";
    const ADVERSARY: Adversary = Adversary::SemiHonest;
    const PARTIES: RangeInclusive<u16> = 2..=8;
    const PARAMETERS: &'static [Parameter<()>] = &[];
    const SAMPLES: &'static [Sample] = &[&[]];

    fn plan(request: &Request<Self>) -> Result<(), ProtocolError> {
        party_io::check_party_count(Self::NAME, &request.program, request.parties, Self::PARTIES)
    }

    fn schedule((): &()) -> Option<ScheduleDigest> {
        None
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        let Request { program, parties, .. } = &job.request;
        let one_way = |phase, from: Party, to: Party| match phase {
            Phase::Setup => hellos[usize::from(from.0)].encoded_bytes(),
            Phase::Online => (RUN_ID_BYTES + message_bytes(program, from, to) + answer_bytes(program, from, to)) as u64,
            Phase::Prepare | Phase::Build => 0,
        };
        Ok(tabulate(*parties, |party, phase| {
            let rounds = u64::from(matches!(phase, Phase::Setup | Phase::Online));
            Some(Communication::among(*parties, party, |from, to| one_way(phase, from, to), rounds))
        }))
    }

    fn set_up<'a>(_: &'a mut MeshSession, terms: Terms<Self>) -> Step<'a, BoxedRole<Mesh>> {
        Box::pin(async move {
            let program = terms.job.request.program.clone();
            Ok::<BoxedRole<Mesh>, ProtocolError>(Box::new(IdealParty { program, party: terms.party, runs: 0 }))
        })
    }
}

/// One party of a session.
struct IdealParty {
    program: Arc<Program>,
    party: Party,
    /// The number of prepared runs.
    runs: u64,
}

impl Role<Mesh> for IdealParty {
    type Prepared = RunId;
    const NAME: &'static str = "party";

    fn security(&self) -> Security {
        Security::default()
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<RunId, ProtocolError> {
        session.enter(Phase::Prepare);
        self.runs += 1;
        Ok(RunId::Prepared(self.runs - 1))
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        run: RunId,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let (program, party) = (&*self.program, self.party);
        let own = party_io::own_input(program, party, values)?;
        session.enter(Phase::Online);
        // Step 1.
        let mesh = session.mesh();
        let sent = mesh.per_peer(|peer| if Party(peer) == TRUSTED { own.to_bytes() } else { Vec::new() });
        let mut inputs = mesh.per_peer(|peer| vec![0; message_bytes(program, Party(peer), party)]);
        RunExchanges::new(run).exchange(mesh, &sent, &mut inputs).await?;
        for (peer, bytes) in inputs.iter().filter(|_| party == TRUSTED) {
            check_padding_of(Party(peer), bytes, party_io::input_bits(program, Party(peer)))?;
        }
        // Step 2.
        let outputs = if party == TRUSTED { evaluate(program, &dealt(program, &own, &inputs)) } else { Vec::new() };
        let sent = mesh.per_peer(|peer| learned(program, Party(peer), &outputs).to_bytes());
        let mut answers = mesh.per_peer(|peer| vec![0; answer_bytes(program, Party(peer), party)]);
        mesh.exchange(&sent, &mut answers).await?;
        let known = match answers.get(TRUSTED.0) {
            Some(answer) => {
                check_padding_of(TRUSTED, answer, party_io::output_bits(program, party))?;
                Bits::from_bytes(answer)
            }
            None => learned(program, party, &outputs),
        };
        Ok(party_io::deal_outputs(program, party, &mut known.iter()))
    }
}

/// Bytes of step 1.
fn message_bytes(program: &Program, from: Party, to: Party) -> usize {
    if to == TRUSTED { party_io::input_bits(program, from).div_ceil(8) } else { 0 }
}

/// Bytes of step 2.
fn answer_bytes(program: &Program, from: Party, to: Party) -> usize {
    if from == TRUSTED { party_io::output_bits(program, to).div_ceil(8) } else { 0 }
}

/// The inputs of all parties, in program order.
fn dealt(program: &Program, own: &Bits, inputs: &PerPeer<Vec<u8>>) -> Vec<Bits> {
    let mut taken = std::collections::BTreeMap::new();
    let value = |input: &garblet_circuit::Input| {
        let all = inputs.get(input.owner.0).map_or_else(|| own.clone(), |bytes| Bits::from_bytes(bytes));
        let (start, width) = (taken.entry(input.owner.0).or_insert(0), input.port.width() as usize);
        *start += width;
        all.slice(*start - width, width)
    };
    program.inputs().iter().map(value).collect()
}

/// The outputs that a party learns, joined; `None` where they are not known.
fn learned(program: &Program, party: Party, outputs: &[Bits]) -> Bits {
    let mut joined = Bits::default();
    let learned = program.outputs().iter().zip(outputs).filter(|(output, _)| output.recipients.contains(party));
    learned.for_each(|(_, bits)| joined.append(bits));
    joined
}

#[cfg(test)]
mod tests;
