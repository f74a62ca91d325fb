//! Releases of small files, verified by the very commands of the book with OpenSSL, and by somebody who was lied to.

use super::key::tests::{key, pem};
use super::*;

/// The page whose commands users copy.
const PAGE: &str = include_str!("../../../docs/src/install.md");

/// The Debian package of the small releases.
const DEB: &str = "garblet_1.2.3_amd64.deb";

/// A release whose repository has the public key of a seed.
fn release(version: &str, seed: u8) -> Release {
    let [tag, url] = [format!("v{version}"), format!("https://a.example/v{version}")];
    let notes = format!("# Garblet {version} - 2026-12-01\n\nNew.\n");
    let [commit, rustc] = ["c0ffee", "rustc 1.95.0"].map(String::from);
    Release { version: version.into(), tag, commit, rustc, url, notes, public_key: key(seed).public_pem() }
}

/// The packages of a version, as they were built.
fn packages(version: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in built(version) {
        dist::write(&folder.path().join(&name), &format!("{name} of {version}")).expect("written");
    }
    folder
}

/// The file of a seed's key.
fn key_file(seed: u8) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file that others cannot read");
    fs::write(file.path(), pem(seed)).expect("written");
    file
}

/// The packages that nobody tried.
fn untried() -> Vec<String> {
    vec![DEB.into()]
}

/// The names of what was built.
fn built(version: &str) -> Vec<String> {
    let archive = |arch: &str| format!("garblet-{version}-{arch}-unknown-linux-gnu.tar.xz");
    vec!["Containerfile".into(), archive("aarch64"), archive("x86_64"), format!("garblet_{version}_amd64.deb")]
}

/// A finished release in a folder.
fn finished(version: &str, seed: u8) -> tempfile::TempDir {
    let folder = packages(version);
    let sums = both(folder.path(), version);
    let release = release(version, seed);
    release.finish(folder.path(), &sums, &untried()).expect("a release");
    release.sign(folder.path(), &sums, &untried(), key_file(seed).path()).expect("signed");
    folder
}

/// The sums of the packages, as two builds gave them.
fn both(folder: &Path, version: &str) -> [String; 2] {
    let sums = sums(folder, &built(version));
    [sums.clone(), sums]
}

fn sums(folder: &Path, names: &[String]) -> String {
    ask(Command::new("sha256sum").args(names).current_dir(folder)).expect("sums")
}

/// The commands of the page, which stop at the first that fails, for a user who has the key of seed 1 outside of the folder. `None` without OpenSSL 3.
fn verify(folder: &Path) -> Option<Result<String, String>> {
    let begin = PAGE.find("openssl pkeyutl -verify").expect("the page says how to verify");
    let commands = &PAGE[begin..begin + PAGE[begin..].find("```").expect("the block ends")];
    let commands = commands.replace("VERSION", "1.2.3");
    assert_eq!(
        commands.lines().filter(|line| line.ends_with(" &&")).count() + 1,
        commands.lines().count(),
        "{commands}"
    );
    if !ask(Command::new("openssl").arg("version")).is_ok_and(|said| said.starts_with("OpenSSL 3")) {
        eprintln!("there is no OpenSSL 3\nSIGNATURES OF RELEASES WERE NOT VERIFIED BY IT");
        return None;
    }
    let around = tempfile::tempdir().expect("a folder");
    let downloads = around.path().join("downloads");
    for name in dist::names(folder).expect("files") {
        dist::copy(&folder.join(&name), &downloads.join(&name)).expect("copied");
    }
    dist::write(&around.path().join("release-key.pem"), &key(1).public_pem()).expect("written");
    Some(run(Command::new("sh").args(["-c", &commands]).current_dir(downloads)))
}

fn change(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("it is there");
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replacen(from, to, 1)).expect("written");
}

#[test]
fn a_user_verifies_what_was_downloaded_by_the_commands_of_the_page() {
    let whole = finished("1.2.3", 1);
    let Some(verified) = verify(whole.path()) else { return };
    assert!(verified.expect("it is ours").contains("garblet_1.2.3_amd64.deb: OK"));
    // Somebody needs one package alone.
    for name in built("1.2.3").iter().filter(|name| !name.ends_with(".deb")) {
        fs::remove_file(whole.path().join(name)).expect("removed");
    }
    assert!(verify(whole.path()).expect("as before").is_ok());
}

