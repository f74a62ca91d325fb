use serde_json::Value;

use super::*;
use crate::testing::{CLIENT, Script, dealt, hex, job, random_bits, submissions, terms, with_state};
use crate::{Answer, FromServer, Identity, Reason, Refusal, Secret, Statistical, Submission, Submit, payload_bytes};

const VECTORS: &str = include_str!("../../../../vectors/outsourced_client.json");

/// The messages of an implementation that shares no code with this one.
#[test]
fn messages_are_those_of_the_known_answers() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    for case in vectors["cases"].as_array().unwrap() {
        let number = |name: &str| case[name].as_u64().unwrap();
        let statistical = Statistical::ALL.into_iter().find(|s| u64::from(s.bits()) == number("statistical")).unwrap();
        let (n, m) = (number("inputs") as usize, number("outputs") as usize);
        let plain = terms(n as u32, m as u32, statistical);
        let job = Job::new(if case["state"] == true { with_state(plain) } else { plain }).unwrap();
        assert_eq!(job.encode(), hex(&case["job"]));
        assert_eq!(job.digest()[..], hex(&case["digest"]));

        let input = cut(&hex(&case["input"]), n);
        let (to_g, to_c, pending) =
            deal(&job, CLIENT, number("counter"), &input, &mut Script(hex(&case["random"]))).unwrap();
        assert_eq!(to_g.payload(), hex(&case["to_generator"]));
        assert_eq!(to_c.payload(), hex(&case["to_cloud"]));

        let secret = Secret::from_bytes(hex(&case["secret"]).try_into().unwrap());
        let nonce = || Script(hex(&case["nonce"]));
        assert_eq!(secret.seal_submission(&to_c, &mut nonce()), hex(&case["sealed_to_cloud"]));
        let answer = hex(&case["answer"]);
        let place = pending.place(Server::Generator);
        let submission = hex(&case["submission_nonce"]).try_into().unwrap();
        let sealed = secret.seal_answer(&place, &submission, &answer, &mut nonce());
        assert_eq!(sealed, hex(&case["sealed_from_generator"]));
        let bytes = to_g.payload().len() + to_c.payload().len() + 2 * answer.len();
        assert_eq!(bytes, payload_bytes(n, m, statistical));
        assert_eq!(*pending.encode(), hex(&case["pending"]));
        let refusal = match case["state"] == true {
            true => Refusal::new(place.run(), Reason::StateVersion, &[Party(0), Party(2)]).with_state(4, [7; 32]),
            false => Refusal::new(place.run(), Reason::Policy, &[]),
        };
        assert_eq!(refusal.encode(), hex(&case["refusal"]));
        let identity = Identity::of_client(case["name"].as_str().unwrap());
        assert_eq!(identity.0[..], hex(&case["identity"]));
        let submit = Submit { job: hex(&case["job"]), client: identity, sealed: hex(&case["sealed_to_cloud"]) };
        assert_eq!(submit.encode(), hex(&case["frame_to_cloud"]));
        let sealed = FromServer::Sealed(hex(&case["sealed_from_generator"]));
        assert_eq!(sealed.encode(), hex(&case["frame_from_generator"]));
        assert!(pending.open(&answer, &answer).ok().unwrap().output == cut(&hex(&case["output"]), m));
    }
}

#[test]
fn bytes_are_as_the_formula_says() {
    for (statistical, fixed) in [(Statistical::Forty, 366), (Statistical::SixtyFour, 372), (Statistical::Eighty, 376)] {
        for (n, m) in [(0, 0), (1, 1), (7, 8), (8, 9), (64, 128), (1000, 333)] {
            let job = job(n as u32, m as u32, statistical);
            let (to_g, to_c, pending) = dealt(&job, &random_bits(n, 5), 1);
            let masked = Bits::zeros(m);
            let answer = Answer { run: pending.place(Server::Cloud).run(), version: 0, chain: [0; 32], masked };
            let bytes = to_g.payload().len() + to_c.payload().len() + 2 * answer.encode().len();
            assert_eq!(bytes, fixed + n.div_ceil(8) + 2 * m.div_ceil(8));
            assert_eq!(bytes, payload_bytes(n, m, statistical));
        }
    }
}

