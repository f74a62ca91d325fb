use garblet_circuit::{Circuit, Component, Gate, Party, Port, Program, Recipients, Type, Wire, random};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

use super::*;

/// `count` instances in a chain.
fn chain(count: u32, name: &str) -> Program {
    let circuit = Circuit::new(1, vec![Gate::And(Wire(0), Wire(0))], vec![Wire(1)]).unwrap();
    let port = |name: &str| Port::new(name, Type::Bool);
    let mut program = Program::new(name);
    let component = program.add_component(Component::new(name, vec![port("a")], vec![port("b")], circuit).unwrap());
    let input = program.add_input(port("x"), Party(1)).unwrap();
    let mut link = program.input_link(input);
    for _ in 0..count {
        let instance = program.add_instance(component, &[link]).unwrap();
        link = program.instance_link(instance);
    }
    program.add_output(port("y"), Recipients::Only(vec![Party(0), Party(1)]), vec![link]).unwrap();
    program
}

#[test]
fn graphviz_text_has_boxes_with_owners_sizes_and_recipients() {
    let text = dot(&chain(2, "step"));
    assert_eq!(text.matches("step\\n1 AND").count(), 2);
    assert!(text.contains("n0 [label=\"x\\nbool of party 1\""));
    assert!(text.contains("[label=\"y\\nbool to party 0, 1\""));
    assert!(text.contains("n0 -> n1 [label=\"1\"]") && text.contains("n1 -> n2") && text.contains("n2 -> n3"));
    assert!(!text.contains("constants"));
}

#[test]
fn many_instances_share_a_box() {
    for (count, boxes) in [(60, 60), (61, 1), (100_000, 1)] {
        let program = chain(count, "step");
        assert_eq!(svg(&program).matches("class=\"instance\"").count(), boxes, "{count}");
        assert_eq!(dot(&program).matches("#f3f4f6").count(), boxes, "{count}");
    }
    assert!(svg(&chain(61, "step")).contains("61 × step"));
}

#[test]
fn awkward_names_cannot_break_the_text() {
    let program = chain(1, "</text>\"&\\ \u{1}<script>");
    let (svg, dot) = (svg(&program), dot(&program));
    assert!(!svg.contains("<script") && !svg.contains('\u{1}'));
    assert!(svg.contains("&lt;/text&gt;&quot;&amp;\\"));
    assert!(dot.contains("</text>\\\"&\\\\"));
    assert!(super::svg(&chain(1, &"long".repeat(1000))).len() < 12_000);
}

#[test]
fn an_empty_program_is_an_empty_picture() {
    let program = Program::new("empty");
    assert!(svg(&program).contains("</svg>") && dot(&program).ends_with("}\n"));
}

proptest! {
    #[test]
    fn boxes_are_inside_the_drawing_and_apart(seed: u64) {
        let program = random::program(&mut StdRng::seed_from_u64(seed), 20, 2);
        let picture = Picture::new(&program);
        let layout = layout::Layout::new(&picture);
        for (k, a) in layout.places.iter().enumerate() {
            prop_assert!(a.x >= 0.0 && a.y >= 0.0);
            prop_assert!(a.x + a.width <= layout.width && a.y + layout::BOX_HEIGHT <= layout.height);
            for b in &layout.places[..k] {
                let apart = a.x + a.width <= b.x || b.x + b.width <= a.x;
                prop_assert!(apart || (a.y - b.y).abs() >= layout::BOX_HEIGHT);
            }
        }
        for &(from, to) in picture.edges.keys() {
            prop_assert!(layout.places[from].x + layout.places[from].width < layout.places[to].x);
        }
    }
}