#[test]
fn forged_sums_packages_keys_and_signatures_are_refused() {
    if verify(finished("1.2.3", 1).path()).is_none() {
        return;
    }
    let refused = |why: &str, forge: &dyn Fn(&Path)| {
        let folder = finished("1.2.3", 1);
        forge(folder.path());
        assert!(verify(folder.path()).expect("there is OpenSSL").is_err(), "{why}");
    };
    refused("a package was changed", &|folder| change(&folder.join(DEB), "of", "Of"));
    refused("a package and its sum were changed", &|folder| {
        let old = sums(folder, &[DEB.into()]);
        change(&folder.join(DEB), "of", "Of");
        change(&folder.join(SUMS), &old, &sums(folder, &[DEB.into()]));
    });
    refused("a line was added", &|folder| {
        dist::write(&folder.join("more.deb"), "more").expect("written");
        let line = sums(folder, &["more.deb".into()]);
        dist::write(&folder.join(SUMS), &(fs::read_to_string(folder.join(SUMS)).expect("sums") + &line))
            .expect("written");
    });
    refused("everything was signed by somebody else", &|folder| {
        let mine = finished("1.2.3", 2);
        dist::copy(&mine.path().join(SIGNATURE), &folder.join(SIGNATURE)).expect("copied");
        dist::copy(&mine.path().join(SUMS), &folder.join(SUMS)).expect("copied");
        // Their key is among the downloads, under the name of ours.
        dist::write(&folder.join("release-key.pem"), &key(2).public_pem()).expect("written");
    });
    refused("there is no signature", &|folder| fs::remove_file(folder.join(SIGNATURE)).expect("removed"));
    refused("the signature is cut off", &|folder| {
        let signature = fs::read(folder.join(SIGNATURE)).expect("there");
        fs::write(folder.join(SIGNATURE), &signature[..63]).expect("written");
    });
    refused("nothing of the release was downloaded", &|folder| {
        for name in dist::names(folder).expect("files").iter().filter(|name| !name.starts_with("SHA256SUMS")) {
            fs::remove_file(folder.join(name)).expect("removed");
        }
    });
    // Everything of an older release is signed by the right key; some files have the same names in both.
    for kept in [&["garblet.rb", "Containerfile"][..], &[]] {
        refused("an older release is offered as this one", &|folder| {
            let old = finished("1.2.2", 1);
            for name in kept.iter().chain(&[SUMS, SIGNATURE]) {
                dist::copy(&old.path().join(name), &folder.join(name)).expect("copied");
            }
            for name in ["Containerfile", NOTES, "garblet.rb"].iter().filter(|name| !kept.contains(name)) {
                fs::remove_file(folder.join(name)).expect("removed");
            }
        });
    }
}

#[test]
fn a_release_says_what_two_builds_made_alike_and_signs_it() {
    let folder = finished("1.2.3", 1);
    let text = fs::read_to_string(folder.path().join("garblet-1.2.3.release.json")).expect("an attestation");
    let said: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let known = ["format", "version", "tag", "commit", "url", "builds"].map(|key| said[key].to_string());
    assert_eq!(known, ["1", "\"1.2.3\"", "\"v1.2.3\"", "\"c0ffee\"", "\"https://a.example/v1.2.3\"", "2"]);
    let equal = said["equal"].as_object().expect("sums");
    assert_eq!(equal.keys().map(String::as_str).collect::<Vec<_>>(), built("1.2.3"));
    let sums = fs::read_to_string(folder.path().join(SUMS)).expect("sums");
    for (name, sum) in equal {
        assert!(sums.contains(&format!("{}  {name}\n", sum.as_str().expect("a sum"))), "{name}: {sums}");
    }
    for name in ["garblet-1.2.3.release.json", NOTES, "garblet.rb"] {
        assert!(sums.contains(&format!("  {name}\n")), "{name}: {sums}");
    }
    assert_eq!(said["untried"], json!([DEB]), "users see what was not installed");
}

