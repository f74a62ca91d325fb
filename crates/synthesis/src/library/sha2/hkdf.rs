//! HKDF-SHA256 (RFC 5869).

use garblet_circuit::{CircuitError, ComponentId, Party, Program, Recipients, Type};

use super::{Family, INITIAL, SHA256, key_blocks};
use crate::{
    builder::{ProgramBuilder, Wires},
    library::member::{Build, Member, Parameter},
};

/// - `hkdf-sha256(k, s, i, n)`: n bytes of key material.
///
/// *Source*: RFC 5869, section 2.
pub(in crate::library) const MEMBERS: &[Member] = &[Member {
    name: "hkdf-sha256",
    summary: "HKDF-SHA256 of party 0's key material, with party 1's salt and info",
    parameters: &[
        Parameter::new("key_bytes", 22, 1, 1 << 20),
        Parameter::new("salt_bytes", 13, 1, 64),
        Parameter::new("info_bytes", 10, 0, 1 << 12),
        Parameter::new("output", 42, 1, 255 * 32),
    ],
    ands: "22271 (ceil((key_bytes + 73) / 64) + ceil((info_bytes + 74) / 64) + 4 + (ceil(output / 32) - 1) ceil((info_bytes + 106) / 64))",
    and_count: |p| {
        let first = SHA256.message_ands(64 + p[0]) + SHA256.message_ands(96);
        // The states after the blocks of the key are there already for all but the first part.
        let parts = (p[3].div_ceil(32) - 1) * SHA256.message_ands(64 + 32 + p[2] + 1);
        first + SHA256.message_ands(64 + p[2] + 1) + SHA256.message_ands(96) + parts
    },
    build: Build::Program {
        size: |p| SHA256.size(p[0]) + SHA256.size((p[2] + 128) * p[3].div_ceil(32)),
        build: |program, p| SHA256.hkdf(program, [p[0], p[1], p[2], p[3]]),
    },
}];

impl Family {
    /// RFC 5869, section 2.
    fn hkdf(
        &self,
        mut p: ProgramBuilder,
        [key_bytes, salt_bytes, info_bytes, output]: [u32; 4],
    ) -> Result<Program, CircuitError> {
        let digest = self.width as u32;
        let compression = p.component(self.compression(p.circuit(self.name))?);
        let key = p.input("key", Type::Bytes(key_bytes), Party(0))?;
        let salt = p.input("salt", Type::Bytes(salt_bytes), Party(1))?;
        let info = p.input("info", Type::Bytes(info_bytes), Party(1))?;
        let salted = self.keyed(&mut p, compression, &salt, salt_bytes)?;
        let extracted = self.tag(&mut p, compression, &salted, (&key, key_bytes))?;
        let keyed = self.keyed(&mut p, compression, &extracted, digest)?;
        let expanded = self.expanded(&mut p, compression, &keyed, (&info, info_bytes), output)?;
        p.output("okm", &expanded, Recipients::All)?;
        Ok(p.finish())
    }

    /// RFC 5869, section 2.3: key material of `output` bytes for a purpose, `info`, under a key whose blocks have been hashed.
    pub(super) fn expanded(
        &self,
        p: &mut ProgramBuilder,
        compression: ComponentId,
        keyed: &[Wires; 2],
        (info, info_bytes): (&Wires, u32),
        output: u32,
    ) -> Result<Wires, CircuitError> {
        let digest = self.width as u32;
        let mut parts: Vec<Wires> = Vec::new();
        for number in 1..=output.div_ceil(digest) {
            let number = Wires::constant_bytes(&[number as u8]);
            let text: Vec<&Wires> = parts.last().into_iter().chain([info, &number]).collect();
            let bytes = info_bytes + 1 + if parts.is_empty() { 0 } else { digest };
            let text = Wires::concat(Type::Bytes(bytes), text);
            parts.push(self.tag(p, compression, keyed, (&text, bytes))?);
        }
        let all = Wires::concat(Type::Bytes(digest * parts.len() as u32), &parts);
        Ok(all.slice(0, Type::Bytes(output)))
    }

    /// The states after the inner and the outer block of a key, with which its tags begin.
    pub(super) fn keyed(
        &self,
        p: &mut ProgramBuilder,
        compression: ComponentId,
        key: &Wires,
        key_bytes: u32,
    ) -> Result<[Wires; 2], CircuitError> {
        let blocks = p.component(key_blocks(p, key_bytes, self.block_bytes() as u32)?);
        let mut states = p.instance(blocks, &[key])?;
        for state in &mut states {
            *state = p.instance(compression, &[&self.initial(&INITIAL), state])?.remove(0);
        }
        Ok(states.try_into().expect("two blocks"))
    }

    /// RFC 2104: a tag under a key whose blocks have been hashed.
    pub(super) fn tag(
        &self,
        p: &mut ProgramBuilder,
        compression: ComponentId,
        [inner, outer]: &[Wires; 2],
        (message, bytes): (&Wires, u32),
    ) -> Result<Wires, CircuitError> {
        let inner = self.continued(p, compression, inner.clone(), message.clone(), bytes)?;
        self.continued(p, compression, outer.clone(), inner, self.width as u32)
    }

    /// The digest of a block, after which the hash has this state, and a message.
    fn continued(
        &self,
        p: &mut ProgramBuilder,
        compression: ComponentId,
        state: Wires,
        message: Wires,
        bytes: u32,
    ) -> Result<Wires, CircuitError> {
        self.digest_from(p, compression, (state, self.block_bytes() as u32), message, bytes)
    }
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{hex, outputs};

    #[test]
    fn rfc_5869_key_material() {
        // Appendix A, test case 1; the others are of the package `cryptography` of Python.
        let numbers = |from: u8, count: u8| (from..from + count).collect::<Vec<u8>>();
        for (key, salt, info, expected) in [
            (
                vec![0x0b; 22],
                numbers(0, 13),
                numbers(0xf0, 10),
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
            ),
            (
                numbers(0, 80),
                numbers(0x60, 64),
                numbers(0xb0, 79),
                "31d61fcd5788fe801201527485c492ac8b8ce9b621dcbd63c01d922b8e40bbea91d811a4fd11d27813e096d817a6815cb7af1c46dd5c5442f07f514dfa98d4e956ac6df179086f900251a9ac88a7bc7f1239",
            ),
            (vec![7], vec![9], Vec::new(), "dcd5c06de2f5fe31262eec199cd81e49efa7c2823376803c12a3abace828a834"),
        ] {
            let output = expected.len() / 2;
            let name = format!("hkdf-sha256({}, {}, {}, {output})", key.len(), salt.len(), info.len());
            assert_eq!(outputs(&name, &[&key, &salt, &info]), [hex(expected)], "{name}");
        }
    }
}
