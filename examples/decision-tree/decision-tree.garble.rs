// A decision tree of one party on the features of the other. Which way is taken stays private.

struct Node {
    feature: u8,
    threshold: u16,
}

struct Tree {
    nodes: [Node; 7],
    classes: [u8; 8],
}

pub fn main(tree: Tree, features: [u16; 4]) -> u8 {
    let mut at = 0usize;
    for level in 0usize..3usize {
        let node = tree.nodes[at];
        let right = features[node.feature as usize] > node.threshold;
        at = 2usize * at + (if right { 2usize } else { 1usize });
    }
    tree.classes[at - 7usize]
}
