// Whether Alice is richer than Bob.

pub fn main(alice: u32, bob: u32) -> bool {
    alice > bob
}
