//! Circuits by name: `lib:aes128`, `lib:millionaires(32)`.
//!
//! They have few AND gates. `lib:add(64)@depth` is the same function with [few layers of them](crate::builder::Aim::Depth).
//!
//! In the table, the number after each input is the party that owns it; all parties learn the outputs. `u` stands for an unsigned
//! integer, `bytes` for byte strings; symbols of 8 bits are byte strings too. C(n) counts the
//! comparators of a sorting network, [`sort_comparators`](crate::builder::sort_comparators). M(n) counts the comparators of a merge,
//! [`merge_comparators`](crate::builder::merge_comparators), about n log2(n) / 2.
//!
//! For lists of bounded length, P(n) = 2^K - K - 1, with K the bits of n, is the cost of finding which rows are present.
//! L(n) = (n - 1)(b + 2) + n + P(n) is the cost of checking that a list is sorted by keys of b bits. R(n, m) counts the comparators
//! of a merge through which results return to its first list: M(n + m) at most, and about as much unless n is far below m.
//! F(r, k, w), about r log2(r) w + r log2(r)^2 / 2, is the cost of moving rows of w bits to the front of r and keeping k. A(n, w),
//! about n (w + 1), is the cost of adding up n numbers of w bits.
//!
//! | name | inputs | outputs | AND gates |
//! |---|---|---|---|
//! | `aes128` | `key` bytes 16 (0), `block` bytes 16 (1) | `ciphertext` | 6400 |
//! | `aes128-expanded` | `round_keys` bytes 176 (0), `block` bytes 16 (1) | `ciphertext` | 5120 |
//! | `aes192` | `key` bytes 24 (0), `block` bytes 16 (1) | `ciphertext` | 7168 |
//! | `aes256` | `key` bytes 32 (0), `block` bytes 16 (1) | `ciphertext` | 8832 |
//! | `aes-round` | `state` bytes 16 (0), `round_key` bytes 16 (1) | `state` | 512 |
//! | `aes-last-round` | `state` bytes 16 (0), `round_key` bytes 16 (1) | `state` | 512 |
//! | `aes-key-schedule` | `key` bytes 16 (0) | `round_keys` bytes 176 | 1280 |
//! | `aes128-chain(blocks)` | `key` bytes 16 (0), `block` bytes 16 (1) | `ciphertext` | 6400 blocks |
//! | `aes128-chains(blocks, chains)` | `key` bytes 16 (0), `block` bytes 16 chains (1) | `ciphertext` | 6400 blocks chains |
//! | `aes128-ctr(bytes)` | `key` bytes 16 (0), `nonce` bytes 12 (1), `text` bytes (1) | `text` | 5120 ceil(bytes / 16) + 1280 |
//! | `aes256-ctr(bytes)` | `key` bytes 32 (0), `nonce` bytes 12 (1), `text` bytes (1) | `text` | 7168 ceil(bytes / 16) + 1664 |
//! | `aes128-cmac(bytes)` | `key` bytes 16 (0), `message` bytes (1) | `tag` | 5120 max(ceil(bytes / 16), 1) + 6400 |
//! | `ghash(blocks)` | `key` bytes 16 (0), `data` bytes 16 blocks (1) | `hash` | 751 blocks |
//! | `aes128-gcm(data_bytes, bytes)` | `key` bytes 16 (0), `nonce` bytes 12 (1), `data` bytes (1), `text` bytes (1) | `ciphertext`, `tag` | 5871 ceil(bytes / 16) + 751 ceil(data_bytes / 16) + 12271 |
//! | `aes256-gcm(data_bytes, bytes)` | `key` bytes 32 (0), `nonce` bytes 12 (1), `data` bytes (1), `text` bytes (1) | `ciphertext`, `tag` | 7919 ceil(bytes / 16) + 751 ceil(data_bytes / 16) + 16751 |
//! | `sha256` | `state` bytes 32 (0), `block` bytes 64 (1) | `digest` | 22271 |
//! | `sha256-message(bytes)` | `message` bytes (0) | `digest` | 22271 ceil((bytes + 9) / 64) |
//! | `sha512` | `state` bytes 64 (0), `block` bytes 128 (1) | `digest` | 57572 |
//! | `sha512-message(bytes)` | `message` bytes (0) | `digest` | 57572 ceil((bytes + 17) / 128) |
//! | `sha384-message(bytes)` | `message` bytes (0) | `digest` | 57572 ceil((bytes + 17) / 128) |
//! | `sha512-256-message(bytes)` | `message` bytes (0) | `digest` | 57572 ceil((bytes + 17) / 128) |
//! | `hmac-sha256(key_bytes, bytes)` | `key` bytes (0), `message` bytes (1) | `tag` | 22271 (ceil((bytes + 73) / 64) + 2) |
//! | `hkdf-sha256(key_bytes, salt_bytes, info_bytes, output)` | `key` bytes (0), `salt` bytes (1), `info` bytes (1) | `okm` | 22271 (ceil((key_bytes + 73) / 64) + ceil((info_bytes + 74) / 64) + 4 + (ceil(output / 32) - 1) ceil((info_bytes + 106) / 64)) |
//! | `tls12-prf(secret_bytes, seed_bytes, output)` | `secret` bytes (0), `seed` bytes (1) | `output` | 22271 (ceil((seed_bytes + 73) / 64) + ceil(output / 32) (ceil((seed_bytes + 105) / 64) + 2)) |
//! | `tls12-master-secret(premaster_bytes)` | `premaster` bytes (0), `client_random` bytes 32 (1), `server_random` bytes 32 (1) | `master_secret` | 289523 |
//! | `tls12-extended-master-secret(premaster_bytes)` | `premaster` bytes (0), `session_hash` bytes 32 (1) | `master_secret` | 267252 |
//! | `tls12-key-block(output)` | `master_secret` bytes 48 (0), `server_random` bytes 32 (1), `client_random` bytes 32 (1) | `key_block` | 22271 (5 ceil(output / 32) + 3) |
//! | `tls13-expand-label(label_bytes, context_bytes, output)` | `secret` bytes 32 (0), `label` bytes (1), `context` bytes (1) | `output` | 22271 (ceil((label_bytes + context_bytes + 84) / 64) + 2 + (ceil(output / 32) - 1) ceil((label_bytes + context_bytes + 116) / 64)) |
//! | `tls13-early-secret(psk_bytes)` | `psk` bytes (0) | `early_secret` | 22271 ceil((psk_bytes + 73) / 64) |
//! | `tls13-handshake-secrets(shared_bytes)` | `shared_secret` bytes (0), `hash` bytes 32 (1) | `handshake_secret`, `client_traffic`, `server_traffic` | 22271 (ceil((shared_bytes + 73) / 64) + 6) |
//! | `tls13-psk-handshake-secrets(psk_bytes, shared_bytes)` | `psk` bytes (0), `shared_secret` bytes (0), `hash` bytes 32 (1) | `handshake_secret`, `client_traffic`, `server_traffic` | 22271 (ceil((psk_bytes + 73) / 64) + ceil((shared_bytes + 73) / 64) + 12) |
//! | `tls13-master-secrets` | `handshake_secret` bytes 32 (0), `hash` bytes 32 (1) | `master_secret`, `client_traffic`, `server_traffic`, `exporter` | 356336 |
//! | `tls13-traffic-keys(key_bytes)` | `secret` bytes 32 (0) | `key`, `iv` | 133626 |
//! | `keccak-f` | `state` bytes 200 (0) | `state` | 38400 |
//! | `sha3-256-message(bytes)` | `message` bytes (0) | `digest` | 38400 ceil((bytes + 1) / 136) |
//! | `sha3-512-message(bytes)` | `message` bytes (0) | `digest` | 38400 ceil((bytes + 1) / 72) |
//! | `shake128(bytes, output)` | `message` bytes (0) | `digest` | 38400 (ceil((bytes + 1) / 168) + ceil(output / 168) - 1) |
//! | `shake256(bytes, output)` | `message` bytes (0) | `digest` | 38400 (ceil((bytes + 1) / 136) + ceil(output / 136) - 1) |
//! | `blake2b-message(bytes, output)` | `message` bytes (0) | `digest` | 36089 max(ceil(bytes / 128), 1) |
//! | `blake3-message(bytes)` | `message` bytes (0) | `digest` | 10298 (max(ceil(bytes / 64), 1) + max(ceil(bytes / 1024), 1) - 1) |
//! | `chacha20-block` | `key` bytes 32 (0), `counter` u (1), `nonce` bytes 12 (1) | `stream` | 10400 |
//! | `chacha20(bytes)` | `key` bytes 32 (0), `nonce` bytes 12 (1), `text` bytes (1) | `text` | 10400 ceil(bytes / 64) |
//! | `poly1305(bytes)` | `key` bytes 32 (0), `message` bytes (1) | `tag` | 16900 ceil(bytes / 16) + 513 |
//! | `chacha20-poly1305(data_bytes, bytes)` | `key` bytes 32 (0), `nonce` bytes 12 (1), `data` bytes (1), `text` bytes (1) | `ciphertext`, `tag` | 10400 ceil(bytes / 64) + 16900 (ceil(data_bytes / 16) + ceil(bytes / 16)) + 27813 |
//! | `siphash(bytes)` | `key` bytes 16 (0), `message` bytes (1) | `tag` | 504 floor(bytes / 8) + 1512 |
//! | `add(bits)` | `a` u (0), `b` u (1) | `sum` | bits - 1 |
//! | `sub(bits)` | `a` u (0), `b` u (1) | `difference` | bits - 1 |
//! | `mul(bits)` | `a` u (0), `b` u (1) | `product` | bits^2 - bits + 1, fewer from 27 bits on |
//! | `mul-full(bits)` | `a` u (0), `b` u (1) | `product` | 2 bits^2 - bits, fewer from 14 bits on |
//! | `div(bits)` | `a` u (0), `b` u (1) | `quotient` | bits (bits + 1) / 2 + 2 bits - 3 |
//! | `rem(bits)` | `a` u (0), `b` u (1) | `remainder` | bits (bits + 1) / 2 + 4 bits - 4 |
//! | `compare(bits)` | `a` u (0), `b` u (1) | `less`, `equal` | 2 bits - 1 |
//! | `compare-and-count(bits)` | `a` u (0), `b` u (1) | `less`, `common` | 3 bits - (number of ones in bits written in binary) |
//! | `min(bits)` | `a` u (0), `b` u (1) | `min` | 2 bits |
//! | `max(bits)` | `a` u (0), `b` u (1) | `max` | 2 bits |
//! | `millionaires(bits)` | `alice` u (0), `bob` u (1) | `alice_richer` | bits |
//! | `mod-add(modulus)` | `a` u (0), `b` u (1) | `sum` | at most 3 n + 1, n bits of modulus |
//! | `mod-sub(modulus)` | `a` u (0), `b` u (1) | `difference` | at most 3 n + 1, n bits of modulus |
//! | `mod-mul(modulus)` | `a` u (0), `b` u (1) | `product` | at most 2 n^2 + 10 n, n bits of modulus |
//! | `curve25519-field-add` | `a` u (0), `b` u (1) | `sum` | 764 |
//! | `curve25519-field-sub` | `a` u (0), `b` u (1) | `difference` | 765 |
//! | `curve25519-field-mul` | `a` u (0), `b` u (1) | `product` | 52251 |
//! | `curve25519-field-inv` | `a` u (0) | `inverse` | 595851 |
//! | `secp256k1-field-add` | `a` u (0), `b` u (1) | `sum` | 767 |
//! | `secp256k1-field-sub` | `a` u (0), `b` u (1) | `difference` | 768 |
//! | `secp256k1-field-mul` | `a` u (0), `b` u (1) | `product` | 52949 |
//! | `secp256k1-field-inv` | `a` u (0) | `inverse` | 603195 |
//! | `p256-field-add` | `a` u (0), `b` u (1) | `sum` | 767 |
//! | `p256-field-sub` | `a` u (0), `b` u (1) | `difference` | 768 |
//! | `p256-field-mul` | `a` u (0), `b` u (1) | `product` | 52898 |
//! | `p256-field-inv` | `a` u (0) | `inverse` | 593134 |
//! | `f16-add` | `a` u (0), `b` u (1) | `sum` | 292 |
//! | `f16-sub` | `a` u (0), `b` u (1) | `difference` | 292 |
//! | `f16-mul` | `a` u (0), `b` u (1) | `product` | 524 |
//! | `f16-div` | `a` u (0), `b` u (1) | `quotient` | 521 |
//! | `f16-sqrt` | `a` u (0) | `root` | 204 |
//! | `f16-fma` | `a` u (0), `b` u (1), `c` u (1) | `result` | 1054 |
//! | `f16-compare` | `a` u (0), `b` u (1) | `less`, `equal`, `unordered` | 75 |
//! | `f16-from-i64` | `a` i64 (0) | `number` | 661 |
//! | `f16-from-u64` | `a` u (0) | `number` | 684 |
//! | `f16-to-i64` | `a` u (0) | `integer` i64 | 405 |
//! | `f16-to-u64` | `a` u (0) | `integer` | 456 |
//! | `f16-to-bf16` | `a` u (0) | `number` | 138 |
//! | `f16-to-f32` | `a` u (0) | `number` | 130 |
//! | `f16-to-f64` | `a` u (0) | `number` | 145 |
//! | `bf16-add` | `a` u (0), `b` u (1) | `sum` | 286 |
//! | `bf16-sub` | `a` u (0), `b` u (1) | `difference` | 286 |
//! | `bf16-mul` | `a` u (0), `b` u (1) | `product` | 400 |
//! | `bf16-div` | `a` u (0), `b` u (1) | `quotient` | 407 |
//! | `bf16-sqrt` | `a` u (0) | `root` | 158 |
//! | `bf16-fma` | `a` u (0), `b` u (1), `c` u (1) | `result` | 756 |
//! | `bf16-compare` | `a` u (0), `b` u (1) | `less`, `equal`, `unordered` | 81 |
//! | `bf16-from-i64` | `a` i64 (0) | `number` | 657 |
//! | `bf16-from-u64` | `a` u (0) | `number` | 693 |
//! | `bf16-to-i64` | `a` u (0) | `integer` i64 | 420 |
//! | `bf16-to-u64` | `a` u (0) | `integer` | 483 |
//! | `bf16-to-f16` | `a` u (0) | `number` | 162 |
//! | `bf16-to-f32` | `a` u (0) | `number` | 64 |
//! | `bf16-to-f64` | `a` u (0) | `number` | 118 |
//! | `f32-add` | `a` u (0), `b` u (1) | `sum` | 613 |
//! | `f32-sub` | `a` u (0), `b` u (1) | `difference` | 613 |
//! | `f32-mul` | `a` u (0), `b` u (1) | `product` | 1606 |
//! | `f32-div` | `a` u (0), `b` u (1) | `quotient` | 1427 |
//! | `f32-sqrt` | `a` u (0) | `root` | 591 |
//! | `f32-fma` | `a` u (0), `b` u (1), `c` u (1) | `result` | 2757 |
//! | `f32-compare` | `a` u (0), `b` u (1) | `less`, `equal`, `unordered` | 145 |
//! | `f32-from-i64` | `a` i64 (0) | `number` | 673 |
//! | `f32-from-u64` | `a` u (0) | `number` | 709 |
//! | `f32-to-i64` | `a` u (0) | `integer` i64 | 542 |
//! | `f32-to-u64` | `a` u (0) | `integer` | 605 |
//! | `f32-to-f16` | `a` u (0) | `number` | 190 |
//! | `f32-to-bf16` | `a` u (0) | `number` | 93 |
//! | `f32-to-f64` | `a` u (0) | `number` | 263 |
//! | `f64-add` | `a` u (0), `b` u (1) | `sum` | 1324 |
//! | `f64-sub` | `a` u (0), `b` u (1) | `difference` | 1324 |
//! | `f64-mul` | `a` u (0), `b` u (1) | `product` | 5246 |
//! | `f64-div` | `a` u (0), `b` u (1) | `quotient` | 4805 |
//! | `f64-sqrt` | `a` u (0) | `root` | 2120 |
//! | `f64-fma` | `a` u (0), `b` u (1), `c` u (1) | `result` | 7836 |
//! | `f64-compare` | `a` u (0), `b` u (1) | `less`, `equal`, `unordered` | 279 |
//! | `f64-from-i64` | `a` i64 (0) | `number` | 708 |
//! | `f64-from-u64` | `a` u (0) | `number` | 731 |
//! | `f64-to-i64` | `a` u (0) | `integer` i64 | 713 |
//! | `f64-to-u64` | `a` u (0) | `integer` | 778 |
//! | `f64-to-f16` | `a` u (0) | `number` | 241 |
//! | `f64-to-bf16` | `a` u (0) | `number` | 235 |
//! | `f64-to-f32` | `a` u (0) | `number` | 373 |
//! | `f16-exp` | `a` u (0) | `result` | 1167 |
//! | `f16-ln` | `a` u (0) | `result` | 1821 |
//! | `f16-sin` | `a` u (0) | `result` | 3770 |
//! | `f16-cos` | `a` u (0) | `result` | 3750 |
//! | `f16-sigmoid` | `a` u (0) | `result` | 1642 |
//! | `bf16-exp` | `a` u (0) | `result` | 899 |
//! | `bf16-ln` | `a` u (0) | `result` | 1344 |
//! | `bf16-sin` | `a` u (0) | `result` | 2680 |
//! | `bf16-cos` | `a` u (0) | `result` | 2657 |
//! | `bf16-sigmoid` | `a` u (0) | `result` | 1258 |
//! | `f32-exp` | `a` u (0) | `result` | 3053 |
//! | `f32-ln` | `a` u (0) | `result` | 5404 |
//! | `f32-sin` | `a` u (0) | `result` | 11033 |
//! | `f32-cos` | `a` u (0) | `result` | 10994 |
//! | `f32-sigmoid` | `a` u (0) | `result` | 4309 |
//! | `f64-exp` | `a` u (0) | `result` | 13181 |
//! | `f64-ln` | `a` u (0) | `result` | 21822 |
//! | `f64-sin` | `a` u (0) | `result` | 43950 |
//! | `f64-cos` | `a` u (0) | `result` | 43877 |
//! | `f64-sigmoid` | `a` u (0) | `result` | 17346 |
//! | `hamming(n)` | `a` n bits (0), `b` n bits (1) | `distance` | n - (number of ones in n written in binary) |
//! | `longest-common-substring(n, bits)` | `a` n symbols (0), `b` n symbols (1) | `length` | at most n^2 (bits - 1 + 4 ceil(log2(n + 1))) |
//! | `lcs-incremental(n)` | `string` n bits (0), `runs` n u (0), `longest` u (0), `symbol` one bit (1) | `runs`, `longest` | (4 n - 2) ceil(log2(n + 1)) - 2 n + 2 |
//! | `levenshtein(n, m, bits)` | `a` n symbols (0), `b` m symbols (1) | `distance` | n m (bits + 3) + s, s about min(n, m) |
//! | `levenshtein-cell(bits)` | `row_symbol` u (0), `column_symbol` u (1), `left` 2 bits (0), `top` 2 bits (1) | `right`, `bottom` | bits + 3 |
//! | `matrix-multiplication(n, bits)` | `a` n rows of n u (0), `b` n rows of n u (1) | `product` | at most n^2 (n (bits^2 - bits + 1) + (n - 1) (bits - 1)) |
//! | `dot-product(n, bits)` | `a` n u (0), `b` n u (1) | `dot` | at most n (bits^2 - bits + 1) + (n - 1) (bits - 1) |
//! | `keyed-database(n, key_bits, value_bits)` | `records` n of {key, value} (0), `key` u (1) | `found`, `value` | n (key_bits + value_bits) - 1 |
//! | `sort(n, bits)` | `a` ceil(n/2) u (0), `b` floor(n/2) u (1) | `sorted` | 2 bits C(n), C(n) = 1, 5, 19, 60, 185, 531 for n = 2, 4, 8, 16, 32, 64 |
//! | `intersection-size(n, m, bits)` | `a` n u (0), `b` m u (1) | `size` | the fewer of n m (bits - 1) + n and 2 bits C(n + m) + (n + m - 1) bits, at most |
//! | `intersection-sum(n, m, key_bits, value_bits)` | `a` at most n u (0), `b` at most m {key, value} (1) | `size`, `sum`, `in_order` | (2 key_bits + value_bits + 2) M(n + m) + (n + m - 1) (key_bits + 2 value_bits + 2 s - 1) + L(n) + L(m) + 1, s bits of min(n, m) |
//! | `intersection(n, m, key_bits, a_bits, b_bits)` | `a` at most n {key, value} (0), `b` at most m {key, value} (1) | `rows`, `in_order` | (2 (key_bits + 1 + t) + max(a_bits, b_bits)) M(n + m) + (n + m - 1) (2 key_bits + a_bits + b_bits + 1) + F((n + m) / 2, min(n, m), key_bits + a_bits + b_bits) + L(n) + L(m) + 1, t = 1 if both have values |
//! | `join(n, m, key_bits, value_bits)` | `a` at most n u (0), `b` at most m {key, value} (1) | `rows`, `in_order` | (2 key_bits + value_bits + 4) M(n + m) + (value_bits + 1) R(n, m) + (n + m - 1) (key_bits + value_bits + 2) + L(n) + L(m) + 2 |
//! | `group-sum(n, groups, value_bits)` | `groups` at most n u (0), `values` at most n u (1) | `sums`, `same_count` | n (value_bits + 1) + n value_bits T(groups) + groups A(n, value_bits) + 2 P(n) + K - 1, T(groups) = groups - 1 for a power of two |
//! | `group-sum-by-key(n, m, groups, key_bits, value_bits)` | `a` at most n {key, value} (0), `b` at most m {key, value} (1) | `rows`, `more`, `in_order` | (2 key_bits + value_bits + 2) M(n + m) + (n + m - 1) (key_bits + 1 + 2 w) + (n + m) (key_bits + w + 2) + F(n + m, groups, key_bits + w) + L(n) + L(m) + c, w = value_bits + ceil(log2(n + m)), at most; c at most 3 ceil(log2(n + m)) + 3 |
//! | `histogram(n, m, bits, least, width, buckets)` | `a` at most n u (0), `b` at most m u (1) | `counts` | (n + m) (buckets + 1) bits + buckets A(n + m, 1) + P(n) + P(m), at most |
//! | `top-k(k, value_bits, payload_bits)` | `a` at most k {value, payload} (0), `b` at most k {value, payload} (1) | `rows`, `in_order` | (2 value_bits + payload_bits + 2) (k + M(k)) + k (value_bits + payload_bits + 1) + 2 L(k) + 1 - (number of ones in k written in binary) |
//! | `quantile(n, m, bits, per_mille)` | `a` at most n u (0), `b` at most m u (1) | `found`, `value`, `in_order` | 2 (bits + 1) (2^p - 1) + bits + n + m + L(n) + L(m) + p^2 + 40 p + 250, p = ceil(log2(n + m)), at most |
//! | `linear-model(rows, features, integer_bits, fraction_bits)` | `weights` fixed-point numbers (0), `bias` (0), `rows` of as many each (1) | `scores` | rows (features (2 w^2 - w) + features (2 w + s - 2) - fraction_bits), w = integer_bits + fraction_bits, s bits of features; 1 for w = 1, at most |
//! | `decision-tree(rows, depth, features, bits, class_bits)` | `nodes` 2^depth - 1 of {feature, threshold} (0), `classes` 2^depth u (0), `rows` of as many u as there are features (1) | `class` | rows ((2^depth - depth - 1) (f + bits) + depth features bits + (2^depth - 1) class_bits), f = ceil(log2(features)) |
//! | `layered(depth, ands)` | `a` 128 bits (0), `b` 128 bits (1) | `out` | ands, at least depth |
//!
//! *Source*: FIPS 197 with the S-box of Boyar and Peralta 2012 (22,164 XOR gates in `aes128`); NIST SP 800-38A and 38D; RFC 3686;
//! RFC 4493; Cenk and Ozbudak 2010; FIPS 180-4; RFC 2104; RFC 5869; RFC 5246; RFC 7627; RFC 8446; FIPS 202; RFC 7693; O'Connor, Aumasson, Neves and Wilcox-O'Hearn 2020; RFC 8439; Aumasson and Bernstein 2012; Payne and Hanek 1983; Muller 2016; the edit distance by
//! differences of Masek and Paterson 1980; Karatsuba and Ofman 1962; Batcher 1968 and Green 1969.

