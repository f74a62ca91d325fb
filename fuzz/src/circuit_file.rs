//! Any bytes as a circuit file: Bristol, Bristol Fashion, or refused. What is read can be written and read again, and with fewer gates computes the same, as the
//! optimiser itself checks.

use garblet_formats::{Format, front_end::FrontEnds};

pub fn run(bytes: &[u8]) {
    let Ok(program) = FrontEnds::standard().read("circuit.txt", &mut &*bytes) else { return };
    let fewer = FrontEnds::standard().optimising().read("circuit.txt", &mut &*bytes).expect("it can be read");
    let (fewer, own) = (fewer.stats(), program.stats());
    assert!(fewer.and <= own.and && fewer.and_depth <= own.and_depth);
    for format in [Format::Bristol, Format::BristolFashion] {
        let mut text = Vec::new();
        if format.write(&program, &mut text).is_err() {
            continue;
        }
        let again = FrontEnds::standard().read("circuit.txt", &mut &text[..]).expect("what was written can be read");
        assert_eq!(again.stats().and, program.stats().and);
    }
}
