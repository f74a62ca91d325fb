// SHA-256 (FIPS 180-4) of a message of 55 bytes, one block: 32 bytes of one party and 23 of the other.

fn rotate(x: u32, by: u8) -> u32 {
    (x >> by) ^ (x << (32u8 - by))
}

fn extend(w: [u32; 64], t: usize) -> u32 {
    let a = w[t - 15usize];
    let b = w[t - 2usize];
    let small = rotate(a, 7u8) ^ rotate(a, 18u8) ^ (a >> 3u8);
    let large = rotate(b, 17u8) ^ rotate(b, 19u8) ^ (b >> 10u8);
    (w[t - 16usize] as u64 + small as u64 + w[t - 7usize] as u64 + large as u64) as u32
}

fn round(s: [u32; 8], k: u32, w: u32) -> [u32; 8] {
    let sum_e = rotate(s[4], 6u8) ^ rotate(s[4], 11u8) ^ rotate(s[4], 25u8);
    let choice = (s[4] & (s[5] ^ s[6])) ^ s[6];
    let first = s[7] as u64 + sum_e as u64 + choice as u64 + k as u64 + w as u64;
    let sum_a = rotate(s[0], 2u8) ^ rotate(s[0], 13u8) ^ rotate(s[0], 22u8);
    let majority = ((s[0] ^ s[2]) & (s[1] ^ s[2])) ^ s[2];
    let second = sum_a as u64 + majority as u64;
    [(first + second) as u32, s[0], s[1], s[2], (s[3] as u64 + first) as u32, s[4], s[5], s[6]]
}

pub fn main(secret: [u8; 32], salt: [u8; 23]) -> [u8; 32] {
    let k = [
        1116352408u32, 1899447441u32, 3049323471u32, 3921009573u32, 961987163u32, 1508970993u32, 2453635748u32, 2870763221u32,
        3624381080u32, 310598401u32, 607225278u32, 1426881987u32, 1925078388u32, 2162078206u32, 2614888103u32, 3248222580u32,
        3835390401u32, 4022224774u32, 264347078u32, 604807628u32, 770255983u32, 1249150122u32, 1555081692u32, 1996064986u32,
        2554220882u32, 2821834349u32, 2952996808u32, 3210313671u32, 3336571891u32, 3584528711u32, 113926993u32, 338241895u32,
        666307205u32, 773529912u32, 1294757372u32, 1396182291u32, 1695183700u32, 1986661051u32, 2177026350u32, 2456956037u32,
        2730485921u32, 2820302411u32, 3259730800u32, 3345764771u32, 3516065817u32, 3600352804u32, 4094571909u32, 275423344u32,
        430227734u32, 506948616u32, 659060556u32, 883997877u32, 958139571u32, 1322822218u32, 1537002063u32, 1747873779u32,
        1955562222u32, 2024104815u32, 2227730452u32, 2361852424u32, 2428436474u32, 2756734187u32, 3204031479u32, 3329325298u32,
    ];
    let initial = [
        1779033703u32, 3144134277u32, 1013904242u32, 2773480762u32, 1359893119u32, 2600822924u32, 528734635u32, 1541459225u32,
    ];
    let mut block = [0u8; 64];
    for i in 0usize..32usize {
        block[i] = secret[i];
    }
    for i in 0usize..23usize {
        block[32usize + i] = salt[i];
    }
    block[55] = 128u8;
    // 440 bits, as a number of eight bytes.
    block[62] = 1u8;
    block[63] = 184u8;
    let mut w = [0u32; 64];
    for t in 0usize..16usize {
        for i in 0usize..4usize {
            w[t] = (w[t] << 8u8) ^ (block[4usize * t + i] as u32);
        }
    }
    for t in 16usize..64usize {
        w[t] = extend(w, t);
    }
    let mut state = initial;
    for t in 0usize..64usize {
        state = round(state, k[t], w[t]);
    }
    let mut digest = [0u8; 32];
    for i in 0usize..8usize {
        let word = (state[i] as u64 + initial[i] as u64) as u32;
        for j in 0usize..4usize {
            digest[4usize * i + j] = (word >> (24u8 - 8u8 * (j as u8))) as u8;
        }
    }
    digest
}
