//! Words of few layers, against the arithmetic of the machine; their layers and AND gates.

use rand::{RngExt, SeedableRng, rngs::StdRng};

use garblet_circuit::{Component, Type, evaluate_circuit};

use crate::builder::{Aim, CircuitBuilder, Signed, Unsigned};

/// Random numbers for 64 runs at once, and numbers at the edges.
fn numbers(rng: &mut StdRng, width: u32) -> [u128; 64] {
    let mask = u128::MAX >> (128 - width);
    let top = 1 << (width - 1);
    let edges = [0, 1, mask, mask - 1, top, top - 1, top | 1, mask / 3];
    std::array::from_fn(|k| match k % 4 {
        0 => edges[k / 4 % 8],
        1 => rng.random::<u128>() & mask,
        2 => (rng.random::<u128>() & mask) >> rng.random_range(0..width),
        _ => (1u128 << rng.random_range(0..width)).wrapping_sub(rng.random_range(0..2)) & mask,
    })
}

/// The outputs of 64 runs.
fn run(component: &Component, inputs: &[[u128; 64]]) -> Vec<[u128; 64]> {
    let ports = component.inputs().iter().zip(inputs);
    let bit = |values: &[u128; 64], i: u32| (0..64).fold(0u64, |lanes, k| lanes | ((values[k] >> i & 1) as u64) << k);
    let wires: Vec<u64> = ports.flat_map(|(port, x)| (0..port.width()).map(move |i| bit(x, i))).collect();
    let out = evaluate_circuit(component.circuit(), &wires);
    let mut rest = &out[..];
    let mut take = |width: u32| {
        let (own, after) = rest.split_at(width as usize);
        rest = after;
        std::array::from_fn(|k| own.iter().enumerate().fold(0, |x, (i, lanes)| x | u128::from(lanes >> k & 1) << i))
    };
    component.outputs().iter().map(|port| take(port.width())).collect()
}

fn signed(x: u128, width: u32) -> i128 {
    (x << (128 - width)) as i128 >> (128 - width)
}

#[test]
fn unsigned_words_of_every_width() {
    let mut rng = StdRng::seed_from_u64(1);
    for n in 1..=70u32 {
        let mask = u128::MAX >> (128 - n);
        let mut c = CircuitBuilder::with_aim("unsigned", Aim::Depth);
        let [a, b]: [Unsigned; 2] = ["a", "b"].map(|name| c.input(name, Type::Unsigned(n)));
        let [(sum, carry), (difference, borrow)] = [c.add_overflow(&a, &b), c.sub_overflow(&a, &b)];
        let (product, large) = c.mul_overflow(&a, &b);
        let (quotient, rest) = c.div_rem(&a, &b);
        let terms = [a.clone(), b.clone(), a.clone(), b.clone(), Unsigned::constant(5, n as usize), a.clone()];
        let many = c.sum(&terms, n as usize);
        let (less, root, ones) = (c.less(&a, &b), c.sqrt(&a), c.popcount(&a));
        let (negative, times) = (c.neg(&a), c.mul_constant(&a, 11, false, n as usize));
        for (k, bit) in [carry, borrow, large, less, c.equal(&a, &b)].into_iter().enumerate() {
            c.output(format!("bit{k}"), &bit);
        }
        for (k, word) in
            [sum, difference, quotient, rest, many, root, ones, negative, times, product].iter().enumerate()
        {
            c.output(format!("word{k}"), word);
        }
        let component = c.finish().unwrap();
        let (x, y) = (numbers(&mut rng, n), numbers(&mut rng, n));
        let mut y = y;
        y.rotate_left(n as usize % 5);
        y[60] = x[60];
        let got = run(&component, &[x, y]);
        for (k, (x, y)) in x.into_iter().zip(y).enumerate() {
            let whole = x.checked_mul(y);
            let expected = [
                (x + y > mask).into(),
                (x < y).into(),
                whole.is_none_or(|whole| whole > mask).into(),
                (x < y).into(),
                (x == y).into(),
                (x + y) & mask,
                x.wrapping_sub(y) & mask,
                x.checked_div(y).unwrap_or(mask),
                x.checked_rem(y).unwrap_or(x),
                (3 * x + 2 * y + 5) & mask,
                x.isqrt(),
                x.count_ones().into(),
                x.wrapping_neg() & mask,
                (11 * x) & mask,
                x.wrapping_mul(y) & mask,
            ];
            let got: Vec<u128> = got.iter().map(|values| values[k]).collect();
            assert_eq!(got, expected, "{x} and {y}, {n} bits");
        }
    }
}

