//! MixColumns (FIPS 197, section 5.1.3) with 91 XOR gates a column.

use super::Byte;
use crate::builder::CircuitBuilder;

/// One column times the circulant matrix of 2, 3, 1, 1.
///
/// *Source*: our own search, which rewrites sums of three terms at random and keeps a result that is not longer. It finds
/// 91; Maximov 2019 has 92.
pub(super) fn mix_column(c: &mut CircuitBuilder, column: &[Byte; 4]) -> [Byte; 4] {
    let [[a0, a1, a2, a3, a4, a5, a6, a7], [a8, a9, a10, a11, a12, a13, a14, a15], third, fourth] = *column;
    let [a16, a17, a18, a19, a20, a21, a22, a23] = third;
    let [a24, a25, a26, a27, a28, a29, a30, a31] = fourth;
    straight_line! { c:
        t0 = a15 + a7; t1 = a8 + t0; t2 = a16 + t1; b0 = t2 + a24; t3 = a16 + a0; t4 = a9 + a25; t5 = t3 + t4;
        t6 = t2 + a17; b1 = t5 + t6; t7 = a26 + a10; t8 = t4 + t7; t9 = a1 + a25; t10 = t9 + a18; b2 = t8 + t10;
        t11 = t0 + a11; t12 = a19 + t11; t13 = a10 + a2; t14 = t12 + t13; b3 = t14 + a27; t15 = a29 + a21;
        t16 = t15 + a3; t17 = t15 + a4; t18 = a12 + t17; t19 = a28 + a4; t20 = t19 + a20; t21 = t18 + t20;
        t22 = t16 + t21; b4 = t22 + t11; b5 = t18 + a13; t23 = a6 + a13; t24 = a30 + a22; t25 = t23 + t24;
        t26 = a14 + a6; t27 = t26 + a5; b6 = t25 + t27; t28 = a15 + t26; t29 = a31 + a23; b7 = t28 + t29;
        t30 = a31 + a15; t31 = t3 + t30; t32 = a24 + t29; b8 = t31 + t32; t33 = a23 + a7; t34 = t33 + t9; b9 = t34 + t6;
        t35 = a9 + a17; t36 = t35 + a2; t37 = a26 + a18; b10 = t36 + t37; t38 = t30 + t7; t39 = t38 + a3;
        t40 = t39 + a19; t41 = a27 + t29; t42 = t41 + t37; b11 = t40 + t42; t43 = t20 + t33; b12 = t43 + t12;
        t44 = a28 + a5; b13 = t44 + t21; b14 = t25 + a21; t45 = t24 + a31; t46 = a14 + a30; t47 = t46 + t33;
        b15 = t45 + t47; t48 = t32 + a0; b16 = t48 + a8; t49 = t48 + a1; b17 = t5 + t49; b18 = t36 + t8;
        t50 = a11 + t42; b19 = t50 + a3; t51 = t41 + t19; t52 = t51 + a19; b20 = t52 + a12; t53 = t44 + a13;
        t54 = t53 + a29; b21 = t54 + a20; t55 = a6 + t15; b22 = t55 + t46; b23 = t45 + t0; b24 = t31 + t1;
        t56 = t49 + t35; b25 = t56 + t33; b26 = t10 + t13; b27 = t39 + t14; t57 = t33 + t51; b28 = t57 + t22;
        b29 = t54 + t17; t58 = t27 + a29; b30 = t58 + a22; b31 = t47 + t28;
    }
    [
        [b0, b1, b2, b3, b4, b5, b6, b7],
        [b8, b9, b10, b11, b12, b13, b14, b15],
        [b16, b17, b18, b19, b20, b21, b22, b23],
        [b24, b25, b26, b27, b28, b29, b30, b31],
    ]
}

#[cfg(test)]
mod tests {
    use garblet_circuit::Type;

    use super::*;
    use crate::builder::{Bytes, simulate};

    /// Times x in the field of 256 elements, modulo x^8 + x^4 + x^3 + x + 1.
    fn double(a: u8) -> u8 {
        a << 1 ^ if a >> 7 == 1 { 0x1b } else { 0 }
    }

    #[test]
    fn columns_are_multiplied_by_the_matrix() {
        let mut c = CircuitBuilder::new("mix-column");
        let column: Bytes = c.input("in", Type::Bytes(4));
        let bytes = column.0.as_chunks().0;
        let mixed = mix_column(&mut c, &[bytes[0], bytes[1], bytes[2], bytes[3]]);
        c.output("out", &Bytes(mixed.as_flattened().to_vec()));
        let component = c.finish().unwrap();
        assert_eq!((component.stats().and, component.stats().xor), (0, 91));
        // The map is linear: the 32 unit columns and zero determine it.
        for unit in (0..32).map(|i| 1u32 << i).chain([0]) {
            let a = unit.to_le_bytes();
            let at = |i: usize| a[i % 4];
            let mixed: [u8; 4] = std::array::from_fn(|i| double(at(i) ^ at(i + 1)) ^ at(i + 1) ^ at(i + 2) ^ at(i + 3));
            let expected = u128::from(u32::from_le_bytes(mixed));
            assert_eq!(simulate::component(&component, &[unit.into()]), [expected], "{unit:#x}");
        }
    }
}
