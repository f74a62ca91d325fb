use std::future::Future;
use std::time::Duration;

use garblet_net::testing::{every_fault, intercepted_pair};
use garblet_net::{Channel, memory_pair};
use garblet_ot::BitVec;
use garblet_primitives::{Block, Prg};
use proptest::prelude::*;

use super::*;
use crate::codeword::{Codeword, Rows};
use crate::combination::{Combination, Powers};
use crate::squares::SQUARE;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}

/// The random OTs of both parties.
fn seeds(code: Code) -> (Vec<[Block; 2]>, BitVec, Vec<Block>) {
    let mut rng = Prg::new(Block::from_u128(0x5eed));
    let pairs: Vec<[Block; 2]> = (0..code.length()).map(|_| [rng.next_block(), rng.next_block()]).collect();
    let choices = BitVec::random(code.length(), &mut rng);
    let chosen = pairs.iter().zip(choices.iter()).map(|(pair, choice)| pair[usize::from(choice.number())]).collect();
    (pairs, choices, chosen)
}

struct Parties {
    sender: CommitSender,
    receiver: CommitReceiver,
    rng: Prg,
    ours: Channel,
    theirs: Channel,
}

impl Parties {
    fn new(code: Code) -> Self {
        let (ours, theirs) = memory_pair();
        Parties::over(code, ours, theirs)
    }

    fn over(code: Code, mut ours: Channel, mut theirs: Channel) -> Self {
        ours.set_timeout(Duration::from_secs(5));
        theirs.set_timeout(Duration::from_secs(5));
        let (pairs, choices, chosen) = seeds(code);
        let sender = CommitSender::new(code, &pairs).unwrap();
        let receiver = CommitReceiver::new(code, &choices, &chosen).unwrap();
        Parties { sender, receiver, rng: Prg::new(Block::from_u128(0xa1fa)), ours, theirs }
    }

    fn try_commit(
        &mut self,
        n: usize,
    ) -> (Result<Vec<SenderShare>, CommitError>, Result<Vec<ReceiverShare>, CommitError>) {
        let sender = self.sender.commit(&mut self.ours, n);
        let receiver = self.receiver.commit(&mut self.theirs, &mut self.rng, n);
        block_on(async { tokio::join!(sender, receiver) })
    }

    fn commit(&mut self, n: usize) -> (Vec<SenderShare>, Vec<ReceiverShare>) {
        let (committed, watched) = self.try_commit(n);
        (committed.unwrap(), watched.unwrap())
    }

    fn commit_to(&mut self, messages: &[Block]) -> (Vec<SenderShare>, Vec<ReceiverShare>) {
        let sender = self.sender.commit_to(&mut self.ours, messages);
        let receiver = self.receiver.commit_to(&mut self.theirs, &mut self.rng, messages.len());
        let (committed, watched) = block_on(async { tokio::join!(sender, receiver) });
        (committed.unwrap(), watched.unwrap())
    }

    fn open(&mut self, committed: &[SenderShare], watched: &[ReceiverShare]) -> Result<Vec<Block>, CommitError> {
        let sender = self.sender.open(&mut self.ours, committed);
        let receiver = self.receiver.open(&mut self.theirs, watched);
        let (opened, messages) = block_on(async { tokio::join!(sender, receiver) });
        opened.unwrap();
        messages
    }

    fn open_batch(&mut self, committed: &[SenderShare], watched: &[ReceiverShare]) -> Result<Vec<Block>, CommitError> {
        let sender = self.sender.open_batch(&mut self.ours, committed);
        let receiver = self.receiver.open_batch(&mut self.theirs, &mut self.rng, watched);
        let (opened, messages) = block_on(async { tokio::join!(sender, receiver) });
        opened.unwrap();
        messages
    }
}

