//! A release: what `dist` makes of a tag, made twice with the same bytes; beside it an attestation of that, the changelog's section, a formula for Homebrew,
//! and checksums. Another step, for which alone the release's key must be there, checks all of it again and signs the checksums. Nothing is published.

mod changelog;
mod formula;
mod key;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::programs::{ask, renew, run, target};
use crate::steps::Step;
use crate::{dist, installed, spec};

use self::key::Key;

/// The file of the checksums, and the one of their signature.
const SUMS: &str = "SHA256SUMS";
const SIGNATURE: &str = "SHA256SUMS.sig";
/// The file of the changelog's section.
const NOTES: &str = "NOTES.md";
/// The public key, in the repository. Users have it from there, or from the book, and not from beside the packages.
const PUBLIC_KEY: &str = "docs/release-key.pem";

/// Makes the release of a tag, unsigned; its files will lie at a URL.
pub(crate) fn build_step(tag: &str, url: &str) -> Step {
    let [tag, url] = [tag, url].map(String::from);
    Step::check("release build", move || build(&crate::root(), &tag, &url).err().into_iter().collect())
}

/// Signs the release that was made, by the key in a file.
pub(crate) fn sign_step(key: &str) -> Step {
    let key = PathBuf::from(key);
    Step::check("release sign", move || sign(&crate::root(), &key).err().into_iter().collect())
}