mod aes;
mod binary;
mod blake;
mod chacha;
mod compact;
mod elementary;
mod error;
mod float;
mod group;
mod integer;
mod join;
mod keccak;
mod layered;
mod levenshtein;
mod lists;
mod matrix;
mod member;
mod model;
mod modular;
mod order;
mod poly1305;
mod sets;
mod sha2;
mod siphash;
mod strings;

pub use error::LibraryError;
pub use member::{Member, Parameter};

use garblet_circuit::{Component, Program};

use crate::builder::Aim;

/// The prefix that distinguishes a library name from a file name.
pub const PREFIX: &str = "lib:";

/// All members, by kind.
static MEMBERS: [&[Member]; 27] = [
    aes::MEMBERS,
    aes::modes::MEMBERS,
    sha2::MEMBERS,
    sha2::hkdf::MEMBERS,
    sha2::tls12::MEMBERS,
    sha2::tls13::MEMBERS,
    keccak::MEMBERS,
    blake::MEMBERS,
    chacha::MEMBERS,
    poly1305::MEMBERS,
    siphash::MEMBERS,
    integer::MEMBERS,
    modular::MEMBERS,
    modular::CURVE25519,
    modular::SECP256K1,
    modular::P256,
    float::MEMBERS,
    elementary::MEMBERS,
    strings::MEMBERS,
    levenshtein::MEMBERS,
    matrix::MEMBERS,
    sets::MEMBERS,
    join::MEMBERS,
    group::MEMBERS,
    order::MEMBERS,
    model::MEMBERS,
    layered::MEMBERS,
];