#[test]
fn shares_add_up_and_hashes_fit() {
    for (seed, (n, m)) in [(0, 0), (1, 1), (9, 0), (0, 9), (63, 65), (500, 70)].into_iter().enumerate() {
        for statistical in Statistical::ALL {
            let (job, input) = (job(n, m, statistical), random_bits(n as usize, seed as u128));
            let (to_g, to_c, _) = dealt(&job, &input, 7);
            let [of_g, of_c] = submissions(&job, [&to_g, &to_c]);
            let [own_g, own_c] = [of_g.expand(), of_c.expand()];
            assert!(sum(&own_g.share, &own_c.share) == input);
            let challenge_g = of_g.check_challenge(of_c.other_challenge()).ok().unwrap();
            let challenge_c = of_c.check_challenge(of_g.other_challenge()).ok().unwrap();
            assert!(challenge_g.hash(&own_g) == *of_c.other_hash());
            assert!(challenge_c.hash(&own_c) == *of_g.other_hash());
            assert_eq!(challenge_g.matrix().rows(), statistical.hash_bits());
            assert_eq!(of_c.other_matrix().columns(), (n + m) as usize);
        }
    }
}

#[test]
fn a_changed_bit_of_share_pad_or_mask_has_another_hash() {
    let job = job(70, 30, Statistical::Forty);
    let (to_g, to_c, _) = dealt(&job, &random_bits(70, 1), 1);
    let [of_g, of_c] = submissions(&job, [&to_g, &to_c]);
    let challenge = of_g.check_challenge(of_c.other_challenge()).ok().unwrap();
    for at in 0..70 + 30 + 48 {
        let mut own = of_g.expand();
        let (part, at) = match at {
            0..70 => (&mut own.share, at),
            70..100 => (&mut own.pad, at - 70),
            _ => (&mut own.mask, at - 100),
        };
        part.set(at, !part.get(at));
        assert!(challenge.hash(&own) != *of_c.other_hash());
    }
}

/// The matrix of blocks is that of bits: blocks that stand for bits have sums that stand for the hash.
#[test]
fn sums_of_blocks_are_the_hash_of_bits() {
    let job = job(90, 37, Statistical::SixtyFour);
    let (to_g, to_c, _) = dealt(&job, &random_bits(90, 1), 1);
    let [of_g, of_c] = submissions(&job, [&to_g, &to_c]);
    let own = of_g.expand();
    let blocks: Vec<Block> =
        [&own.share, &own.pad, &own.mask].iter().flat_map(|part| part.iter().map(Block::mask)).collect();
    let sums = of_g.check_challenge(of_c.other_challenge()).ok().unwrap().matrix().sums(&blocks);
    assert!(sums.iter().map(|sum| sum.lsb()).collect::<Bits>() == *of_c.other_hash());
    assert!(*of_c.other_matrix().sums(&blocks) == *sums);
}

#[test]
fn challenges_of_other_places_are_refused() {
    let job = job(8, 8, Statistical::Forty);
    let (to_g, to_c, _) = dealt(&job, &random_bits(8, 1), 1);
    let [of_g, of_c] = submissions(&job, [&to_g, &to_c]);
    let told = of_c.other_challenge();
    for bit in 0..128 {
        assert!(of_g.check_challenge(told ^ Block::from_u128(1 << bit)).is_err());
    }
    // That for the other server, and one of a run of another counter.
    let wrong = of_g.check_challenge(of_g.other_challenge()).err().unwrap();
    let text = "the challenge disclosed for client 1 is not the one that it committed to for the generator";
    assert_eq!(wrong.to_string(), text);
    let (to_g, to_c, _) = dealt(&job, &random_bits(8, 1), 2);
    let [_, other] = submissions(&job, [&to_g, &to_c]);
    assert!(of_g.check_challenge(other.other_challenge()).is_err());
    assert!(of_c.check_challenge(told).is_err());
}

/// With the same draws, the message to the generator differs between two inputs in the hash of the cloud's bits alone, which a mask
/// that the generator does not know hides; and that to the cloud in its share alone, which is uniform.
#[test]
fn a_server_sees_the_same_for_all_inputs_but_what_is_masked() {
    let job = job(40, 16, Statistical::Forty);
    let [a, b] = [random_bits(40, 1), random_bits(40, 2)].map(|input| dealt(&job, &input, 1));
    let hash_begins = 32 + 8 + 16 + 32 + 16;
    assert_eq!(a.0.payload()[..hash_begins], b.0.payload()[..hash_begins]);
    assert_ne!(a.0.payload()[hash_begins..], b.0.payload()[hash_begins..]);
    assert_eq!(a.1.payload()[..hash_begins + 6], b.1.payload()[..hash_begins + 6]);
    assert_ne!(a.1.payload()[hash_begins + 6..], b.1.payload()[hash_begins + 6..]);
}

