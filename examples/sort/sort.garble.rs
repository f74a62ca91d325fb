// The numbers of both parties in ascending order.

fn sort(a: [u32; 8], b: [u32; 8]) -> [u32; 16] {
    let mut all = [0u32; 16];
    for i in 0usize..8usize {
        all[i] = a[i];
        all[8usize + i] = b[i];
    }
    for i in 0usize..15usize {
        for j in 0usize..15usize {
            let low = all[j];
            let high = all[j + 1usize];
            if low > high {
                all[j] = high;
                all[j + 1usize] = low;
            }
        }
    }
    all
}

pub fn main(a: [u32; 8], b: [u32; 8]) -> [u32; 16] {
    sort(a, b)
}