/// All members of the library.
pub fn list() -> impl Iterator<Item = &'static Member> {
    MEMBERS.into_iter().flatten()
}

/// The program with this name: `NAME` with default parameters or `NAME(p1, p2)`, with or without [`PREFIX`], and with `@depth`
/// behind it for [few layers of AND gates](Aim::Depth) in place of few AND gates.
///
/// *Errors*: an unknown name, or parameters that the member does not accept.
///
/// ```
/// let program = garblet_synthesis::library::find("lib:millionaires(16)")?;
/// assert_eq!(program.stats().and, 16);
/// # Ok::<(), garblet_synthesis::library::LibraryError>(())
/// ```
pub fn find(name: &str) -> Result<Program, LibraryError> {
    let (member, parameters, aim) = resolve(name)?;
    member.program(&parameters, aim)
}

/// The component with this name, if the member is a single one.
///
/// *Errors*: as [`find`], or a member made of several components.
pub fn component(name: &str) -> Result<Component, LibraryError> {
    let (member, parameters, aim) = resolve(name)?;
    member.component(&parameters, aim)
}

/// Returns whether the library has a member with this name, with or without parameters and [`PREFIX`].
pub fn has(name: &str) -> bool {
    resolve(name).is_ok()
}

fn resolve(text: &str) -> Result<(&'static Member, Vec<u32>, Aim), LibraryError> {
    let (name, parameters, aim) = split(text)?;
    let member = list().find(|m| m.name == name).ok_or_else(|| LibraryError::unknown(name))?;
    Ok((member, parameters.unwrap_or_else(|| member.defaults()), aim))
}