#[test]
fn a_release_is_built_without_a_key_and_signed_by_that_of_the_repository_alone() {
    let folder = packages("1.2.3");
    let (sums, signature) = (both(folder.path(), "1.2.3"), folder.path().join(SIGNATURE));
    let nothing = Said::read(folder.path(), "1.2.3").expect_err("nothing was built");
    assert!(nothing.ends_with("first make it with `cargo xtask release build`"), "{nothing}");
    release("1.2.3", 1).finish(folder.path(), &sums, &untried()).expect("built");
    assert!(!signature.exists());
    let said = Said::read(folder.path(), "1.2.3").expect("it was built");
    assert_eq!((&said.url[..], &said.untried), ("https://a.example/v1.2.3", &untried()));
    let sign = |seed| release("1.2.3", 1).sign(folder.path(), &sums, &said.untried, key_file(seed).path());
    let other = sign(2).expect_err("another key");
    assert!(other.starts_with("expected the key of docs/release-key.pem, got another"), "{other}");
    assert!(!signature.exists());
    assert_eq!(sign(1), Ok(()));
    assert!(signature.exists());
}

#[test]
fn builds_that_differ_and_packages_that_were_changed_since_are_no_release() {
    let folder = packages("1.2.3");
    let [sums, _] = both(folder.path(), "1.2.3");
    let finish = |sums: [&str; 2]| release("1.2.3", 1).finish(folder.path(), &sums.map(String::from), &untried());
    let other = sums.replacen(&sums[..1], if sums.starts_with('0') { "1" } else { "0" }, 1);
    assert!(finish([&sums, &other]).expect_err("they differ").starts_with("expected two equal builds"));
    for wrong in [other, format!("{}  ../x\n", "0".repeat(64)), "garblet".into()] {
        assert!(finish([&wrong, &wrong]).is_err(), "{wrong}");
    }
    finish([&sums, &sums]).expect("they are as built");
}

#[test]
fn only_the_tag_of_the_version_that_is_checked_out_is_released() {
    let folder = tempfile::tempdir().expect("a folder");
    let git = |arguments: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
        ask(Command::new("git").args(who).args(arguments).current_dir(folder.path())).expect("git works")
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "--message", "one"]);
    let check = |tag: &str| check_tag(folder.path(), tag, "1.2.3");
    assert_eq!(check("v1.2.3"), Err("there is no tag v1.2.3".into()));
    // A branch of that name is no tag.
    git(&["branch", "v1.2.3"]);
    assert_eq!(check("v1.2.3"), Err("there is no tag v1.2.3".into()));
    git(&["tag", "--annotate", "v1.2.3", "--message", "one"]);
    assert_eq!(check("v1.2.3"), Ok(git(&["rev-parse", "HEAD"]).trim().into()));
    for tag in ["1.2.3", "v1.2.4", "v1.2.3^{}", "--all"] {
        assert!(check(tag).expect_err(tag).starts_with("expected the tag v1.2.3"), "{tag}");
    }
    git(&["commit", "--quiet", "--allow-empty", "--message", "two"]);
    assert!(check("v1.2.3").expect_err("another commit").starts_with("expected v1.2.3 to be checked out"));
}

#[test]
fn a_repository_without_a_public_key_has_no_releases() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(public_key(folder.path()).expect_err("there is none").contains("got nothing"));
    for (text, is_key) in [(key(1).public_pem(), true), (pem(1), false), ("key".into(), false)] {
        dist::write(&folder.path().join(PUBLIC_KEY), &text).expect("written");
        match public_key(folder.path()) {
            Ok(published) => assert!(is_key && published == text, "{text}"),
            Err(error) => assert!(!is_key && error.contains("got another text"), "{error}"),
        }
    }
}

