// The edit distance of two words: how many letters to insert, delete or replace. One row of the table at a time.

fn least(a: u8, b: u8) -> u8 {
    if a < b { a } else { b }
}

pub fn main(first: [u8; 9], second: [u8; 9]) -> u8 {
    let mut row = [0u8; 10];
    for j in 0usize..10usize {
        row[j] = j as u8;
    }
    for i in 0usize..9usize {
        let mut corner = row[0];
        row[0] = (i as u8) + 1u8;
        for j in 0usize..9usize {
            let replaced = if first[i] == second[j] { corner } else { corner + 1u8 };
            corner = row[j + 1usize];
            row[j + 1usize] = least(replaced, least(row[j], corner) + 1u8);
        }
    }
    row[9]
}
