use garblet_circuit::{Recipients, Type, random};
use proptest::prelude::*;

use super::*;
use crate::testing::{self, CLIENT, random_bits, with_state};

fn plain() -> Terms {
    with_state(testing::terms(13, 7, Statistical::Forty))
}

fn refused(change: impl FnOnce(&mut Terms)) -> String {
    let mut terms = plain();
    change(&mut terms);
    Job::new(terms).unwrap_err().to_string()
}

#[test]
fn is_read_as_it_was_written() {
    let job = Job::new(plain()).unwrap();
    let read = Job::decode(job.encode()).unwrap();
    assert_eq!(read.terms(), job.terms());
    assert_eq!((read.encode(), read.digest()), (job.encode(), job.digest()));
}

#[test]
fn every_term_changes_the_digest() {
    let changes: [&dyn Fn(&mut Terms); 13] = [
        &|_| (),
        &|terms| terms.program[0] ^= 1,
        &|terms| terms.inputs[0].port.name.push('x'),
        &|terms| terms.inputs[0].port.ty = Type::Unsigned(13),
        &|terms| terms.inputs[0].origin = Origin::Party(Party(2)),
        &|terms| terms.outputs[0].to = Destination::Parties(Recipients::All),
        &|terms| terms.outputs[0].to = Destination::State,
        &|terms| terms.generator.0[0] ^= 1,
        &|terms| terms.clients.push(Identity([1; 32])),
        &|terms| terms.statistical = Statistical::Eighty,
        &|terms| terms.parameters[0].1.push('x'),
        &|terms| terms.keeps = Some(Kept { state: "other".into(), version: 1 }),
        &|terms| terms.label.push('x'),
    ];
    let digests = changes.map(|change| {
        let mut terms = plain();
        change(&mut terms);
        *Job::new(terms).unwrap().digest()
    });
    let different: std::collections::HashSet<_> = digests.iter().collect();
    assert_eq!(different.len(), digests.len());
}

#[test]
fn contradictions_are_refused_and_named() {
    let owner = refused(|terms| terms.inputs[0].origin = Origin::Party(Party(4)));
    assert_eq!(owner, "job, owner of input `x`: expected a party from 0 to 3, got 4");
    let twice = refused(|terms| terms.cloud = terms.generator);
    assert!(twice.starts_with("job, identities of the parties: expected each once, got aaaa"), "{twice}");
    let order = refused(|terms| {
        terms.outputs[0].to = Destination::Parties(Recipients::Only(vec![Party(2), Party(1)]));
    });
    assert!(order.contains("ascending"), "{order}");
    let version = refused(|terms| terms.keeps = Some(Kept { state: "ledger".into(), version: 4 }));
    assert_eq!(version, "job, version of kept state `ledger`: expected one more than is read, from 1, got 4");
    assert!(refused(|terms| terms.keeps = None).contains("outputs"));
    assert!(refused(|terms| terms.clients.clear()).contains("clients"));
    for label in ["a\nb", "a\u{202e}b", "a\u{200b}b"] {
        let refused = refused(|terms| terms.label = label.into());
        assert!(refused.contains("no control, direction or invisible characters"), "{refused}");
    }
    assert!(refused(|terms| terms.parameters.push(("base".into(), "lego".into()))).contains("ascending"));
    assert!(refused(|terms| terms.inputs[1].port.name = "x".into()).contains("the same name twice"));
    let wide = Type::Array(Box::new(Type::Bits(1 << 26)), 5);
    assert!(refused(|terms| terms.inputs[0].port.ty = wide).contains("a type that can be read back"));
    let name = Type::Record(vec![("a b".into(), Type::Bool)]);
    assert!(refused(|terms| terms.inputs[0].port.ty = name).contains("a type that can be read back"));
    let many = refused(|terms| {
        let port = |i| Port::new(format!("x{i}"), Type::Bits(1 << 26));
        terms.inputs.extend((0..5).map(|i| JobInput { port: port(i), origin: Origin::Party(CLIENT) }));
    });
    assert!(many.contains("input or output bits"), "{many}");
}

