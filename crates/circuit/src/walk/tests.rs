use std::cell::Cell;

use super::*;
use crate::{Circuit, Component, Gate, Party, Port, Recipients, Type, Wire};

thread_local! {
    static WIPED: Cell<u64> = const { Cell::new(0) };
}

/// A wire value that counts how often it is wiped.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Traced(u64);

impl Zeroize for Traced {
    fn zeroize(&mut self) {
        if self.0 != 0 {
            WIPED.set(WIPED.get() + 1);
        }
        self.0 = 0;
    }
}

/// `x` through `length` negations of `width` bits; every instance but the last is read once.
fn chain(length: u32, width: u32) -> Program {
    let gates = (0..width).map(|i| Gate::Not(Wire(i))).collect();
    let circuit = Circuit::new(width, gates, (width..2 * width).map(Wire).collect()).unwrap();
    let port = |name| Port::new(name, Type::Bits(width));
    let component = Component::new("not", vec![port("a")], vec![port("b")], circuit).unwrap();
    let mut program = Program::new("chain");
    let component = program.add_component(component);
    let input = program.add_input(port("x"), Party(0)).unwrap();
    let mut last = program.input_link(input);
    for _ in 0..length {
        let instance = program.add_instance(component, &[last]).unwrap();
        last = program.instance_link(instance);
    }
    program.add_output(port("y"), Recipients::All, vec![last]).unwrap();
    program
}

#[test]
fn values_are_freed_and_wiped_when_their_last_reader_is_done() {
    let program = chain(1000, 8);
    let constants = [Traced(1), Traced(2)];
    WIPED.set(0);
    let mut walk = Walk::new(&program, vec![vec![Traced(3); 8].into()], constants);
    let mut inputs = Vec::new();
    while let Some(id) = walk.next_instance(&mut inputs) {
        assert_eq!(inputs.len(), 8);
        let held: usize = walk.inputs.iter().chain(&walk.held).map(|h| h.wires.len()).sum();
        assert_eq!(held, 0, "at instance {}", id.0);
        walk.finish(id, &[Traced(4); 8]);
        inputs.clear();
    }
    // The program's input, and all instances except the last, whose values become the output.
    assert_eq!(WIPED.get(), 8 * 1000);
    let outputs = walk.into_outputs();
    assert_eq!(&outputs[0][..], &[Traced(4); 8]);
    assert_eq!(WIPED.get(), 8 * 1002, "the last instance's values and the copy that the outputs were made from");
}

#[test]
fn a_walk_that_is_given_up_wipes_what_it_holds() {
    let program = chain(3, 4);
    WIPED.set(0);
    let mut walk = Walk::new(&program, vec![vec![Traced(3); 4].into()], [Traced(1); 2]);
    let mut inputs = Vec::new();
    let first = walk.next_instance(&mut inputs).unwrap();
    walk.finish(first, &[Traced(5); 4]);
    drop(walk);
    assert_eq!(WIPED.get(), 8);
}

#[test]
fn values_that_nobody_reads_are_not_held() {
    let mut program = chain(1, 4);
    let unread = program.instance_links(crate::InstanceId(0)).collect::<Vec<_>>();
    program.add_instance(crate::ComponentId(0), &unread).unwrap();
    let mut walk = Walk::new(&program, vec![vec![Traced(3); 4].into()], [Traced(1); 2]);
    let mut inputs = Vec::new();
    while let Some(id) = walk.next_instance(&mut inputs) {
        walk.finish(id, &[Traced(6); 4]);
    }
    assert_eq!(walk.held.len(), 1);
    assert_eq!(walk.into_outputs().len(), 1);
}

#[test]
fn instances_are_side_by_side_if_none_reads_another() {
    // Two in a chain, two that read the first, and one of another component.
    let mut program = chain(2, 4);
    let first = program.instance_link(InstanceId(0));
    let component = program.component_id(InstanceId(0));
    for _ in 0..2 {
        program.add_instance(component, &[first]).unwrap();
    }
    let other = program.add_component(program.components()[0].clone());
    program.add_instance(other, &[first]).unwrap();
    let mut walk = Walk::new(&program, vec![vec![1u64; 4].into()], [0, 1]);
    let mut most = Vec::new();
    let mut inputs = Vec::new();
    while let Some(id) = {
        most.push((1..7).rev().find(|&count| walk.side_by_side(count)));
        walk.next_instance(&mut inputs)
    } {
        walk.finish(id, &[2; 4]);
    }
    assert_eq!(most, [Some(1), Some(3), Some(2), Some(1), Some(1), None]);
}

#[test]
fn instances_that_read_none_of_some_may_be_taken_before_these_are_finished() {
    let mut program = chain(2, 4);
    let [first, second] = [InstanceId(0), InstanceId(1)];
    let (component, link) = (program.component_id(first), program.instance_link(first));
    program.add_instance(component, &[link]).unwrap();
    let mut walk = Walk::new(&program, vec![vec![1u64; 4].into()], [0, 1]);
    let mut inputs = Vec::new();
    assert_eq!(walk.next_beside(None), Some(first));
    walk.next_instance(&mut inputs).unwrap();
    assert_eq!(walk.next_beside(Some(first)), None, "it reads the first");
    walk.finish(first, &[2; 4]);
    assert_eq!(walk.next_beside(None), Some(second));
    walk.next_instance(&mut inputs).unwrap();
    assert_eq!(walk.next_beside(Some(second)), Some(InstanceId(2)));
    walk.next_instance(&mut inputs).unwrap();
    assert_eq!(walk.next_beside(Some(second)), None, "there is none");
}

#[test]
#[should_panic(expected = "width of input x")]
fn an_input_of_the_wrong_width_is_refused() {
    Walk::new(&chain(1, 4), vec![vec![0u64; 3].into()], [0, 1]);
}

#[test]
#[should_panic(expected = "one value per program input")]
fn a_missing_input_is_refused() {
    Walk::<u64>::new(&chain(1, 4), vec![], [0, 1]);
}