fn build(root: &Path, tag: &str, url: &str) -> Result<(), String> {
    let release = Release::checked(root, tag, url)?;
    let folder = folder(root, &release.version);
    check_unsigned(&folder)?;
    dist::packages(root)?;
    let sums = dist::compare(root)?;
    renew(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (_, name) in entries(&sums[0])? {
        dist::copy(&dist::folder(root).join(name), &folder.join(name))?;
    }
    let untried = installed::try_all(root, &folder, &release.version)?;
    release.finish(&folder, &sums, &untried)?;
    eprintln!("{}\nnothing is signed yet: `cargo xtask release sign KEY.pem` does that", folder.display());
    Ok(())
}

fn sign(root: &Path, key: &Path) -> Result<(), String> {
    key::check_file(key)?;
    let version = dist::version(root)?;
    let folder = folder(root, &version);
    check_unsigned(&folder)?;
    let said = Said::read(&folder, &version)?;
    let release = Release::checked(root, &format!("v{version}"), &said.url)?;
    release.sign(&folder, &dist::sums_of_both(root)?, &said.untried, key)?;
    eprintln!(
        "{}\nnothing was published: put these files at {}, the wheels on PyPI, garblet-party-{version}.tgz on npm, garblet.rb into the tap",
        folder.display(),
        said.url
    );
    Ok(())
}

/// The folder of a version's release.
fn folder(root: &Path, version: &str) -> PathBuf {
    target(root).join("releases").join(version)
}

/// The name of a version's attestation.
fn attestation(version: &str) -> String {
    format!("garblet-{version}.release.json")
}

/// The part of an attestation that only the first step knows.
#[derive(Debug, serde::Deserialize)]
struct Said {
    url: String,
    untried: Vec<String>,
}

impl Said {
    /// Reads it in a folder.
    ///
    /// *Errors*: there is none.
    fn read(folder: &Path, version: &str) -> Result<Said, String> {
        let path = folder.join(attestation(version));
        let text = read(&path).map_err(|error| format!("{error}: first make it with `cargo xtask release build`"))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// A release whose tag, version, changelog and golden files fit one another.
struct Release {
    version: String,
    tag: String,
    commit: String,
    rustc: String,
    url: String,
    notes: String,
    /// The public key of the repository, in PEM.
    public_key: String,
}

impl Release {
    /// Checks everything that can be checked before anything is built.
    ///
    /// *Errors*: the tag is not the version's or not what is checked out; changes; no section of the changelog; no golden files of this wire version; no public key.
    fn checked(root: &Path, tag: &str, url: &str) -> Result<Release, String> {
        let version = dist::version(root)?;
        let public_key = public_key(root)?;
        let commit = check_tag(root, tag, &version)?;
        dist::check_committed(root)?;
        check_golden(root, &version, spec::wire_version(root)?)?;
        let notes = changelog::section(&read(&root.join("CHANGELOG.md"))?, &version)?;
        formula::check_url(url, &version)?;
        let rustc = ask(Command::new("rustc").arg("--version").current_dir(root))?.trim().into();
        Ok(Release { version, tag: tag.into(), commit, rustc, url: url.into(), notes, public_key })
    }

    /// Adds to the packages in a folder what a release has besides, with sums of everything.
    ///
    /// *Errors*: the two builds differ; a package is not the one that was built.
    fn finish(&self, folder: &Path, sums: &[String; 2], untried: &[String]) -> Result<(), String> {
        let built = same(sums)?;
        dist::write(&folder.join(SUMS), built)?;
        // A package may have been changed since it was built.
        check_files(folder)?;
        for (name, text) in self.besides(built, untried)? {
            dist::write(&folder.join(name), &text)?;
        }
        let sums = folder.join(SUMS);
        fs::remove_file(&sums).map_err(|error| format!("{}: {error}", sums.display()))?;
        let names = dist::names(folder)?;
        let all = ask(Command::new("sha256sum").args(&names).current_dir(folder))?;
        check_sums(&all, built)?;
        dist::write(&sums, &all)
    }

    /// The files that a release has besides the packages: the attestation, the formula and the changelog's section.
    fn besides(&self, built: &str, untried: &[String]) -> Result<[(String, String); 3], String> {
        let built = entries(built)?;
        let equal: serde_json::Map<_, _> = built.iter().map(|(sum, name)| (name.to_string(), json!(sum))).collect();
        let said = json!({
            "format": 1, "version": self.version, "tag": self.tag, "commit": self.commit, "rustc": self.rustc,
            "url": self.url, "builds": 2, "equal": equal, "untried": untried,
        });
        let said = serde_json::to_string_pretty(&said).map_err(|error| error.to_string())? + "\n";
        let formula = formula::of(&self.url, &self.version, &built)?;
        Ok([(attestation(&self.version), said), ("garblet.rb".into(), formula), (NOTES.into(), self.notes.clone())])
    }

    /// Signs a finished release of this commit. The key is read last.
    ///
    /// *Errors*: the two builds differ; a file is not the one that was built or written then; another commit is checked out by now; another key.
    fn sign(&self, folder: &Path, sums: &[String; 2], untried: &[String], key: &Path) -> Result<(), String> {
        let built = same(sums)?;
        for (name, text) in self.besides(built, untried)? {
            if read(&folder.join(&name))? != text {
                return Err(format!(
                    "{name}: expected what `release build` writes for {} at {}, got another text: nothing is signed; build it again",
                    self.tag, self.commit
                ));
            }
        }
        let all = read(&folder.join(SUMS))?;
        let summed: Vec<&str> = entries(&all)?.into_iter().map(|(_, name)| name).collect();
        let there: Vec<String> = dist::names(folder)?.into_iter().filter(|name| name != SUMS).collect();
        if summed != there {
            return Err(format!(
                "{SUMS}: expected all files of the folder, {there:?}, got {summed:?}: nothing is signed"
            ));
        }
        check_files(folder)?;
        check_sums(&all, built)?;
        let signature = folder.join(SIGNATURE);
        let key = Key::read(key)?;
        self.check_key(&key)?;
        fs::write(&signature, key.sign(all.as_bytes())).map_err(|error| format!("{}: {error}", signature.display()))
    }

    /// Checks that the key is the one whose public half the repository has.
    fn check_key(&self, key: &Key) -> Result<(), String> {
        match self.public_key.trim() == key.public_pem().trim() {
            true => Ok(()),
            false => Err(format!(
                "expected the key of {PUBLIC_KEY}, got another: users verify with the key that the repository has"
            )),
        }
    }
}

/// The checksums of two builds, if they are the same.
fn same([here, there]: &[String; 2]) -> Result<&str, String> {
    match here == there {
        true => Ok(here),
        false => Err(format!("expected two equal builds, got\n{here}\n{there}")),
    }
}

/// Checks the files of a folder against their sums there.
fn check_files(folder: &Path) -> Result<(), String> {
    run(Command::new("sha256sum").args(["--check", "--strict", "--quiet", SUMS]).current_dir(folder)).map(drop)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The sums and names of a file of checksums.
fn entries(sums: &str) -> Result<Vec<(&str, &str)>, String> {
    sums.lines()
        .map(|line| entry(line).ok_or_else(|| format!("{SUMS}: expected a sum and a name, got `{line}`")))
        .collect()
}

/// The sum and the name of a line; the name is that of a file in the same folder.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (sum, name) = line.split_once("  ")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    let is_sum = sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_sum && !name.is_empty() && !name.starts_with('.') && name.chars().all(plain)).then_some((sum, name))
}

/// Checks that the sums to be signed have every package with the sum that two builds gave it.
fn check_sums(all: &str, built: &str) -> Result<(), String> {
    let all = entries(all)?;
    match entries(built)?.into_iter().find(|entry| !all.contains(entry)) {
        None => Ok(()),
        Some((_, name)) => Err(format!("{name}: it was changed after the two builds were compared: nothing is signed")),
    }
}

/// Checks that a folder does not have a signed release, which users may have by now.
fn check_unsigned(folder: &Path) -> Result<(), String> {
    match folder.join(SIGNATURE).exists() {
        false => Ok(()),
        true => Err(format!(
            "{}: there is a signed release of this version: publish these files, or release another version; if you have published none of them, \
             move the folder away and begin again",
            folder.display()
        )),
    }
}

/// Checks that the tag is that of the version, and what is checked out. Returns the commit.
fn check_tag(root: &Path, tag: &str, version: &str) -> Result<String, String> {
    if tag != format!("v{version}") {
        return Err(format!("expected the tag v{version}, for the version in Cargo.toml, got {tag}"));
    }
    let commit =
        |what: &str| ask(Command::new("git").args(["rev-parse", "--verify", "--quiet", what]).current_dir(root));
    // The full name: a branch may be called like the tag.
    let tagged = commit(&format!("refs/tags/{tag}^{{commit}}")).map_err(|_| format!("there is no tag {tag}"))?;
    let here = commit("HEAD^{commit}")?;
    match tagged == here {
        true => Ok(here.trim().into()),
        false => Err(format!("expected {tag} to be checked out, {}, got {}", tagged.trim(), here.trim())),
    }
}

/// The public key of releases, which the repository has.
fn public_key(root: &Path) -> Result<String, String> {
    let published = fs::read_to_string(root.join(PUBLIC_KEY)).unwrap_or_default();
    match key::is_public_pem(&published) {
        true => Ok(published),
        false => Err(format!(
            "{PUBLIC_KEY}: expected the public key of the release, got {}: users verify with the key that the repository has; the first releaser commits it, \
             as `openssl pkey -in KEY -pubout` prints it",
            if published.is_empty() { "nothing" } else { "another text" }
        )),
    }
}

/// The call that makes golden files.
const MAKE_GOLDEN: &str = "GARBLET_MAKE_GOLDEN=1 cargo test -p garblet-cli --test cli golden";

/// Checks that the repository has golden files of the version, which every later one must read, and that the code of this wire version wrote them.
fn check_golden(root: &Path, version: &str, wire_version: u64) -> Result<(), String> {
    let folder = PathBuf::from("vectors/golden").join(version);
    if !root.join(&folder).is_dir() {
        return Err(format!(
            "{}: expected the golden files of this version, got nothing: make them with {MAKE_GOLDEN}",
            folder.display()
        ));
    }
    let stale = golden_wire_versions(&root.join(&folder))?.into_iter().find(|(_, golden)| *golden != wire_version);
    match stale {
        None => Ok(()),
        Some((name, golden)) => Err(format!(
            "{}: expected golden files of wire version {wire_version}, got {golden}: no release has these files yet, so remove the folder, \
             make it again with {MAKE_GOLDEN}, and commit it before you tag",
            folder.join(name).display()
        )),
    }
}

/// The wire version of the newest receipt in each log of a folder.
///
/// *Errors*: no log; a last line without a wire version.
fn golden_wire_versions(folder: &Path) -> Result<Vec<(String, u64)>, String> {
    let logs: Vec<String> = dist::names(folder)?.into_iter().filter(|name| name.ends_with(".jsonl")).collect();
    if logs.is_empty() {
        return Err(format!("{}: expected a log of receipts, got none", folder.display()));
    }
    let newest = |name: String| {
        let path = folder.join(&name);
        let text = read(&path)?;
        let receipt = serde_json::from_str::<serde_json::Value>(text.lines().last().unwrap_or_default()).ok();
        let wire_version = receipt.and_then(|receipt| receipt["wire_version"].as_u64());
        let wire_version =
            wire_version.ok_or_else(|| format!("{}: the last line has no wire version", path.display()))?;
        Ok((name, wire_version))
    };
    logs.into_iter().map(newest).collect()
}

#[cfg(test)]
mod tests;
