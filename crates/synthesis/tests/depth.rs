//! The AND depth and the layers of a library program equal those of the program flattened to one circuit.

use garblet_circuit::{Layers, Schedule};
use garblet_synthesis::library;

#[test]
fn the_depth_is_the_number_of_layers() {
    for name in [
        "aes128",
        "sha256",
        "add(64)",
        "add(64)@depth",
        "sha256@depth",
        "mul(16)",
        "millionaires(32)",
        "intersection-size(20,20,16)",
        "sort(50,16)",
        "join(9,9,16,16)",
    ] {
        let program = library::find(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        let schedule = Schedule::by_depth(program.flatten().expect("small enough").circuit());
        let layers = schedule.steps().iter().filter(|step| step.ands > 0).count() as u64;
        assert_eq!(program.stats().and_depth, layers, "{name}");
        let by_instance = Layers::new(&program).expect("small enough");
        assert_eq!((by_instance.counts().len() as u64, by_instance.digest()), (layers, schedule.digest()), "{name}");
    }
}