/// Over all masks and shares of a small size, what either server sees is distributed equally for all inputs.
#[test]
fn views_are_equally_distributed_for_all_inputs() {
    let (n, m, h) = (3, 1, 2);
    let matrix = UniversalHash::new(h, n + m, Block::from_u128(11));
    let views = |input: u8| {
        let mut of_generator = vec![0; 1 << (n + h)];
        let mut of_cloud = vec![0; 1 << (n + h)];
        // The share and pad of the cloud, the mask, and the pad of the generator.
        for coins in 0u8..1 << (n + m + h) {
            let (share, pad, mask) = (coins & 7, coins >> n & 1, coins >> (n + m));
            let hash = |share: u8| matrix.of(&[share | pad << n | mask << (n + m)])[0];
            // The generator has its own share, and the hash of the cloud's; the cloud the other way round.
            of_generator[usize::from(share | hash(share ^ input) << n)] += 1;
            of_cloud[usize::from(share ^ input | hash(share) << n)] += 1;
        }
        (of_generator, of_cloud)
    };
    for input in 1..8 {
        assert_eq!(views(input), views(0));
    }
}

#[test]
fn submissions_of_other_jobs_clients_and_lengths_are_refused() {
    let (job, other) = (job(12, 8, Statistical::Forty), job(12, 8, Statistical::SixtyFour));
    let (to_g, to_c, _) = dealt(&job, &random_bits(12, 1), 1);
    let read = |bytes: &[u8], job: &Job, client, server| Submission::decode(bytes, job, Party(client), server).err();
    let error = read(to_g.payload(), &other, 1, Server::Generator).unwrap().to_string();
    assert!(error.starts_with("submission, byte 0, job: expected "), "{error}");
    for client in [0, 3, 4, u16::MAX] {
        let error = read(to_g.payload(), &job, client, Server::Generator).unwrap().to_string();
        assert_eq!(error, format!("submission, byte 0, client: expected 1 to 2, got {client}"));
    }
    assert!(read(to_c.payload(), &job, 2, Server::Cloud).is_some());
    assert!(read(to_c.payload(), &job, 1, Server::Generator).is_some());
    assert!(read(to_g.payload(), &job, 1, Server::Cloud).is_some());
    for cut in 0..to_c.payload().len() {
        assert!(read(&to_c.payload()[..cut], &job, 1, Server::Cloud).is_some());
    }
    let mut spare = to_c.payload().to_vec();
    *spare.last_mut().unwrap() |= 0x80;
    let error = read(&spare, &job, 1, Server::Cloud).unwrap().to_string();
    assert_eq!(error, "submission, byte 111, share: expected zeros after bit 12, got ones");
}

/// All that servers check of a submission before they compute.
fn accepted(of_g: &Submission, of_c: &Submission) -> bool {
    let fits = |of: &Submission, other: &Submission| {
        let challenge = of.check_challenge(other.other_challenge());
        challenge.is_ok_and(|challenge| challenge.hash(&of.expand()) == *other.other_hash())
    };
    of_g.place().run() == of_c.place().run() && fits(of_g, of_c) && fits(of_c, of_g)
}

/// Job, counter, seeds, commitments, challenges, hashes, share: each is held to something.
#[test]
fn every_flipped_bit_of_a_submission_is_refused() {
    let job = job(13, 9, Statistical::Forty);
    let (to_g, to_c, _) = dealt(&job, &random_bits(13, 1), 1);
    let [of_g, of_c] = submissions(&job, [&to_g, &to_c]);
    assert!(accepted(&of_g, &of_c));
    for (to, server) in [(&to_g, Server::Generator), (&to_c, Server::Cloud)] {
        for bit in 0..8 * to.payload().len() {
            let mut bytes = to.payload().to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(changed) = Submission::decode(&bytes, &job, CLIENT, server) else { continue };
            let accepted = match server {
                Server::Generator => accepted(&changed, &of_c),
                Server::Cloud => accepted(&of_g, &changed),
            };
            assert!(!accepted, "bit {bit} to the {server}");
        }
    }
}

/// Two counters, two clients or two jobs: shares of one do not go with those of the other.
#[test]
fn submissions_of_two_deals_do_not_go_together() {
    let job = job(13, 9, Statistical::Forty);
    let [a, b] = [1, 2].map(|counter| {
        let (to_g, to_c, _) = dealt(&job, &random_bits(13, 1), counter);
        submissions(&job, [&to_g, &to_c])
    });
    assert!(accepted(&a[0], &a[1]) && accepted(&b[0], &b[1]));
    assert!(!accepted(&a[0], &b[1]) && !accepted(&b[0], &a[1]));
}

#[test]
fn wrong_inputs_and_servers_are_no_clients() {
    let job = job(8, 8, Statistical::Forty);
    let refused = |client, len| {
        let input = random_bits(len, 1);
        deal(&job, Party(client), 1, &input, &mut Script(vec![0; 64])).err().unwrap().to_string()
    };
    assert_eq!(refused(1, 9), "input bits of client 1: expected 8, got 9");
    assert_eq!(refused(0, 8), "job, client: expected a number from 1 to 2, got 0");
    assert_eq!(refused(3, 8), "job, client: expected a number from 1 to 2, got 3");
}
