//! File 1: functions of blocks; file 3: a fingerprint.

use garblet::net::Identity;
use garblet_primitives::{Block, Prg, gf128};
use serde_json::{Value, json};

use super::{block, hex, hold};

fn sigma(x: Block) -> Block {
    let [low, high] = x.halves();
    Block::from_halves(high, high ^ low)
}

#[test]
fn functions_of_blocks_are_held() {
    let mut stream = Prg::new(Block::from_u128(1));
    let [a, b] = [stream.next_block(), stream.next_block()];
    let products: Vec<Value> = [(a, b), (Block::from_u128(1 << 127), Block::from_u128(2)), (a, Block::ONES)]
        .map(|(a, b)| json!({ "a": block(a), "b": block(b), "product": block(gf128::mul(a, b)) }))
        .into();
    let pem = concat!(
        "-----BEGIN PRIVATE KEY-----\n",
        "MC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB\n",
        "-----END PRIVATE KEY-----\n"
    );
    let identity = Identity::from_pem(pem).expect("32 bytes 01");
    hold(
        "notation.json",
        &json!({
            "prg": { "seed": block(Block::from_u128(1)), "blocks": [block(a), block(b)] },
            "sigma": { "x": block(a), "sigma": block(sigma(a)) },
            "double": { "a": block(b), "double": block(gf128::double(b)) },
            "products": products,
            "identity": {
                "private_key": hex([1; 32]),
                "public_key": hex(identity.public_key()),
                "fingerprint": identity.fingerprint().to_string(),
            },
        }),
    );
}
