// The edit distance of two strings of bytes, one row of the table at a time.
const N: usize = PARTY_0::N;

pub fn main(a: [u8; N], b: [u8; N]) -> u16 {
    let mut row = [0u16; N];
    for j in 0..N {
        row[j] = (j as u16) + 1u16;
    }
    for i in 0..N {
        let mut corner = i as u16;
        let mut left = corner + 1u16;
        for j in 0..N {
            let up = row[j];
            let least = if left < up { left } else { up };
            let changed = if a[i] == b[j] { corner } else { corner + 1u16 };
            let best = if least < corner { least + 1u16 } else { changed };
            corner = up;
            left = best;
            row[j] = best;
        }
    }
    row[N - 1]
}
