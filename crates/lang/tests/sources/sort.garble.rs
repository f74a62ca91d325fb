// 32 numbers, half of either party, sorted: by the body without a bound circuit, by the library's network with it.

fn sort(numbers: [u32; 32]) -> [u32; 32] {
    let mut sorted = numbers;
    for i in 0usize..31usize {
        for j in 0usize..31usize {
            if sorted[j] > sorted[j + 1usize] {
                let greater = sorted[j];
                sorted[j] = sorted[j + 1usize];
                sorted[j + 1usize] = greater;
            }
        }
    }
    sorted
}

pub fn main(a: [u32; 16], b: [u32; 16]) -> [u32; 32] {
    let mut all = [0u32; 32];
    for i in 0usize..16usize {
        all[i] = a[i];
        all[i + 16usize] = b[i];
    }
    sort(all)
}
