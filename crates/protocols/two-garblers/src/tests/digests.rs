//! A refusal states both digests that differ.

use garblet_net::testing::intercepted_mesh;
use garblet_protocol::{
    checks::{Digests, Refused},
    run_id::RUN_ID_BYTES,
};
use garblet_runs::testing::mesh_run::sent;

use super::*;

/// Flips the lowest bit of a byte of a step.
struct Flip(Option<(Step, usize)>);

impl Conduct<Step> for Flip {
    fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
        if let Some((_, place)) = self.0.filter(|(flipped, _)| *flipped == step) {
            bytes[place] ^= 1;
        }
    }
}

/// The digests in the refusal of a party, if another one flips a bit, and what that one has sent it.
fn refused(plan: &Arc<Plan>, (party, flip): (u16, (Step, usize)), finder: u16) -> (Option<Digests>, Vec<u8>) {
    let part = async |session: &mut MeshSession| {
        let own = session.mesh().party();
        let conduct = Flip((own == party).then_some(flip));
        set_up_with(session, plan, conduct).await?.run(session, &[Bits::zeros(1)]).await
    };
    let (mut ends, transcripts) = block_on(async {
        let (meshes, transcripts) = intercepted_mesh(3, None);
        (mesh_run::run(meshes, 15, TIMEOUT, part).await, transcripts)
    });
    match ends.swap_remove(finder.into()) {
        Err(ProtocolError::Refused(Refused { digests, .. })) => (digests, sent(&transcripts, party, finder)),
        end => panic!("{flip:?}: {end:?}"),
    }
}

#[test]
fn a_refusal_states_the_digest_that_was_sent_and_the_one_that_was_computed() {
    let plan = plan(&circuit([1, 1, 1], vec![Gate::And(Wire(0), Wire(1))], vec![Wire(3)]), Build::Stream);
    let before = |seat| {
        let prepared = if seat == 0 { commitments::message_bytes(&plan) } else { meeting::WORD_BYTES };
        2 * meeting::WORD_BYTES + prepared + RUN_ID_BYTES + 16 * plan.held_bits(seat) + plan.table_bytes(seat) as usize
    };
    // After the nonce comes the name, and after the digest of tables the key of decoding bits.
    let key_digest = |seat| before(seat) + meeting::WORD_BYTES + 16;
    let cases = [
        ((0, (Step::Name, 0)), 1, meeting::WORD_BYTES),
        ((1, (Step::Name, 0)), 2, 2 * meeting::WORD_BYTES),
        ((2, (Step::CommitmentsDigest, 0)), 0, 2 * meeting::WORD_BYTES),
        ((1, (Step::TablesDigest, 0)), 0, before(0)),
        ((2, (Step::TablesDigest, 0)), 0, before(1)),
        ((1, (Step::Decoding, 16)), 0, key_digest(0)),
        ((2, (Step::Decoding, 16)), 0, key_digest(1)),
    ];
    for (cheat, finder, place) in cases {
        let (digests, heard) = refused(&plan, cheat, finder);
        let Digests { expected, got } = digests.unwrap_or_else(|| panic!("{cheat:?}"));
        let mut sent: [u8; 8] = heard[place..][..8].try_into().expect("eight bytes");
        // A name is compared with this party's own.
        let is_name = cheat.1.0 == Step::Name;
        assert_eq!(if is_name { got } else { expected }, sent, "{cheat:?}");
        sent[0] ^= 1;
        assert_eq!(if is_name { expected } else { got }, sent, "{cheat:?}");
    }
}

/// Masked bits are no digests, so they are not shown.
#[test]
fn decoding_bits_that_differ_are_not_shown() {
    let plan = plan(&circuit([1, 1, 1], vec![Gate::And(Wire(0), Wire(1))], vec![Wire(3)]), Build::Stream);
    assert_eq!(refused(&plan, (2, (Step::Decoding, 48)), 0).0, None);
}