#[test]
fn a_version_without_golden_files_of_its_wire_version_is_not_released() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |wire_version| check_golden(folder.path(), "1.2.3", wire_version);
    assert!(check(3).expect_err("none").starts_with("vectors/golden/1.2.3: expected"));
    let golden = folder.path().join("vectors/golden/1.2.3");
    fs::create_dir_all(&golden).expect("made");
    assert!(check(3).expect_err("no receipts").ends_with("expected a log of receipts, got none"));
    let log = |name: &str, text: &str| dist::write(&golden.join(name), text).expect("written");
    log("alice.jsonl", "{\"wire_version\":2}\n{\"wire_version\":3}\n");
    log("bob.jsonl", "{\"wire_version\":3}\n");
    assert_eq!(check(3), Ok(()));
    assert!(check(4).expect_err("stale").contains("alice.jsonl: expected golden files of wire version 4, got 3"));
    log("bob.jsonl", "{\"wire_version\":2}\n");
    assert!(check(3).expect_err("stale").contains("bob.jsonl: expected golden files of wire version 3, got 2"));
    log("bob.jsonl", "\n");
    assert!(check(3).expect_err("no receipt").ends_with("bob.jsonl: the last line has no wire version"));
    // The files of this version have receipts that say it.
    let ours = crate::root().join("vectors/golden").join(env!("CARGO_PKG_VERSION"));
    assert_eq!(golden_wire_versions(&ours).expect("receipts").len(), 2);
}

#[test]
fn what_changes_between_build_and_signature_is_not_signed() {
    let refused = |why: &str, change: &dyn Fn(&Path, &mut Release, &mut [String; 2])| {
        let (folder, mut release) = (packages("1.2.3"), release("1.2.3", 1));
        let mut sums = both(folder.path(), "1.2.3");
        release.finish(folder.path(), &sums, &untried()).expect("built");
        change(folder.path(), &mut release, &mut sums);
        let error = release.sign(folder.path(), &sums, &untried(), key_file(1).path()).expect_err(why);
        assert!(!folder.path().join(SIGNATURE).exists(), "{why}");
        error
    };
    let said = "garblet-1.2.3.release.json: expected what `release build` writes for v1.2.3 at";
    let moved = refused("another commit", &|_, release, _| release.commit = "decade".into());
    assert!(moved.starts_with(&format!("{said} decade, got another text")), "{moved}");
    let old = refused("another compiler", &|_, release, _| release.rustc = "rustc 1.96.0".into());
    assert!(old.starts_with(said), "{old}");
    let notes = refused("other notes", &|folder, _, _| change(&folder.join(NOTES), "New.", "Now."));
    assert!(notes.starts_with("NOTES.md: expected"), "{notes}");
    let formula = refused("another formula", &|folder, _, _| change(&folder.join("garblet.rb"), "sha256", "sha255"));
    assert!(formula.starts_with("garblet.rb: expected"), "{formula}");
    refused("another package", &|folder, _, _| change(&folder.join(DEB), "of", "Of"));
    refused("another package and its sum", &|folder, _, _| {
        let old = sums(folder, &[DEB.into()]);
        change(&folder.join(DEB), "of", "Of");
        change(&folder.join(SUMS), &old, &sums(folder, &[DEB.into()]));
    });
    let more = refused("one more file", &|folder, _, _| dist::write(&folder.join("more"), "").expect("written"));
    assert!(more.starts_with("SHA256SUMS: expected all files of the folder"), "{more}");
    refused("one file less", &|folder, _, _| fs::remove_file(folder.join(DEB)).expect("there"));
    let builds = refused("builds that differ", &|_, _, sums| sums[1].push('x'));
    assert!(builds.starts_with("expected two equal builds"), "{builds}");
}

#[test]
fn sums_without_a_package_or_with_another_sum_of_it_are_refused() {
    let folder = packages("1.2.3");
    let [sums, _] = both(folder.path(), "1.2.3");
    assert_eq!(check_sums(&format!("{sums}{}  NOTES.md\n", "0".repeat(64)), &sums), Ok(()));
    let changed = format!("{}{}", if sums.starts_with('0') { "1" } else { "0" }, &sums[1..]);
    for wrong in [changed, sums.split_once('\n').expect("lines").1.to_string()] {
        let error = check_sums(&wrong, &sums).expect_err("another sum, or none");
        assert!(error.starts_with("Containerfile: it was changed after"), "{error}");
    }
}

#[test]
fn a_signed_release_is_not_made_again() {
    let folder = packages("1.2.3");
    assert_eq!(check_unsigned(folder.path()), Ok(()));
    assert_eq!(check_unsigned(&folder.path().join("nothing")), Ok(()));
    let signed = check_unsigned(finished("1.2.3", 1).path()).expect_err("it is signed");
    assert!(signed.contains("there is a signed release of this version"), "{signed}");
}
