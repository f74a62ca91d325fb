//! Planted faults: a check that misses them is of no use.

use std::hint::black_box;

use garblet_primitives::secrets;

use crate::marks::{self, SecretRng, block_on, channels};

/// A loop that runs only if a secret bit is set.
pub(crate) fn branch() {
    let secret = SecretRng::new().bytes(1)[0];
    let mut sum = [0u64; 8];
    if secret & 1 == 1 {
        sum.iter_mut().for_each(|word| *word = black_box(*word + 1));
    }
    black_box(sum);
}

/// A table lookup at a secret index.
pub(crate) fn address() {
    let secret = SecretRng::new().bytes(1)[0];
    let table: [u8; 256] = std::array::from_fn(|at| at as u8);
    black_box(black_box(&table)[usize::from(secret)]);
}

/// A party whose running time depends on its input, and not on the peer's public message.
pub(crate) fn party() {
    let answer = block_on(async {
        let (mut left, mut right) = channels();
        let input = SecretRng::new().bytes(2);
        left.send_bytes(&input[..1]).await.expect("memory");
        left.flush().await.expect("memory");
        let mut heard = [0];
        right.receive_bytes(&mut heard).await.expect("memory");
        // Public, as it was sent.
        let before = secrets::reports();
        let word = if heard[0] & 1 == 1 { "odd" } else { "even" };
        assert_eq!(secrets::reports(), before, "{word}");
        // Secret.
        match marks::is_odd(input[1]) {
            true => black_box(input.len()) + 1,
            false => black_box(right.traffic().bytes_received) as usize,
        }
    });
    black_box(answer);
}
