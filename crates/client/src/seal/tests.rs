use garblet_circuit::Bits;

use super::*;
use crate::testing::{CLIENT, answer, dealt, job, random_bits, rng, submissions};
use crate::{Identity, Statistical};

fn secret(seed: u128) -> Secret {
    Secret::random(&mut rng(seed))
}

fn a_job() -> Job {
    job(21, 10, Statistical::Forty)
}

/// The message of that counter to the cloud, sealed.
fn sealed(job: &Job, counter: u64) -> (Vec<u8>, ToServer, Pending) {
    let (_, to_c, pending) = dealt(job, &random_bits(21, 2), counter);
    (secret(1).seal_submission(&to_c, &mut rng(9)), to_c, pending)
}

fn open(
    job: &Job,
    sealed: &[u8],
    secret: &Secret,
    client: u16,
    server: Server,
    last: Option<u64>,
) -> Result<u64, SealError> {
    let opened = secret.open_submission(sealed, job, Party(client), server, last);
    opened.map(|submission| submission.place().counter)
}

#[test]
fn messages_open_at_their_place_alone() {
    let job = a_job();
    let (bytes, to_c, _) = sealed(&job, 5);
    assert_eq!(bytes.len(), to_c.payload().len() + SEAL_BYTES);
    let nonce = bytes[PLACE_BYTES..HEADER_BYTES].try_into().unwrap();
    let header = Header { direction: Direction::ToServer, job: *job.digest(), client: CLIENT, counter: 5, nonce };
    assert_eq!(Header::of(&bytes), Ok(header));
    assert_eq!(open(&job, &bytes, &secret(1), 1, Server::Cloud, Some(4)), Ok(5));
    assert_eq!(open(&job, &bytes, &secret(1), 1, Server::Cloud, None), Ok(5));
    let broken = Err(SealError::Broken { client: CLIENT });
    assert_eq!(open(&job, &bytes, &secret(2), 1, Server::Cloud, None), broken);
    assert_eq!(open(&job, &bytes, &secret(1), 1, Server::Generator, None), broken);
    let client = open(&job, &bytes, &secret(1), 2, Server::Cloud, None).unwrap_err();
    assert_eq!(client.to_string(), "sealed message, client: expected 2, got 1");
    let elsewhere = open(&crate::testing::job(21, 11, Statistical::Forty), &bytes, &secret(1), 1, Server::Cloud, None);
    assert!(matches!(elsewhere, Err(SealError::Elsewhere { field: "job", .. })));
}

