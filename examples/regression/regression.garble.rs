// Simple linear regression in fixed point, 16 bits after the point: one party has x, the other has y.

struct Line {
    slope: i64,
    intercept: i64,
}

pub fn main(x: [i16; 8], y: [i16; 8]) -> Line {
    let mut sum_x = 0i64;
    let mut sum_y = 0i64;
    let mut sum_xx = 0i64;
    let mut sum_xy = 0i64;
    for k in 0usize..8usize {
        let a = x[k] as i64;
        let b = y[k] as i64;
        sum_x += a;
        sum_y += b;
        sum_xx += a * a;
        sum_xy += a * b;
    }
    let covariance = 8i64 * sum_xy - sum_x * sum_y;
    let variance = 8i64 * sum_xx - sum_x * sum_x;
    let slope = (covariance << 16u8) / variance;
    let intercept = ((sum_y << 16u8) - slope * sum_x) / 8i64;
    Line { slope: slope, intercept: intercept }
}