/// Splits `lib:name(1, 2)@depth` into name, parameters and aim.
fn split(text: &str) -> Result<(&str, Option<Vec<u32>>, Aim), LibraryError> {
    let call = text.trim();
    let call = call.strip_prefix(PREFIX).unwrap_or(call);
    let (call, aim) = match call.strip_suffix(member::DEPTH) {
        Some(call) => (call.trim_end(), Aim::Depth),
        None => (call, Aim::Size),
    };
    let Some((name, rest)) = call.split_once('(') else { return Ok((call.trim(), None, aim)) };
    let syntax = || LibraryError::Syntax { text: text.into() };
    let inner = rest.strip_suffix(')').ok_or_else(syntax)?;
    if inner.trim().is_empty() {
        return Ok((name.trim(), Some(Vec::new()), aim));
    }
    let parameters = inner.split(',').map(|p| p.trim().parse().map_err(|_| syntax())).collect::<Result<_, _>>()?;
    Ok((name.trim(), Some(parameters), aim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::simulate::{self, bits_to_bytes, bytes_to_bits};

    /// Bytes in steps of 7 from the first one on.
    pub(super) fn steps(first: u8, count: u8) -> Vec<u8> {
        (0..count).map(|k| first.wrapping_add(k.wrapping_mul(7))).collect()
    }

    /// Bytes in hexadecimal.
    pub(super) fn hex(text: &str) -> Vec<u8> {
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
    }

    /// The outputs of a program on byte strings, after a check of its number of AND gates.
    pub(super) fn outputs(name: &str, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
        let (member, parameters, aim) = resolve(name).unwrap();
        let program = member.program(&parameters, aim).unwrap();
        assert_eq!(program.stats().and, member.and_count(&parameters).unwrap(), "{name}");
        let inputs: Vec<Vec<bool>> = inputs.iter().map(|bytes| bytes_to_bits(bytes)).collect();
        simulate::program(&program, &inputs).iter().map(|bits| bits_to_bytes(bits)).collect()
    }

    /// In the short form, all members but inverses in fields, which take seconds each.
    fn is_tested(member: &Member) -> bool {
        std::env::var_os("GARBLET_TEST_FULL").is_some() || !member.name.ends_with("-field-inv")
    }

    #[test]
    fn every_member_is_built_and_keeps_its_formula() {
        let mut names = Vec::new();
        for member in list().filter(|member| is_tested(member)) {
            let program = member.program(&member.defaults(), Aim::Size).unwrap();
            let (ands, stated) = (program.stats().and, member.and_count(&member.defaults()).unwrap());
            let bound = member.ands.contains("at most") || member.ands.contains("fewer");
            assert!(ands == stated || bound && ands < stated, "{}: {ands} of {stated}", member.name);
            assert!(!program.inputs().is_empty() && !program.outputs().is_empty());
            assert!(!member.summary.is_empty() && !member.ands.is_empty());
            assert!(!names.contains(&member.name), "{} twice", member.name);
            names.push(member.name);
            let single = member.component(&member.defaults(), Aim::Size);
            assert_eq!(single.is_ok(), program.instance_count() == 1, "{}", member.name);
            // Runs with all inputs zero.
            let zeros: Vec<Vec<bool>> = program.inputs().iter().map(|i| vec![false; i.port.width() as usize]).collect();
            assert_eq!(simulate::program(&program, &zeros).len(), program.outputs().len());
        }
    }

    #[test]
    fn the_table_above_is_complete() {
        let rows: Vec<&str> =
            include_str!("library.rs").lines().filter_map(|line| line.strip_prefix("//! | `")).collect();
        assert_eq!(rows.len(), list().count());
        for (row, member) in rows.into_iter().zip(list()) {
            let cells: Vec<&str> = row.split(" | ").collect();
            assert_eq!(cells[0], format!("{}`", member.signature()));
            assert_eq!(cells[3].trim_end_matches(" |"), member.ands);
            if !is_tested(member) {
                continue;
            }
            let program = member.program(&member.defaults(), Aim::Size).unwrap();
            let mut inputs = cells[1];
            for input in program.inputs() {
                let (_, rest) = inputs.split_once(&format!("`{}`", input.port.name)).expect(row);
                let (_, rest) = rest.split_once(&format!("({})", input.owner)).expect(row);
                inputs = rest;
            }
            assert_eq!(inputs, "", "{row}");
            let outputs: Vec<String> = program.outputs().iter().map(|o| format!("`{}`", o.port.name)).collect();
            assert!(cells[2].starts_with(&outputs.join(", ")), "{row}");
        }
    }

    #[test]
    fn figures_of_the_book_are_those_of_the_programs() {
        let chapter = include_str!("../../../docs/src/circuits.md");
        let rows: Vec<(&str, &str)> = chapter.lines().filter_map(|line| line.split_once(" | `lib:")).collect();
        for (stated, call) in &rows {
            let stated = stated.trim_start_matches("| ").replace(',', "");
            let call = call.trim_end_matches("` |");
            assert_eq!(find(call).unwrap().stats().and.to_string(), stated, "{call}");
        }
        assert!(rows.len() > 8, "{rows:?}");
    }

    #[test]
    fn layers_of_the_book_are_those_of_the_programs() {
        let chapter = include_str!("../../../docs/src/circuits.md");
        let mut rows = 0;
        for row in chapter.lines().filter(|line| line.starts_with("| `lib:")) {
            let name = row.split('`').nth(1).expect("a name");
            let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace(',', "")).collect();
            let [size, depth] = ["", "@depth"].map(|aim| find(&format!("{name}{aim}")).unwrap().stats());
            let stated: Vec<u64> = cells[2..6].iter().map(|cell| cell.parse().expect(row)).collect();
            assert_eq!(stated, [size.and, size.and_depth, depth.and, depth.and_depth], "{name}");
            rows += 1;
        }
        assert!(rows > 10);
    }

    #[test]
    fn few_layers_are_as_few_as_they_should_be() {
        for (name, most) in [("add(64)", 7), ("mul(64)", 20), ("div(64)", 300), ("sha256", 1_607 / 2)] {
            let layers = find(&format!("{name}@depth")).unwrap().stats().and_depth;
            assert!(layers <= most, "{name}: {layers} layers");
        }
    }

    #[test]
    fn every_member_has_few_layers_too() {
        for member in list().filter(|member| is_tested(member)) {
            let [size, depth] = [Aim::Size, Aim::Depth].map(|aim| member.program(&member.defaults(), aim).unwrap());
            assert_eq!(depth.name(), format!("{}@depth", size.name()));
            assert!(depth.stats().and_depth <= size.stats().and_depth, "{}", member.name);
            let mut bit = 0u64;
            let mut inputs = |_: usize| {
                bit = bit.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                bit >> 40 & 1 == 1
            };
            let inputs: Vec<Vec<bool>> =
                size.inputs().iter().map(|i| (0..i.port.width() as usize).map(&mut inputs).collect()).collect();
            assert_eq!(simulate::program(&depth, &inputs), simulate::program(&size, &inputs), "{}", member.name);
        }
    }

    #[test]
    fn names_are_read_with_and_without_decoration() {
        assert_eq!(split("lib:add(8)").unwrap(), ("add", Some(vec![8]), Aim::Size));
        assert_eq!(split(" levenshtein( 3,4 , 2 ) ").unwrap(), ("levenshtein", Some(vec![3, 4, 2]), Aim::Size));
        assert_eq!(split("lib:aes128").unwrap(), ("aes128", None, Aim::Size));
        assert_eq!(split("lib:aes128()").unwrap(), ("aes128", Some(vec![]), Aim::Size));
        assert_eq!(split("lib:add(8)@depth").unwrap(), ("add", Some(vec![8]), Aim::Depth));
        assert_eq!(split("lib:aes128 @depth").unwrap(), ("aes128", None, Aim::Depth));
        assert_eq!(find("lib:add(8)@depth").unwrap().name(), "add(8)@depth");
        assert_eq!(find("lib:add(8)").unwrap().name(), "add(8)");
        assert_eq!(find("lib:add").unwrap().name(), "add(32)");
        assert_eq!(find("lib:aes128()").unwrap().name(), "aes128");
    }

    #[test]
    fn wrong_names_are_refused_with_advice() {
        let message = |name: &str| find(name).unwrap_err().to_string();
        assert!(
            message("lib:aes").starts_with("no library circuit `aes`, did you mean `aes128`"),
            "{}",
            message("aes")
        );
        assert!(message("lib:levenstein(4)").contains("did you mean `levenshtein`"));
        assert!(message("lib:qqqqqqqqqqqqq").starts_with("no library circuit `qqqqqqqqqqqqq`, there are `aes128`,"));
        assert_eq!(
            message("lib:add(32"),
            "`lib:add(32` is not a library name, expected `lib:NAME` or `lib:NAME(NUMBER, ...)`, and perhaps `@depth`"
        );
        assert!(message("lib:add(x)").contains("is not a library name"));
        assert!(message("lib:add(-1)").contains("is not a library name"));
        assert!(message("lib:add(99999999999)").contains("is not a library name"));
    }

    #[test]
    fn wrong_parameters_are_refused() {
        let message = |name: &str| find(name).unwrap_err().to_string();
        assert_eq!(message("add(1, 2)"), "`add(bits)` takes 1 parameters, got 2");
        assert_eq!(message("aes128(1)"), "`aes128` takes 0 parameters, got 1");
        assert_eq!(message("add(0)"), "`add(bits)`: bits is 0, expected 1 to 65536");
        assert_eq!(
            message("levenshtein(65536, 65536, 2)"),
            "`levenshtein(65536, 65536, 2)` would have about 12884901888 gates and instances, the limit is 67108864"
        );
        assert!(matches!(find("mul(65536)"), Err(LibraryError::TooLarge { .. })));
    }

    #[test]
    fn programs_of_several_components_are_no_component() {
        let error = component("aes128-chain(3)").unwrap_err();
        assert_eq!(error.to_string(), "`aes128-chain(3)` has 3 instances, expected a single component");
        assert_eq!(component("millionaires(7)").unwrap().stats().and, 7);
    }
}
