//! The S-box of AES (FIPS 197, section 5.1.2) with 32 AND and 81 XOR gates.

use super::Byte;
use crate::builder::CircuitBuilder;

/// The S-box, in the variable names of the source up to the last layer.
///
/// `x0` and `s0` are the most significant bits. The inverse in GF(2^8) is computed through GF(2^4): a linear layer to
/// `y` (the other basis), the products `t2..t16`, the inverse in GF(2^4) `t21..t40`, the products `z`, and a linear layer
/// back that includes the affine map.
///
/// *Source*: Boyar and Peralta, "A small depth-16 circuit for the AES S-box", 2012, the circuit of 115 gates. Its last
/// layer has 28 XOR gates here instead of 30, found by the same search as for MixColumns.
pub(super) fn sub_byte(c: &mut CircuitBuilder, byte: Byte) -> Byte {
    let [x7, x6, x5, x4, x3, x2, x1, x0] = byte;
    straight_line! { c:
        y14 = x3 + x5; y13 = x0 + x6; y9 = x0 + x3; y8 = x0 + x5; t0 = x1 + x2; y1 = t0 + x7; y4 = y1 + x3;
        y12 = y13 + y14; y2 = y1 + x0; y5 = y1 + x6; y3 = y5 + y8; t1 = x4 + y12; y15 = t1 + x5; y20 = t1 + x1;
        y6 = y15 + x7; y10 = y15 + t0; y11 = y20 + y9; y7 = x7 + y11; y17 = y10 + y11; y19 = y10 + y8;
        y16 = t0 + y11; y21 = y13 + y16; y18 = x0 + y16;

        t2 = y12 * y15; t3 = y3 * y6; t4 = t3 + t2; t5 = y4 * x7; t6 = t5 + t2; t7 = y13 * y16; t8 = y5 * y1;
        t9 = t8 + t7; t10 = y2 * y7; t11 = t10 + t7; t12 = y9 * y11; t13 = y14 * y17; t14 = t13 + t12;
        t15 = y8 * y10; t16 = t15 + t12; t17 = t4 + t14; t18 = t6 + t16; t19 = t9 + t14; t20 = t11 + t16;
        t21 = t17 + y20; t22 = t18 + y19; t23 = t19 + y21; t24 = t20 + y18;

        t25 = t21 + t22; t26 = t21 * t23; t27 = t24 + t26; t28 = t25 * t27; t29 = t28 + t22; t30 = t23 + t24;
        t31 = t22 + t26; t32 = t31 * t30; t33 = t32 + t24; t34 = t23 + t33; t35 = t27 + t33; t36 = t24 * t35;
        t37 = t36 + t34; t38 = t27 + t36; t39 = t29 * t38; t40 = t25 + t39; t41 = t40 + t37; t42 = t29 + t33;
        t43 = t29 + t40; t44 = t33 + t37; t45 = t42 + t41;

        z0 = t44 * y15; z1 = t37 * y6; z2 = t33 * x7; z3 = t43 * y16; z4 = t40 * y1; z5 = t29 * y7;
        z6 = t42 * y11; z7 = t45 * y17; z8 = t41 * y10; z9 = t44 * y12; z10 = t37 * y3; z11 = t33 * y4;
        z12 = t43 * y13; z13 = t40 * y5; z14 = t29 * y2; z15 = t42 * y9; z16 = t45 * y14; z17 = t41 * y8;

        r0 = z15 + z16; r1 = r0 + z9; r2 = r1 + z10; r3 = z6 + z0; r4 = z3 + z0; r5 = z4 + r4; r6 = z7 + r5;
        r7 = r3 + r6; s0 = r2 + r7; r8 = r5 + z1; s3 = r8 + r2; s1 = s3 + r7; r9 = z2 + r4; r10 = r9 + z5;
        r11 = z13 + r10; r12 = r0 + z12; s7 = r11 + r12; r13 = r6 + z2; r14 = r13 + z8; s6 = s7 + r14; r15 = s6 + r11;
        r16 = r15 + z14; r17 = r7 + r16; r18 = z17 + r17; s2 = r18 + z16; s4 = r10 + s3; r19 = r16 + z10;
        s5 = r19 + z11;
    }
    // The affine map adds 0x63 last.
    [!s7, !s6, s5, s4, s3, !s2, !s1, s0]
}

#[cfg(test)]
mod tests {
    use garblet_circuit::Type;

    use super::*;
    use crate::builder::{Bytes, simulate};

    #[test]
    fn sbox_is_the_affine_inverse() {
        let mut c = CircuitBuilder::new("sbox");
        let byte: Bytes = c.input("in", Type::Bytes(1));
        let out = sub_byte(&mut c, std::array::from_fn(|i| byte.0[i]));
        c.output("out", &Bytes(out.to_vec()));
        let component = c.finish().unwrap();
        let stats = component.stats();
        assert_eq!((stats.and, stats.xor), (32, 81));
        let times = |a: u8, b: u8| {
            let double = |x: u8| x << 1 ^ if x >> 7 == 1 { 0x1b } else { 0 };
            let powers = std::iter::successors(Some(a), |&x| Some(double(x)));
            powers.zip(0..8).filter(|(_, i)| b >> i & 1 == 1).fold(0, |sum, (x, _)| sum ^ x)
        };
        for x in 0..=255u8 {
            let inverse = (0..=255u8).find(|&y| times(x, y) == 1).unwrap_or(0);
            let expected = (0..5).fold(0x63, |sum, i| sum ^ inverse.rotate_left(i));
            assert_eq!(simulate::component(&component, &[x.into()]), [u128::from(expected)], "{x:#x}");
        }
    }
}
