//! The fields of a job: those that its digest covers, and those that are sent to a party with another job.

use garblet::{Party, lang::Options};

use super::{Job, JobDigest};
use crate::{args::Constant, hex::to_hex};

/// Separates digests of jobs from all other uses of BLAKE3.
const CONTEXT: &str = "garblet 2026 job v1";

/// All fields. The first word of a name is the kind of field; the rest is a name from the file.
pub(super) fn of(job: &Job) -> Vec<(String, String)> {
    let changes = &job.program_args.changes;
    let mut fields = vec![
        ("name".into(), job.name.clone()),
        ("program".into(), to_hex(&job.program_digest)),
        ("protocol".into(), job.protocol.clone()),
        ("panics".into(), if changes.panics.0 { "on" } else { "off" }.into()),
    ];
    if changes.as_it_is {
        fields.push(("gates".into(), "as in the file".into()));
    }
    let mut add = |kind: &str, mut named: Vec<(String, String)>| {
        named.sort_unstable();
        fields.extend(named.into_iter().map(|(name, text)| (format!("{kind} {name}"), text)));
    };
    add("parameter", job.parameters.iter().map(|param| (param.name.clone(), param.value.clone())).collect());
    let constant = |constant: &Constant| match constant {
        Constant::Value(name, value) => (name.clone(), value.clone()),
        // Job files contain none; the field would hold only the file's name.
        Constant::File(path) => (path.display().to_string(), String::new()),
    };
    add("const", changes.constants.iter().map(constant).collect());
    add("ports", changes.ports.iter().map(|ports| ("of inputs".into(), ports.words())).collect());
    add("reverse", changes.reversed.iter().map(|port| (port.clone(), "turned around".into())).collect());
    add("owner", changes.owners.iter().map(|owner| (owner.input.clone(), owner.party.to_string())).collect());
    add("to", changes.recipients.iter().map(|to| (to.output.clone(), to.words())).collect());
    let function = (changes.function != Options::FUNCTION).then(|| changes.function.clone());
    fields.extend(function.map(|function| ("function".into(), function)));
    fields.extend(job.batch.map(|rows| ("batch".into(), rows.to_string())));
    fields.extend(job.hash_keys.map(|form| ("hash-keys".into(), form.name().into())));
    fields.extend(job.parties.iter().enumerate().map(|(number, party)| {
        let identity = party.fingerprint.map_or("without identity".into(), |fingerprint| fingerprint.to_string());
        (format!("party {}", Party(number as u16)), format!("{} {identity}", party.name))
    }));
    fields
}

