// AES-128 (FIPS 197) with the S-box as a table.

fn substitute(x: u8) -> u8 {
    let table = [
        99u8, 124u8, 119u8, 123u8, 242u8, 107u8, 111u8, 197u8, 48u8, 1u8, 103u8, 43u8, 254u8, 215u8, 171u8, 118u8,
        202u8, 130u8, 201u8, 125u8, 250u8, 89u8, 71u8, 240u8, 173u8, 212u8, 162u8, 175u8, 156u8, 164u8, 114u8, 192u8,
        183u8, 253u8, 147u8, 38u8, 54u8, 63u8, 247u8, 204u8, 52u8, 165u8, 229u8, 241u8, 113u8, 216u8, 49u8, 21u8,
        4u8, 199u8, 35u8, 195u8, 24u8, 150u8, 5u8, 154u8, 7u8, 18u8, 128u8, 226u8, 235u8, 39u8, 178u8, 117u8,
        9u8, 131u8, 44u8, 26u8, 27u8, 110u8, 90u8, 160u8, 82u8, 59u8, 214u8, 179u8, 41u8, 227u8, 47u8, 132u8,
        83u8, 209u8, 0u8, 237u8, 32u8, 252u8, 177u8, 91u8, 106u8, 203u8, 190u8, 57u8, 74u8, 76u8, 88u8, 207u8,
        208u8, 239u8, 170u8, 251u8, 67u8, 77u8, 51u8, 133u8, 69u8, 249u8, 2u8, 127u8, 80u8, 60u8, 159u8, 168u8,
        81u8, 163u8, 64u8, 143u8, 146u8, 157u8, 56u8, 245u8, 188u8, 182u8, 218u8, 33u8, 16u8, 255u8, 243u8, 210u8,
        205u8, 12u8, 19u8, 236u8, 95u8, 151u8, 68u8, 23u8, 196u8, 167u8, 126u8, 61u8, 100u8, 93u8, 25u8, 115u8,
        96u8, 129u8, 79u8, 220u8, 34u8, 42u8, 144u8, 136u8, 70u8, 238u8, 184u8, 20u8, 222u8, 94u8, 11u8, 219u8,
        224u8, 50u8, 58u8, 10u8, 73u8, 6u8, 36u8, 92u8, 194u8, 211u8, 172u8, 98u8, 145u8, 149u8, 228u8, 121u8,
        231u8, 200u8, 55u8, 109u8, 141u8, 213u8, 78u8, 169u8, 108u8, 86u8, 244u8, 234u8, 101u8, 122u8, 174u8, 8u8,
        186u8, 120u8, 37u8, 46u8, 28u8, 166u8, 180u8, 198u8, 232u8, 221u8, 116u8, 31u8, 75u8, 189u8, 139u8, 138u8,
        112u8, 62u8, 181u8, 102u8, 72u8, 3u8, 246u8, 14u8, 97u8, 53u8, 87u8, 185u8, 134u8, 193u8, 29u8, 158u8,
        225u8, 248u8, 152u8, 17u8, 105u8, 217u8, 142u8, 148u8, 155u8, 30u8, 135u8, 233u8, 206u8, 85u8, 40u8, 223u8,
        140u8, 161u8, 137u8, 13u8, 191u8, 230u8, 66u8, 104u8, 65u8, 153u8, 45u8, 15u8, 176u8, 84u8, 187u8, 22u8,
    ];
    table[x as usize]
}

fn double(x: u8) -> u8 {
    let carry = (x >> 7u8) & 1u8;
    ((x & 127u8) << 1u8) ^ (carry | (carry << 1u8) | (carry << 3u8) | (carry << 4u8))
}

fn next_key(key: [u8; 16], constant: u8) -> [u8; 16] {
    let mut next = key;
    next[0] = key[0] ^ substitute(key[13]) ^ constant;
    next[1] = key[1] ^ substitute(key[14]);
    next[2] = key[2] ^ substitute(key[15]);
    next[3] = key[3] ^ substitute(key[12]);
    for i in 4usize..16usize {
        next[i] = next[i - 4usize] ^ key[i];
    }
    next
}

fn mix(column: [u8; 4]) -> [u8; 4] {
    let all = column[0] ^ column[1] ^ column[2] ^ column[3];
    [
        column[0] ^ all ^ double(column[0] ^ column[1]),
        column[1] ^ all ^ double(column[1] ^ column[2]),
        column[2] ^ all ^ double(column[2] ^ column[3]),
        column[3] ^ all ^ double(column[3] ^ column[0]),
    ]
}

fn aes128(key: [u8; 16], block: [u8; 16]) -> [u8; 16] {
    let constants = [1u8, 2u8, 4u8, 8u8, 16u8, 32u8, 64u8, 128u8, 27u8, 54u8];
    let mut state = block;
    let mut round_key = key;
    for i in 0usize..16usize {
        state[i] = block[i] ^ key[i];
    }
    for round in 0usize..10usize {
        let mut shifted = state;
        for i in 0usize..16usize {
            shifted[i] = substitute(state[(i * 5usize) % 16usize]);
        }
        if round < 9usize {
            for c in 0usize..4usize {
                let at = c * 4usize;
                let column = mix([shifted[at], shifted[at + 1usize], shifted[at + 2usize], shifted[at + 3usize]]);
                for r in 0usize..4usize {
                    shifted[at + r] = column[r];
                }
            }
        }
        round_key = next_key(round_key, constants[round]);
        for i in 0usize..16usize {
            state[i] = shifted[i] ^ round_key[i];
        }
    }
    state
}

pub fn main(key: [u8; 16], block: [u8; 16]) -> [u8; 16] {
    aes128(key, block)
}
