//! Two steps of the paper as a literal reading has them, carried out and broken.

use garblet::{
    Honest,
    outsourced::partialgc::{
        Circuits, Config,
        as_published::{Found, Spoiler, forwarded_blinds, read_of_literal, read_of_ours},
    },
};
use garblet_circuit::{Bits, InputId, Party, Program, Recipients};
use garblet_console::failure::Failure;
use garblet_primitives::Prg;
use garblet_synthesis::library;
use rand::seq::SliceRandom;
use serde_json::{Value, json};

use super::{
    in_memory::{Ended, Run, States, plan},
    programs::{CLIENT, CLOUD, GENERATOR},
};
use crate::page::{Form, Piece};

/// The number of circuits; a generator that guesses is caught except with probability 2^-21.3.
const CIRCUITS: Circuits = Circuits::SixtyFour;
/// Bits of the generator's input.
const BITS: usize = 32;
/// The values that generator and client give.
const SUMMANDS: [u128; 2] = [40, 2];

/// Carries out both attacks, on the literal steps and on ours.
///
/// *Errors*: an attack that comes to another end than it must; a result that cannot be written.
pub(super) fn run(form: &Form) -> Result<(), Failure> {
    let (chain, chain_text) = key_chain()?;
    let (split, split_text) = split()?;
    form.show(&json!({ "key_chain": chain, "split": split }), vec![Piece::Words(format!("{chain_text}\n{split_text}"))])
}

fn bug(what: &str) -> Failure {
    Failure::no_result(format!("{what}: this is a bug"))
}

/// The client of a run reads the secrets of the next one.
fn key_chain() -> Result<(Value, String), Failure> {
    let (mut rng, circuits) = (Prg::random(&mut rand::rng()), CIRCUITS.count());
    let literal = read_of_literal(circuits, BITS, &mut rng);
    let [ours, _] = read_of_ours(circuits, BITS, &mut rng);
    if literal != (Found { seeds: circuits, inputs: circuits }) || ours != Found::default() {
        return Err(bug("the chain of keys"));
    }
    let value = |found: Found| json!({ "seeds_read": found.seeds, "inputs_read": found.inputs });
    let text = format!(
        "keys of the next run as hashes that the client was told, {circuits} circuits\n\
         by these, the client of the run before reads: {} seeds, and the generator's input of {BITS} bits in {} circuits\n\
         in our form, by all that was known of the run before: {} seeds, and the input in {} circuits\n",
        literal.seeds, literal.inputs, ours.seeds, ours.inputs
    );
    Ok((json!({ "circuits": circuits, "as_published": value(literal), "ours": value(ours) }), text))
}

/// A generator that was told the split garbles what it likes; one that was not is found out.
fn split() -> Result<(Value, String), Failure> {
    let program = sum_for_the_cloud()?;
    let (states, right) = first_run(&program)?;
    let Some(cloud) = &states.1 else { return Err(bug("a run without a state")) };
    // As published, the cloud's words to the client of the first run.
    let told: Vec<usize> = forwarded_blinds(cloud).evaluated().collect();
    let wrong = sum_of(second_run(&program, states, told.clone())?)?;
    if wrong == right {
        return Err(bug("a circuit that was changed"));
    }
    // Half of those that are evaluated, and one more.
    let most = CIRCUITS.evaluated().div_ceil(2);
    let mut guess: Vec<usize> = (0..CIRCUITS.count()).collect();
    guess.shuffle(&mut rand::rng());
    guess.truncate(most);
    let said = match second_run(&program, first_run(&program)?.0, guess) {
        Ok(_) => {
            return Err(Failure::no_result(format!(
                "the generator has guessed {most} circuits, with probability 2^-21.3"
            )));
        }
        Err(failure) => failure.message,
    };
    let (circuits, known) = (CIRCUITS.count(), told.len());
    let text = format!(
        "blinds passed on by the client, {circuits} circuits\n\
         by these, a generator that was a client once knows the {known} circuits that nobody checks, and changes them\n\
         the cloud accepts {wrong} as the sum of {} and {}, and nobody notices\n\
         in our form the client hears nothing of the split, and a generator that guesses {most} circuits is found out: {said}\n",
        SUMMANDS[0], SUMMANDS[1]
    );
    let value = json!({
        "circuits": circuits,
        "as_published": { "circuits_known": known, "right": right, "accepted": wrong },
        "ours": { "circuits_guessed": most, "found_out": said },
    });
    Ok((value, text))
}

/// The sum of a number of the generator and one of the client, for the cloud.
fn sum_for_the_cloud() -> Result<Program, Failure> {
    let mut program = library::find("lib:add(8)").map_err(Failure::no_result)?;
    program.set_owner(InputId(0), GENERATOR);
    program.set_owner(InputId(1), CLIENT);
    program.set_recipients(0, Recipients::Only(vec![CLOUD]));
    Ok(program)
}

fn inputs(party: Party) -> Vec<Bits> {
    let own = SUMMANDS.get(usize::from(party.0));
    own.map(|value| Bits::from_u128(*value, 8)).into_iter().collect()
}

/// A run as it must be: both states after it, and the sum.
fn first_run(program: &Program) -> Result<(States, u128), Failure> {
    let ended = with_plan(program, |run| run.run(States::default(), Honest))?;
    let states = ended.states;
    Ok((states, sum_of_outputs(&ended.outputs)?))
}

/// A run on these states, in which the generator changes these circuits.
fn second_run(program: &Program, states: States, circuits: Vec<usize>) -> Result<Ended, Failure> {
    with_plan(program, |run| run.run(states, Spoiler(circuits)))
}

fn with_plan(program: &Program, live: impl FnOnce(Run<'_>) -> Result<Ended, Failure>) -> Result<Ended, Failure> {
    let config = Config { circuits: CIRCUITS, ..Config::default() };
    let plan = plan(program, config, &Default::default())?;
    live(Run { plan: &plan, digest: program.digest(), inputs: &inputs, slow: None })
}

fn sum_of(ended: Ended) -> Result<u128, Failure> {
    sum_of_outputs(&ended.outputs)
}

/// The sum as the cloud has it.
fn sum_of_outputs(outputs: &[Vec<Option<Bits>>]) -> Result<u128, Failure> {
    let sum = outputs.get(usize::from(CLOUD.0)).and_then(|outputs| outputs.first()?.as_ref()?.to_u128());
    sum.ok_or_else(|| bug("a run without a sum"))
}
