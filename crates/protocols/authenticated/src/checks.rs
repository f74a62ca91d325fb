//! Checks of the other party, besides those of OTs. None depends on an input: masked values are uniform to a peer that does not know the masks.

pub use garblet_protocol::coin_toss::COIN_TOSS_OPENING;

garblet_protocol::checks! {
    all and [COIN_TOSS_OPENING]:

    /// The bits that correct the products of leaky triples open their commitment.
    PRODUCT_BITS = "it sent other product bits than it committed to",
    /// Both parties' sums of all leaky triples are equal.
    EQUALITY = "its leaky triples are not products",
    /// The garbler's digest opens its commitment.
    EQUALITY_OPENING = "it opened another digest of its leaky triples than it committed to",
    /// The bits opened to join leaky triples are the authenticated ones.
    BUCKET_BITS = "it opened a bit of a bucket that it does not have",
    /// The bits opened to join triples to the function, and the masks of inputs, are the authenticated ones.
    MASK_BITS = "it opened a bit of a mask that it does not have",
    /// The label of an input bit encodes the masked bit.
    INPUT_LABEL = "a label of our input stands for another bit than the masked one that we sent",
    /// The gates were garbled correctly.
    TAGS = "its gates or labels do not fit their tags",
    /// The masked values that the evaluator sends match its labels.
    REVEALED_LABELS = "it sent masked values without having their labels",
    /// The gates were garbled correctly, according to all their masked values.
    REVEALED_GATES = "its gates do not compute correctly on the masked values",
    /// The opened masks of outputs are the authenticated ones.
    OUTPUT_MASKS = "it opened a mask of an output that it does not have",
    /// The evaluator has the labels of the outputs that it hands over.
    OUTPUT_LABELS = "it handed over an output without having its label",
}