#[test]
fn cut_and_lengthened_jobs_are_refused() {
    let job = Job::new(plain()).unwrap();
    for cut in 0..job.encode().len() {
        assert!(Job::decode(&job.encode()[..cut]).is_err(), "{cut} bytes");
    }
    let longer = Job::decode(&[job.encode(), &[0]].concat()).unwrap_err();
    assert!(longer.to_string().ends_with("end: expected no more bytes, got 1"), "{longer}");
    assert!(Job::decode(&vec![0; JOB_BYTES_MAX + 1]).is_err());
    let other = Job::decode(&[2]).unwrap_err().to_string();
    assert_eq!(other, "job, byte 0, version: expected 1, got 2");
}

/// Another job, or none: there is no second encoding of anything.
#[test]
fn every_flipped_bit_is_another_job_or_refused() {
    let job = Job::new(plain()).unwrap();
    for bit in 0..8 * job.encode().len() {
        let mut bytes = job.encode().to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(other) = Job::decode(&bytes) {
            assert_eq!(other.encode(), bytes, "bit {bit}");
            assert_ne!(other.digest(), job.digest(), "bit {bit}");
        }
    }
}

#[test]
fn values_are_joined_and_split_in_the_order_of_the_program() {
    let mut terms = plain();
    let second = JobInput { port: Port::new("z", Type::Bool), origin: Origin::Party(CLIENT) };
    terms.inputs.push(second);
    let to = Destination::Parties(Recipients::All);
    terms.outputs.push(JobOutput { port: Port::new("w", Type::Bits(3)), to });
    let job = Job::new(terms).unwrap();
    let values = [random_bits(13, 1), Bits::from_u128(1, 1)];
    let joined = job.join_inputs(CLIENT, &values).unwrap();
    assert!(joined.slice(0, 13) == values[0] && joined.slice(13, 1) == values[1] && joined.len() == 14);
    let output = random_bits(10, 2);
    let split = job.split_outputs(CLIENT, &output).unwrap();
    let names: Vec<&str> = split.iter().map(|(port, _)| &port.name[..]).collect();
    assert_eq!(names, ["y", "w"]);
    assert!(split[0].1 == output.slice(0, 7) && split[1].1 == output.slice(7, 3));
    let wrong = job.join_inputs(CLIENT, &[random_bits(12, 1), values[1].clone()]).unwrap_err();
    assert_eq!(wrong.to_string(), "bits of input `x`: expected 13, got 12");
    assert_eq!(job.join_inputs(CLIENT, &[]).unwrap_err().to_string(), "values of party 1: expected 2, got 0");
    assert!(job.split_outputs(CLIENT, &joined).is_err());
}

#[test]
fn states_and_clients_are_found() {
    let job = Job::new(plain()).unwrap();
    assert_eq!(job.state(), Some(("ledger", 5)));
    assert_eq!(job.client(&Identity([0xcc; 32])), Some(Party(2)));
    assert_eq!(job.client(&Identity([0xaa; 32])), None);
    let mut terms = plain();
    terms.outputs.pop();
    terms.keeps = None;
    assert_eq!(Job::new(terms).unwrap().state(), Some(("ledger", 4)));
    assert_eq!(testing::job(1, 1, Statistical::Forty).state(), None);
}

#[test]
fn terms_of_a_program_have_its_ports_and_digest() {
    for seed in 0..20 {
        let program = random::program(&mut testing::rng(seed), 20, 4);
        let clients = vec![Identity([1; 32]), Identity([2; 32])];
        let terms = Terms::of(&program, Identity([0; 32]), clients, Identity([3; 32]));
        let job = Job::new(terms).unwrap();
        assert_eq!(job.terms().program, program.digest());
        assert_eq!(Job::decode(job.encode()).unwrap().terms(), job.terms());
        for party in (0..4).map(Party) {
            let own: Vec<&Port> = program.inputs().iter().filter(|i| i.owner == party).map(|i| &i.port).collect();
            assert_eq!(job.inputs_of(party).collect::<Vec<_>>(), own);
            let learned = program.outputs().iter().filter(|o| o.recipients.contains(party)).map(|o| &o.port);
            assert_eq!(job.outputs_of(party).collect::<Vec<_>>(), learned.collect::<Vec<_>>());
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Job::decode(&bytes);
        // Behind a true beginning.
        let true_job = Job::new(plain()).unwrap();
        for kept in [33, 60, 100] {
            let _ = Job::decode(&[&true_job.encode()[..kept], &bytes].concat());
        }
    }
}