#[test]
fn signed_words_of_every_width() {
    let mut rng = StdRng::seed_from_u64(2);
    for n in 1..=63u32 {
        let mask = u128::MAX >> (128 - n);
        let mut c = CircuitBuilder::with_aim("signed", Aim::Depth);
        let [a, b]: [Signed; 2] = ["a", "b"].map(|name| c.input(name, Type::Signed(n)));
        let (product, large) = c.mul_overflow(&a, &b);
        let (sum, over) = c.add_overflow(&a, &b);
        let (quotient, rest) = c.div_rem_signed(&a, &b);
        for (k, bit) in [large, over, c.less(&a, &b)].into_iter().enumerate() {
            c.output(format!("bit{k}"), &bit);
        }
        let full = c.mul_full(&a, &b);
        for (k, word) in [product, sum, quotient, rest, full].iter().enumerate() {
            c.output(format!("word{k}"), word);
        }
        let component = c.finish().unwrap();
        let (x, y) = (numbers(&mut rng, n), numbers(&mut rng, n));
        let got = run(&component, &[x, y]);
        for (k, (x, y)) in x.into_iter().zip(y).enumerate() {
            let (x, y) = (signed(x, n), signed(y, n));
            let fits = |value: i128| value == signed(value as u128, n);
            let quotient = x.checked_div(y).unwrap_or(if x < 0 { 1 } else { -1 });
            let words = [x * y, x + y, quotient, x.checked_rem(y).unwrap_or(x)].map(|value| value as u128 & mask);
            let bits = [!fits(x * y), !fits(x + y), x < y].map(u128::from);
            let whole = (x * y) as u128 & (u128::MAX >> (128 - 2 * n));
            let got: Vec<u128> = got.iter().map(|values| values[k]).collect();
            assert_eq!(got, [&bits[..], &words, &[whole]].concat(), "{x} and {y}, {n} bits");
        }
    }
}

#[test]
fn quotients_of_unequal_widths() {
    let mut rng = StdRng::seed_from_u64(3);
    for (n, m) in [(1, 1), (1, 9), (9, 1), (8, 2), (7, 3), (2, 12), (13, 12), (12, 13), (40, 7), (31, 64), (65, 20)] {
        let mut c = CircuitBuilder::with_aim("divide", Aim::Depth);
        let (a, b): (Unsigned, Unsigned) = (c.input("a", Type::Unsigned(n)), c.input("b", Type::Unsigned(m)));
        let (quotient, rest) = c.div_rem(&a, &b);
        c.output("quotient", &quotient);
        c.output("rest", &rest);
        let component = c.finish().unwrap();
        let (x, y) = (numbers(&mut rng, n), numbers(&mut rng, m));
        let got = run(&component, &[x, y]);
        for (k, (x, y)) in x.into_iter().zip(y).enumerate() {
            let quotient = x.checked_div(y).unwrap_or(u128::MAX >> (128 - n));
            let rest = x.checked_rem(y).unwrap_or(x) & (u128::MAX >> (128 - m));
            assert_eq!([got[0][k], got[1][k]], [quotient, rest], "{x} / {y}, {n} by {m} bits");
        }
    }
}

#[test]
fn sums_take_the_fewest_layers_that_a_carry_needs() {
    for n in 2..=70u32 {
        let mut c = CircuitBuilder::with_aim("sum", Aim::Depth);
        let [a, b]: [Unsigned; 2] = ["a", "b"].map(|name| c.input(name, Type::Unsigned(n)));
        let sum = c.add(&a, &b);
        c.output("sum", &sum);
        // The highest carry is a polynomial of degree n.
        let stats = c.finish().unwrap().stats();
        assert_eq!(stats.and_depth, u64::from(n.next_power_of_two().trailing_zeros()), "{n} bits");
    }
}

#[test]
fn counts_are_as_stated() {
    let figures = |n: u32, operation: fn(&mut CircuitBuilder, &Unsigned, &Unsigned) -> Unsigned| {
        let mut c = CircuitBuilder::with_aim("figures", Aim::Depth);
        let [a, b]: [Unsigned; 2] = ["a", "b"].map(|name| c.input(name, Type::Unsigned(n)));
        let out = operation(&mut c, &a, &b);
        c.output("out", &out);
        let stats = c.finish().unwrap().stats();
        (stats.and_depth, stats.and)
    };
    assert_eq!([32, 64].map(|n| figures(n, |c, a, b| c.add(a, b))), [(5, 144), (6, 352)]);
    assert_eq!([32, 64].map(|n| figures(n, |c, a, b| c.mul(a, b))), [(12, 1_068), (15, 4_251)]);
    assert_eq!([32, 64].map(|n| figures(n, |c, a, b| c.div(a, b))), [(104, 2_979), (234, 13_410)]);
}