fn equal(a: &[Block], b: &[Block]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

fn messages(committed: &[SenderShare]) -> Vec<Block> {
    committed.iter().map(SenderShare::message).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sums_open_to_the_sums_of_messages(
        code in prop_oneof![Just(Code::Short), Just(Code::Bch312)],
        n in 1usize..300,
        sums in proptest::collection::vec(proptest::collection::vec(0usize..300, 1..5), 1..300),
    ) {
        let mut parties = Parties::new(code);
        let (committed, watched) = parties.commit(n);
        let sum = |places: &Vec<usize>| {
            let c = places.iter().fold(SenderShare::default(), |sum, &i| sum ^ committed[i % n]);
            let w = places.iter().fold(ReceiverShare::default(), |sum, &i| sum ^ watched[i % n]);
            (c, w)
        };
        let (committed, watched): (Vec<_>, Vec<_>) = sums.iter().map(sum).unzip();
        prop_assert!(equal(&parties.open(&committed, &watched).unwrap(), &messages(&committed)));
        prop_assert!(equal(&parties.open_batch(&committed, &watched).unwrap(), &messages(&committed)));
    }

    #[test]
    fn chosen_messages_open_and_add_to_random_ones(values in proptest::collection::vec(any::<u128>(), 0..200)) {
        let mut parties = Parties::new(Code::Short);
        let values: Vec<Block> = values.into_iter().map(Block::from_u128).collect();
        let (chosen, watched_chosen) = parties.commit_to(&values);
        prop_assert!(equal(&parties.open_batch(&chosen, &watched_chosen).unwrap(), &values));
        let (random, watched_random) = parties.commit(values.len());
        let both: Vec<SenderShare> = chosen.iter().zip(&random).map(|(&a, &b)| a ^ b).collect();
        let watched: Vec<ReceiverShare> = watched_chosen.iter().zip(&watched_random).map(|(&a, &b)| a ^ b).collect();
        let expected: Vec<Block> = values.iter().zip(&random).map(|(&value, c)| value ^ c.message()).collect();
        prop_assert!(equal(&parties.open(&both, &watched).unwrap(), &expected));
    }
}

#[test]
fn bytes_and_rounds_are_the_formulas() {
    for code in Code::ALL {
        for n in [0, 1, 128, 129, 10_000] {
            let mut parties = Parties::new(code);
            let (committed, watched) = parties.commit(n);
            let made = parties.ours.traffic();
            assert_eq!(made.bytes_sent, commit_bytes(code, n as u64));
            assert_eq!((made.bytes_received, made.rounds), (16, 1));
            parties.open(&committed, &watched).unwrap();
            let opened = parties.ours.traffic() - made;
            assert_eq!((opened.bytes_sent, opened.rounds), ((n * opening_bytes(code)) as u64, 0));
            let before = parties.ours.traffic();
            parties.open_batch(&committed, &watched).unwrap();
            let opened = parties.ours.traffic() - before;
            assert_eq!((opened.bytes_sent, opened.rounds), (batch_opening_bytes(code, n as u64), u64::from(n > 0)));
        }
    }
}

/// Two interleaved calls, as parties make them that do not wait for each other: challenges are answered in order.
#[test]
fn calls_may_overlap_and_be_recalled() {
    let sizes = [1, crate::squares::BATCH_SQUARES * 128 + 5];
    let mut parties = Parties::new(Code::Short);
    let first = parties.sender.position();
    let (committed, watched) = block_on(async {
        let Parties { sender, receiver, rng, ours, theirs } = &mut parties;
        let sends = async {
            let (a, pending_a) = sender.begin(ours, sizes[0]).await?;
            let second = sender.position();
            let (b, pending_b) = sender.begin(ours, sizes[1]).await?;
            sender.prove(ours, pending_a).await?;
            sender.prove(ours, pending_b).await?;
            let recalled = [sender.recall(first, sizes[0]), sender.recall(second, sizes[1])];
            for (committed, recalled) in [&a, &b].into_iter().zip(&recalled) {
                assert!(bytemuck::cast_slice::<_, u8>(committed) == bytemuck::cast_slice::<_, u8>(recalled));
            }
            let all = [a, b].concat();
            sender.claim_openings(ours, &all[..2]).await?;
            sender.claim_openings(ours, &all[2..]).await?;
            sender.prove_openings(ours, &all[..2]).await?;
            sender.prove_openings(ours, &all[2..]).await?;
            Ok::<_, CommitError>(all)
        };
        let receives = async {
            let a = receiver.receive(theirs, sizes[0]).await?;
            let a = receiver.challenge(theirs, rng, a).await?;
            let b = receiver.receive(theirs, sizes[1]).await?;
            let b = receiver.challenge(theirs, rng, b).await?;
            let all = [receiver.verify(theirs, a).await?, receiver.verify(theirs, b).await?].concat();
            let two = receiver.receive_openings(theirs, rng, &all[..2]).await?;
            let others = receiver.receive_openings(theirs, rng, &all[2..]).await?;
            Ok::<_, CommitError>(
                [receiver.verify_openings(theirs, two).await?, receiver.verify_openings(theirs, others).await?]
                    .concat(),
            )
        };
        tokio::join!(sends, receives)
    });
    let (committed, opened) = (committed.unwrap(), watched.unwrap());
    assert_eq!(opened.len(), sizes[0] + sizes[1]);
    assert!(committed.iter().zip(opened).all(|(committed, opened)| committed.message() == opened));
}

#[test]
fn messages_differ_from_call_to_call() {
    let mut parties = Parties::new(Code::Short);
    let (first, _) = parties.commit(1);
    let (second, _) = parties.commit(1);
    assert!(first[0].message() != second[0].message());
    assert!(first[0].message() != Block::ZERO);
}

/// A sender that stretches different seeds than the receiver corrects to words outside the code. An error at one bit goes
/// unnoticed where the receiver watches the other share. This gains nothing: one bit is far from another word.
#[test]
fn corrections_that_give_no_codewords_are_caught() {
    let code = Code::Short;
    let (pairs, choices, chosen) = seeds(code);
    let outcome = |wrong: &[usize]| {
        let mut pairs = pairs.clone();
        wrong.iter().for_each(|&j| pairs[j][1] ^= Block::ONES);
        let mut parties = Parties::new(code);
        parties.sender = CommitSender::new(code, &pairs).unwrap();
        parties.receiver = CommitReceiver::new(code, &choices, &chosen).unwrap();
        parties.try_commit(200).1
    };
    for j in [0, 1, 2, 3, 127, 128, 129, 200, 260, 261] {
        match choices.get(j).public("a test") {
            true => assert!(matches!(outcome(&[j]), Err(CommitError::Inconsistent)), "bit {j}"),
            false => assert!(outcome(&[j]).is_ok(), "bit {j}"),
        }
    }
    let parity: Vec<usize> = (128..262).collect();
    assert!(matches!(outcome(&parity), Err(CommitError::Inconsistent)));
}

#[test]
fn another_message_does_not_open() {
    let mut parties = Parties::new(Code::Short);
    let (mut committed, watched) = parties.commit(300);
    // Covers swaps that would change only the omitted combinations if the first coefficient were one.
    for index in [7, 70] {
        committed.swap(index, index + 1);
        assert!(
            matches!(parties.open(&committed, &watched), Err(CommitError::WrongOpening { index: at }) if at == index)
        );
        assert!(matches!(parties.open_batch(&committed, &watched), Err(CommitError::WrongBatch { count: 300 })));
        committed.swap(index, index + 1);
    }
    assert!(parties.open_batch(&committed, &watched).is_ok());
    let value = committed[3].message() ^ Block::from_u128(1);
    let (forged, _) = parties.commit_to(&[value]);
    committed[3] = forged[0];
    assert!(matches!(parties.open_batch(&committed, &watched), Err(CommitError::WrongBatch { count: 300 })));
}

/// If coefficients repeated after 128 squares (alpha squared from square to square), this error would cancel.
#[test]
fn equal_errors_in_squares_128_apart_do_not_cancel() {
    let mut error = vec![Codeword::default(); 129 * SQUARE];
    error[5] = Codeword::of(Code::Short, Block::ONES);
    error[128 * SQUARE + 5] = error[5];
    let rows = Rows::of(&error, |word| word);
    let mut rng = Prg::new(Block::from_u128(9));
    for _ in 0..20 {
        let mut combination = Combination::codewords(Code::Short);
        combination.add(&rows, &Powers::of(rng.next_block()).take(129));
        assert!(combination.0.iter().any(|&block| block != Block::ZERO));
    }
}

/// Whatever the connection does, both parties end, and commitments that both hold can still be opened.
#[test]
fn faults_of_the_connection_end_both_parties() {
    let run = |fault| {
        block_on(async {
            let (ours, theirs, transcript) = intercepted_pair(fault);
            let mut parties = Parties::over(Code::Short, ours, theirs);
            parties.ours.set_timeout(Duration::from_millis(50));
            parties.theirs.set_timeout(Duration::from_millis(50));
            let Parties { mut sender, mut receiver, mut rng, mut ours, mut theirs } = parties;
            let first = async {
                let made = sender.commit(&mut ours, 100).await;
                match &made {
                    Ok(committed) => sender.open_batch(&mut ours, committed).await,
                    Err(_) => {
                        ours.abort().await;
                        Ok(())
                    }
                }
            };
            let second = async {
                match receiver.commit(&mut theirs, &mut rng, 100).await {
                    Ok(watched) => receiver.open_batch(&mut theirs, &mut rng, &watched).await.map(|_| ()),
                    Err(error) => {
                        theirs.abort().await;
                        Err(error)
                    }
                }
            };
            (tokio::join!(first, second), transcript.frames())
        })
    };
    let ((first, second), transcript) = run(None);
    assert!(first.is_ok() && second.is_ok());
    assert!(transcript.len() >= 4);
    let refused = every_fault(&transcript).into_iter().filter(|&fault| run(Some(fault)).0.1.is_err()).count();
    assert!(refused > transcript.len(), "{refused} faults were noticed");
}

#[test]
fn seeds_must_be_as_many_as_bits() {
    let (pairs, choices, chosen) = seeds(Code::Bch312);
    let wrong = CommitSender::new(Code::Short, &pairs).err().unwrap().to_string();
    assert_eq!(wrong, "seeds of a commitment scheme: expected 262, got 312");
    assert!(CommitReceiver::new(Code::Short, &choices, &chosen[..262]).is_err());
    assert!(CommitReceiver::new(Code::Short, &BitVec::zeros(262), &chosen).is_err());
    assert!(CommitReceiver::new(Code::Short, &BitVec::zeros(262), &chosen[..262]).is_ok());
    assert!(CommitReceiver::new(Code::Bch312, &choices, &chosen).is_ok());
}
