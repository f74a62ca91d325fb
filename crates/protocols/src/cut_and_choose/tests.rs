use super::*;

#[test]
fn parts_have_their_steps() {
    assert_eq!([0, 1, 2, 3].map(|part| Step::of_part(part, 4)), [Step::Head, Step::Tables, Step::Tables, Step::Tail]);
    assert_eq!([0, 1].map(|part| Step::of_part(part, 2)), [Step::Head, Step::Tail]);
}
