//! One run of a published method against semi-honest parties, each step for itself.

use std::{fmt::Display, time::Instant};

use garblet_circuit::{Bits, Circuit, evaluate_circuit};
use garblet_console::failure::Failure;
use garblet_garble::published::{InputLabels, Label, PublishedConfig, evaluate, garble};
use garblet_net::{Channel, memory_pair};
use garblet_ot::{BitVec, pvw};
use garblet_primitives::{Block, Prg};
use garblet_synthesis::tables::TableCircuit;

use super::{Example, Measured};

/// A label as it is sent.
const LABEL_BYTES: usize = 17;

/// Garbles, sends, transfers and evaluates; checks the result.
///
/// *Errors*: a wrong result, or a failing channel: bugs.
pub(super) fn measure(example: &Example, config: PublishedConfig) -> Result<Measured, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(fault)?;
    let (mut ours, mut theirs) = memory_pair();
    // Labels and inputs do not matter for the time.
    let mut rng = Prg::new(Block::ONES);
    let Example { circuit, garbler_inputs, .. } = example;
    let form = config.form(circuit);
    let values: Vec<bool> = (0..circuit.input_count()).map(|_| rng.next_block().lsb()).collect();
    let begin = Instant::now();
    let inputs = InputLabels::of_seed(config.method, rng.next_block(), values.len());
    let garbled = garble(&form, config, &inputs);
    let precompute = begin.elapsed();

    let own = inputs.wires().iter().zip(&values).take(*garbler_inputs);
    let own: Vec<u8> = own.flat_map(|(wire, &value)| encoded(wire.of(value))).collect();
    let decoding = garbled.decoding().collect::<Bits>().to_bytes();
    let message = [garbled.tables, own, decoding].concat();
    let begin = Instant::now();
    let received = runtime.block_on(pass(&mut ours, &mut theirs, &message))?;
    let send = begin.elapsed();

    let begin = Instant::now();
    let labels = runtime.block_on(transfer([&mut ours, &mut theirs], &inputs, &values[*garbler_inputs..]))?;
    let ot = begin.elapsed();

    let begin = Instant::now();
    let outputs = calculate(&form, config, *garbler_inputs, &received, labels)?;
    let calculate = begin.elapsed();
    if outputs != in_the_clear(circuit, &values) {
        return Err(Failure::no_result(format!("{}: wrong result: this is a bug", config.method.name())));
    }
    let sent = ours.traffic().bytes_sent + theirs.traffic().bytes_sent;
    let counts = form.counts();
    let steps = [precompute, send, ot, calculate].map(|step| step.as_secs_f64());
    let [precompute_seconds, send_seconds, ot_seconds, calculate_seconds] = steps.map(Some);
    Ok(Measured {
        precompute_seconds,
        send_seconds,
        ot_seconds,
        calculate_seconds,
        kilobytes: sent as f64 / 1000.0,
        ..Measured::of_counts(counts.gates - counts.xor, counts.xor, steps.iter().sum())
    })
}

fn fault(error: impl Display) -> Failure {
    Failure::no_result(format!("pssw: {error}"))
}

fn in_the_clear(circuit: &Circuit, values: &[bool]) -> Vec<bool> {
    let lanes: Vec<u64> = values.iter().map(|&value| value.into()).collect();
    evaluate_circuit(circuit, &lanes).into_iter().map(|lane| lane & 1 == 1).collect()
}

async fn pass(from: &mut Channel, to: &mut Channel, message: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut received = vec![0; message.len()];
    let send = async {
        from.send_bytes(message).await?;
        from.flush().await
    };
    let (sent, got) = tokio::join!(send, to.receive_bytes(&mut received));
    sent.and(got).map_err(fault)?;
    Ok(received)
}

/// The labels of the evaluator's inputs by OT: the pads hide both labels of each.
async fn transfer(
    [ours, theirs]: [&mut Channel; 2],
    inputs: &InputLabels,
    values: &[bool],
) -> Result<Vec<Label>, Failure> {
    let reference = pvw::ReferenceString::of_coins(&[7; 32]);
    let choices = values.iter().copied().collect::<Bits>().to_bytes();
    let choices = BitVec::from_bytes(choices, values.len()).map_err(fault)?;
    let [mut a, mut b] = [Block::ZERO, Block::ONES].map(Prg::new);
    let send = async {
        let pads = pvw::send(ours, &reference, [0; 32], values.len(), &mut a).await.map_err(fault)?;
        ours.flush().await.map_err(fault)?;
        Ok::<_, Failure>(pads)
    };
    let (pads, chosen) = tokio::join!(send, pvw::receive(theirs, &reference, [0; 32], &choices, &mut b));
    let (pads, chosen) = (pads?, chosen.map_err(fault)?);
    let wires = &inputs.wires()[inputs.wires().len() - values.len()..];
    let both = wires
        .iter()
        .zip(pads.iter())
        .flat_map(|(wire, pads)| [false, true].map(|value| hidden(encoded(wire.of(value)), pads[usize::from(value)])));
    let message: Vec<u8> = both.flatten().collect();
    let received = pass(ours, theirs, &message).await?;
    let pairs = received.as_chunks::<LABEL_BYTES>().0.as_chunks::<2>().0;
    let own = pairs.iter().zip(chosen.iter()).zip(values);
    Ok(own.map(|((pair, &pad), &value)| decoded(&hidden(pair[usize::from(value)], pad))).collect())
}

fn encoded(label: Label) -> [u8; LABEL_BYTES] {
    let mut bytes = [0; LABEL_BYTES];
    bytes[..16].copy_from_slice(&label.key.to_bytes());
    bytes[16] = label.external.into();
    bytes
}

fn decoded(bytes: &[u8; LABEL_BYTES]) -> Label {
    let key = bytes.first_chunk().copied().unwrap_or_default();
    Label { key: Block::from_bytes(key), external: bytes[16] & 1 == 1 }
}

/// The bytes with the stream of a pad added.
fn hidden(mut bytes: [u8; LABEL_BYTES], pad: Block) -> [u8; LABEL_BYTES] {
    let mut rng = Prg::new(pad);
    let stream = [rng.next_block(), rng.next_block()].map(Block::to_bytes);
    bytes.iter_mut().zip(stream.as_flattened()).for_each(|(byte, mask)| *byte ^= mask);
    bytes
}

fn calculate(
    form: &TableCircuit,
    config: PublishedConfig,
    garbler_inputs: usize,
    received: &[u8],
    labels: Vec<Label>,
) -> Result<Vec<bool>, Failure> {
    let (tables, rest) = received.split_at(config.table_bytes(form));
    let (own, decoding) = rest.split_at(LABEL_BYTES * garbler_inputs);
    let mut inputs: Vec<Label> = own.as_chunks().0.iter().map(decoded).collect();
    inputs.extend(labels);
    let labels = evaluate(form, config, tables, &inputs).map_err(fault)?;
    let decoding = Bits::from_bytes(decoding);
    Ok(labels.iter().zip(decoding.iter()).map(|(label, zero)| label.lsb() ^ zero).collect())
}