#[test]
fn messages_that_are_sent_again_or_late_are_refused() {
    let job = a_job();
    let (bytes, ..) = sealed(&job, 5);
    for last in [5, 6, u64::MAX] {
        let again = open(&job, &bytes, &secret(1), 1, Server::Cloud, Some(last));
        assert_eq!(again, Err(SealError::Replayed { last, got: 5 }));
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_refused() {
    let job = a_job();
    let (bytes, ..) = sealed(&job, 5);
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(open(&job, &changed, &secret(1), 1, Server::Cloud, None).is_err(), "bit {bit}");
    }
    for cut in 0..bytes.len() {
        assert!(open(&job, &bytes[..cut], &secret(1), 1, Server::Cloud, None).is_err(), "{cut} bytes");
    }
}

#[test]
fn answers_open_for_their_submission_alone() {
    let job = a_job();
    let (to_g, to_c, pending) = dealt(&job, &random_bits(21, 2), 5);
    let (place, of) = (pending.place(Server::Cloud), submissions(&job, [&to_g, &to_c]));
    let answer = answer(&place, &of, &Bits::zeros(10), 0, 0).encode();
    let seal = |place: &Place| secret(1).seal_answer(place, &[6; 12], &answer, &mut rng(3));
    let open = |sealed: &[u8], server| secret(1).open_answer(sealed, server, &pending, &[6; 12]);
    assert_eq!(open(&seal(&place), Server::Cloud), Ok(answer.clone()));
    assert!(open(&seal(&place), Server::Generator).is_err());
    let counter = Place { counter: 4, ..place };
    let why = open(&seal(&counter), Server::Cloud).unwrap_err();
    assert_eq!(why.to_string(), "sealed message, counter: expected 5, got 4");
    // A client's own message does not come back as an answer.
    let own = secret(1).seal_submission(&to_c, &mut rng(3));
    let why = open(&own, Server::Cloud).unwrap_err();
    assert_eq!(why.to_string(), "sealed message, direction: expected ToClient, got ToServer");
    // Every bit of the submission's nonce counts.
    for bit in 0..96 {
        let mut other = [6; 12];
        other[bit / 8] ^= 1 << (bit % 8);
        let why = secret(1).open_answer(&seal(&place), Server::Cloud, &pending, &other).unwrap_err();
        assert_eq!(why, SealError::Broken { client: CLIENT }, "bit {bit}");
    }
}

#[test]
fn a_counter_that_is_used_twice_does_not_use_a_key_stream_twice() {
    let job = a_job();
    let (_, to_c, _) = dealt(&job, &random_bits(21, 2), 5);
    let [a, b] = [1, 2].map(|draws| secret(1).seal_submission(&to_c, &mut rng(draws)));
    assert_ne!(a[HEADER_BYTES..], b[HEADER_BYTES..]);
}

fn invitation() -> Invitation {
    Invitation::new(Identity([0xab; 32]), "Cloud of example.org", "Zoë", &mut rng(4)).ok().unwrap()
}

#[test]
fn invitations_are_read_as_they_were_printed() {
    let text = invitation().to_text();
    assert!(!text.contains(char::is_whitespace));
    let wrapped = format!("  {}\n {}\r\n", &text[..70], &text[70..].to_uppercase());
    for text in [&text[..], &wrapped] {
        let read = Invitation::from_text(text).ok().unwrap();
        assert_eq!(
            (read.server, &read.server_name[..], &read.client_name[..]),
            (Identity([0xab; 32]), "Cloud of example.org", "Zoë")
        );
        assert!(bool::from(read.secret.ct_eq(&invitation().secret)));
        assert!(!bool::from(read.secret.ct_eq(&secret(1))));
    }
}

#[test]
fn texts_that_are_not_the_whole_line_are_refused() {
    let text = invitation().to_text();
    let refused = |text: &str| Invitation::from_text(text).err().expect("refused");
    for cut in 0..text.len() {
        refused(&text[..cut]);
    }
    for at in text.find(':').unwrap() + 1..text.len() {
        let digit = if text.as_bytes()[at] == b'7' { "8" } else { "7" };
        assert_eq!(refused(&[&text[..at], digit, &text[at + 1..]].concat()), InvitationError::Check);
    }
    assert_eq!(refused("hello"), InvitationError::Prefix);
    assert_eq!(refused("garblet-invitation:0g"), InvitationError::Character { at: 2 });
    let long = format!("garblet-invitation:{}", "00".repeat(1000));
    assert_eq!(
        refused(&long).to_string(),
        "invitation: expected pairs of characters, at most 1166, got 2000 characters"
    );
    assert!(Invitation::new(Identity([0; 32]), "", "b", &mut rng(1)).is_err());
    let mut nameless = invitation();
    nameless.client_name.clear();
    assert_eq!(
        refused(&nameless.to_text()),
        InvitationError::Name { what: "name of the client", got: "nothing".into() }
    );
    // Names that look like another one, or turn the line in which they stand.
    for name in ["bo\u{202e}b", "bo\u{200b}b", "bo\u{200d}b", "\u{feff}bob"] {
        let refused = Invitation::new(Identity([0; 32]), "a", name, &mut rng(1)).map(drop).expect_err("hidden");
        assert!(refused.to_string().contains("direction or invisible characters, got `"), "{refused}");
    }
    assert!(Invitation::new(Identity([0; 32]), "a", &"b".repeat(256), &mut rng(1)).is_err());
}