/// The digest of fields: a hash over their number, and over every name and text, each preceded by its length.
pub(super) fn digest(fields: &[(String, String)]) -> JobDigest {
    let mut hash = blake3::Hasher::new_derive_key(CONTEXT);
    hash.update(&(fields.len() as u64).to_le_bytes());
    for text in fields.iter().flat_map(|(name, text)| [name, text]) {
        hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    JobDigest(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::job::{Job, file};

    const TEXT: &str = r#"
name = "overlap"
program = "overlap.garble.rs"
digest = "aa00000000000000000000000000000000000000000000000000000000000000"
protocol = "authenticated"
panics = true
[parameters]
check = "tags"
[const]
N = 8
[owner]
x = 0
[to]
y = [0, 1]
[[party]]
name = "alice"
fingerprint = "m3qh-veqc-e17z-9e7p-zj4a-35z4-y72b-j77x-0hyv"
[[party]]
name = "bob"
fingerprint = "x2a8-a9kx-ty0r-wt5b-j458-0kbs-s57c-m4r7-hhb5"
"#;

    fn job(text: &str) -> Job {
        file::read(Path::new("a/b.toml"), text).map_err(|fault| fault.1).expect("a job")
    }

    #[test]
    fn the_digest_covers_each_field() {
        let base = job(TEXT);
        let mut digests = vec![base.digest()];
        let carol = garblet::net::Fingerprint::of_ed25519(&[2; 32]).to_string();
        let plain = "fingerprint = \"m3qh-veqc-e17z-9e7p-zj4a-35z4-y72b-j77x-0hyv\"\n";
        // Party 1, moved before party 0.
        let two = ["[[party]]\nname = \"bob\"\n", "fingerprint = \"x2a8-a9kx-ty0r-wt5b-j458-0kbs-s57c-m4r7-hhb5\"\n"];
        let swapped = TEXT
            .replace(&two.concat(), "")
            .replace("[[party]]\nname = \"alice\"", &format!("{}[[party]]\nname = \"alice\"", two.concat()));
        for changed in [
            TEXT.replace("\"overlap\"", "\"overlap2\""),
            TEXT.replace("aa0", "ab0"),
            TEXT.replace("\"authenticated\"", "\"lego\"").replace("check = \"tags\"", ""),
            TEXT.replace("panics = true", "panics = false"),
            TEXT.replace("panics = true", "panics = true\nfunction = \"score\""),
            TEXT.replace("panics = true", "panics = true\nfunction = \"least\""),
            TEXT.replace("panics = true", "panics = true\nbatch = 8"),
            TEXT.replace("panics = true", "panics = true\nbatch = 9"),
            TEXT.replace("panics = true", "panics = true\nports = \"x:8=0\""),
            TEXT.replace("panics = true", "panics = true\nports = \"x:8=1\""),
            TEXT.replace("panics = true", "panics = true\nreverse = [\"x\"]"),
            TEXT.replace("panics = true", "panics = true\nreverse = [\"x\", \"y\"]"),
            TEXT.replace("panics = true", "panics = true\nas_it_is = true"),
            TEXT.replace("panics = true", "panics = true\nhash_keys = \"text\""),
            TEXT.replace("panics = true", "panics = true\nhash_keys = \"email\""),
            TEXT.replace("check = \"tags\"", "check = \"reveal\""),
            TEXT.replace("check = \"tags\"", ""),
            TEXT.replace("N = 8", "N = 9"),
            TEXT.replace("N = 8", "M = 8"),
            TEXT.replace("N = 8", "N = 8\nM = 1"),
            TEXT.replace("N = 8", ""),
            TEXT.replace("x = 0", "x = 1"),
            TEXT.replace("x = 0", "z = 0"),
            TEXT.replace("x = 0", ""),
            TEXT.replace("[0, 1]", "[0]"),
            TEXT.replace("[0, 1]", "\"all\""),
            TEXT.replace("[0, 1]", "\"nobody\""),
            TEXT.replace("y = [0, 1]", "z = [0, 1]"),
            TEXT.replace("\"alice\"", "\"anna\""),
            TEXT.replace("m3qh-veqc-e17z-9e7p-zj4a-35z4-y72b-j77x-0hyv", &carol),
            TEXT.replace(plain, "").replace(two[1], ""),
            swapped,
            format!("{TEXT}[[party]]\nname = \"carol\"\nfingerprint = \"{carol}\"\n"),
        ] {
            let digest = job(&changed).digest();
            assert!(!digests.contains(&digest), "{changed}");
            digests.push(digest);
        }
    }

    #[test]
    fn the_digest_does_not_cover_the_programs_path_or_the_files_layout() {
        let digest = job(TEXT).digest();
        let reordered = TEXT.replace("[const]\nN = 8\n[owner]\nx = 0\n", "[owner]\nx = 0\n[const]\nN = 8\n");
        assert_ne!(reordered, TEXT);
        for alike in [
            TEXT.replace("overlap.garble.rs", "../elsewhere.garble.rs"),
            format!("# a remark\n{TEXT}"),
            TEXT.replace("N = 8", "N = \"8\""),
            TEXT.replace("panics = true\n", ""),
            TEXT.replace("panics = true", "function = \"main\""),
            TEXT.replace("[0, 1]", "[1, 0, 1]"),
            reordered,
        ] {
            assert_eq!(job(&alike).digest(), digest, "{alike}");
        }
    }

    #[test]
    fn the_digest_never_changes() {
        // Signatures and policies contain it, so neither the fields nor the hash may ever change.
        assert_eq!(job(TEXT).digest().to_string(), "95ba73aee09bd1ba6282d4d8410d6aca34c34ac2c2c924ad08acae01f9e18a1b");
    }
}
