//! The packages that users install: `target/packages`, with an archive, a Debian package and a wheel for each processor, the wheel for Ray clusters, the
//! package for npm, a file for an image, a list of all parts, and checksums.
//!
//! `cargo-zigbuild`, `ziglang` and `maturin`, which pip installs under `target`, link for an old glibc and for another processor than this one. `hatchling`
//! makes the wheel that is only Python. The same commit gives the same bytes from every folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::{ask, is_there, renew, run, target};
use crate::steps::{Step, cargo};
use crate::{image, installed, parts, party, python, web};

/// The linker for other machines, its driver, and the two makers of wheels.
const TOOLS: [&str; 4] = ["cargo-zigbuild==0.24.1", "ziglang==0.15.2", "maturin==1.16.0", "hatchling==1.33.0"];

/// The oldest glibc that the programs run with.
const GLIBC: &str = "2.17";
/// The same for wheels.
const MANYLINUX: &str = "manylinux_2_17";

/// A processor, by its names in Rust and Debian.
struct Machine {
    arch: &'static str,
    debian: &'static str,
}

const MACHINES: [Machine; 2] =
    [Machine { arch: "x86_64", debian: "amd64" }, Machine { arch: "aarch64", debian: "arm64" }];

/// The files of the project that are in every package.
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

impl Machine {
    fn triple(&self) -> String {
        format!("{}-unknown-linux-gnu", self.arch)
    }
}

/// Makes all packages, and tries them.
pub(crate) fn steps() -> Vec<Step> {
    vec![untried_step(), Step::check("installed packages", || findings(try_installed(&crate::root())))]
}

/// Makes all packages, and does not try them.
pub(crate) fn untried_step() -> Step {
    Step::check("packages", || findings(packages(&crate::root())))
}

/// Makes all packages here and in a clone elsewhere, and compares them.
pub(crate) fn twice() -> Vec<Step> {
    let mut steps = steps();
    steps.push(Step::check("packages of a clone", || findings(compare(&crate::root()).map(drop))));
    steps
}

/// The version of the packages, as cargo knows it.
///
/// *Errors*: cargo's own.
pub(crate) fn version(root: &Path) -> Result<String, String> {
    let version = ask(cargo().args(["pkgid", "--package", "garblet-cli"]).current_dir(root))?;
    Ok(version.trim().rsplit(['@', '#']).next().unwrap_or_default().into())
}

fn try_installed(root: &Path) -> Result<(), String> {
    installed::try_all(root, &folder(root), &version(root)?).map(drop)
}

fn findings(result: Result<(), String>) -> Vec<String> {
    result.err().into_iter().collect()
}

/// The folder of the packages.
pub(crate) fn folder(root: &Path) -> PathBuf {
    target(root).join("packages")
}

/// Makes all packages of what is committed.
///
/// *Errors*: changes; a tool that is missing, or fails.
pub(crate) fn packages(root: &Path) -> Result<(), String> {
    let (folder, made) = (folder(root), target(root).join("packages-parts"));
    for path in [&folder, &made] {
        renew(path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    check_committed(root)?;
    let build = Build::new(root)?;
    let client = build.client(&made)?;
    for machine in &MACHINES {
        eprintln!("building for {}", machine.triple());
        build.compile(machine, &client)?;
    }
    let own = MACHINES.iter().find(|machine| machine.arch == std::env::consts::ARCH);
    let own = own.ok_or("the program writes its own manual pages, and does not run on this processor")?;
    run(Command::new(build.program(own)).arg("generate").arg(&made))?;
    build.check_client(&build.program(own), &client)?;
    for machine in &MACHINES {
        build.archive(machine, &made, &folder)?;
        build.debian(machine, &made, &folder)?;
        build.wheel(machine, &folder)?;
    }
    build.wheel_for_ray(&folder)?;
    build.npm(&made, &folder)?;
    let example = root.join("examples/service/Containerfile");
    let example = fs::read_to_string(&example).map_err(|error| format!("{}: {error}", example.display()))?;
    write(&folder.join("Containerfile"), &image::of_packages(&example, &build.version)?)?;
    let parts = parts::list(root)?;
    write(&folder.join(format!("garblet-{}.cdx.json", build.version)), &parts)?;
    let names = names(&folder)?;
    let sums = ask(Command::new("sha256sum").args(&names).current_dir(&folder))?;
    write(&folder.join("SHA256SUMS"), &sums)?;
    eprintln!("{}\n{sums}", folder.display());
    Ok(())
}

/// Checks that the packages will be those of the commit: nothing is changed, and among the files of the wheels nothing is unknown to git
/// except the module of the tests, which is left out of them.
pub(crate) fn check_committed(root: &Path) -> Result<(), String> {
    let git = |arguments: &[&str]| ask(Command::new("git").args(arguments).current_dir(root));
    let changed = git(&["status", "--porcelain"])?;
    let beside = git(&["ls-files", "--others", "python/garblet", "python-ray/garblet_ray"])?;
    let beside = beside.lines().filter(|name| !name.ends_with(".abi3.so"));
    let all: Vec<&str> = changed.lines().chain(beside).collect();
    match all.is_empty() {
        true => Ok(()),
        false => Err(format!("expected what is committed and no more, got\n{}\ncommit or remove it", all.join("\n"))),
    }
}

/// The names of all files in a folder, in order.
///
/// *Errors*: a folder that cannot be read.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, String> {
    let unreadable = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let mut names: Vec<String> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    Ok(names)
}

/// Writes a file, and makes its folder.
///
/// *Errors*: the file cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder).and_then(|()| fs::write(path, text)).map_err(|e| format!("{}: {e}", path.display()))
}

/// Copies a file, and makes its new folder.
///
/// *Errors*: either file.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let folder = to.parent().unwrap_or(Path::new(""));
    let copied = fs::create_dir_all(folder).and_then(|()| fs::copy(from, to));
    copied.map(drop).map_err(|error| format!("{}: {error}", from.display()))
}

/// The commit to package.
struct Build {
    root: PathBuf,
    version: String,
    /// The time of the commit, in seconds since 1970, which all files have.
    time: String,
    /// The folder of the tools.
    tools: PathBuf,
    /// The tool that makes JavaScript of a module.
    bindgen: PathBuf,
}

impl Build {
    /// Installs the tools, and Rust's own libraries for other processors and for pages.
    fn new(root: &Path) -> Result<Self, String> {
        let missing = party::missing(root).map(|reason| format!("the package for npm cannot be made: {reason}"));
        missing.map_or(Ok(()), Err)?;
        if let Some(name) = ["node", "npm"].into_iter().find(|name| !is_there(name)) {
            return Err(format!("the package for npm cannot be tried: {name} is not installed"));
        }
        let tools = target(root).join("packages-tools");
        if !tools.join("bin/pip").exists() {
            run(Command::new("python3").args(["-m", "venv"]).arg(&tools))?;
        }
        run(Command::new(tools.join("bin/pip")).args(["install", "--quiet"]).args(TOOLS))?;
        for machine in &MACHINES {
            run(Command::new("rustup").args(["target", "add", &machine.triple()]).current_dir(root))?;
        }
        let time = ask(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root))?.trim().into();
        Ok(Build { root: root.into(), version: version(root)?, time, tools, bindgen: web::tool(root)? })
    }

    fn program(&self, machine: &Machine) -> PathBuf {
        target(&self.root).join(machine.triple()).join("dist/garblet")
    }

    /// The client for pages, which the command contains.
    fn client(&self, made: &Path) -> Result<PathBuf, String> {
        eprintln!("building the client for pages");
        let folder = made.join("web");
        let mut build = self.without_paths(cargo(), "build")?;
        web::assemble(&self.root, &self.bindgen, (build.args(["--quiet", "--locked"]), "dist"), &folder)?;
        Ok(folder)
    }

    /// Checks that a program contains the client.
    fn check_client(&self, program: &Path, client: &Path) -> Result<(), String> {
        let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let (whole, module) = (read(program)?, read(&client.join("garblet_bg.wasm"))?);
        // Windows of all bytes would take long: a module begins with these eight.
        let begins = whole.windows(8).enumerate().filter(|(_, window)| *window == &module[..8]).map(|(at, _)| at);
        match { begins }.any(|at| whole[at..].starts_with(&module)) {
            true => Ok(()),
            false => Err(format!("{}: the client for pages is not in it", program.display())),
        }
    }

    /// Compiles the command, which contains the client for pages, without any path of this machine in it.
    fn compile(&self, machine: &Machine, client: &Path) -> Result<(), String> {
        let mut build = self.tool("cargo-zigbuild", "zigbuild")?;
        build.args(["--quiet", "--locked", "--profile", "dist", "--package", "garblet-cli", "--features", "parquet"]);
        build.env("GARBLET_WEB_CLIENT", client);
        run(build.args(["--target", &format!("{}.{GLIBC}", machine.triple())]))?;
        self.check_pathless(&self.program(machine))
    }

    /// `garblet-VERSION-cp311-abi3-manylinux2014_ARCH.manylinux_2_17_ARCH.whl`: the package for Python, with nothing of this machine in it.
    fn wheel(&self, machine: &Machine, folder: &Path) -> Result<(), String> {
        eprintln!("building the wheel for {}", machine.triple());
        let mut build = self.tool("maturin", "build")?;
        build.args(["--quiet", "--locked", "--profile", "dist", "--zig", "--compatibility", MANYLINUX]);
        build.args(["--target", &machine.triple()]).arg("--out").arg(folder);
        run(build.current_dir(self.root.join(python::GARBLET)))?;
        let is_its = |name: &&String| name.ends_with(&format!("{}.whl", machine.arch));
        let wheel = names(folder)?.iter().find(is_its).map(|name| folder.join(name));
        let wheel = wheel.ok_or_else(|| format!("{}: maturin has made no wheel", folder.display()))?;
        self.check_wheel(&wheel, machine.arch)
    }

    /// `garblet_ray-VERSION-py3-none-any.whl`: the package for Ray clusters, which is the same for all processors.
    fn wheel_for_ray(&self, folder: &Path) -> Result<(), String> {
        eprintln!("building the wheel for Ray clusters");
        let mut build = Command::new(self.tools.join("bin/hatchling"));
        build.args(["build", "--target", "wheel", "--directory"]).arg(folder).env("SOURCE_DATE_EPOCH", &self.time);
        run(build.current_dir(self.root.join(python::RAY)))?;
        self.check_wheel(&folder.join(format!("garblet_ray-{}-py3-none-any.whl", self.version)), "any")
    }

    /// Checks that no file in a wheel names a folder of this machine.
    fn check_wheel(&self, wheel: &Path, machine: &str) -> Result<(), String> {
        // Uncompressed: a wheel is a zip file.
        let inside = target(&self.root).join("packages-parts").join(format!("wheel-{machine}"));
        run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(&inside))?;
        for file in files_below(&inside).map_err(|error| format!("{}: {error}", inside.display()))? {
            self.check_pathless(&file)?;
        }
        Ok(())
    }

    /// `garblet-party-VERSION.tgz`: the package for npm.
    fn npm(&self, made: &Path, folder: &Path) -> Result<(), String> {
        eprintln!("building the package for npm");
        let (inside, archive) = (made.join("party"), folder.join(format!("garblet-party-{}.tgz", self.version)));
        let mut build = self.without_paths(cargo(), "build")?;
        party::assemble(&self.root, &self.bindgen, (build.args(["--quiet", "--locked"]), "dist"), &inside)?;
        self.check_pathless(&inside.join("party_bg.wasm"))?;
        party::pack(&inside, &archive, &self.time)?;
        party::try_by_npm(&self.root, &archive)
    }

    /// Checks that a file names no folder of this machine.
    fn check_pathless(&self, file: &Path) -> Result<(), String> {
        let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let named =
            self.renamed()?.into_iter().find(|(from, _)| bytes.windows(from.len()).any(|w| w == from.as_bytes()));
        named.map_or(Ok(()), |(from, _)| Err(format!("{}: names {from}, a folder of this machine", file.display())))
    }

    /// The folders of this machine, with their names in compiled code.
    fn renamed(&self) -> Result<[(String, &'static str); 2], String> {
        let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
        let home = home.map_err(|_| "neither CARGO_HOME nor HOME is set")?;
        Ok([(home, "/cargo"), (self.root.display().to_string(), "/garblet")])
    }

    /// One of the tools, set up so that its output contains no path of this machine.
    fn tool(&self, name: &str, task: &str) -> Result<Command, String> {
        self.without_paths(Command::new(self.tools.join("bin").join(name)), task)
    }

    /// A program that compiles, set up so that its output contains no path of this machine.
    fn without_paths(&self, mut tool: Command, task: &str) -> Result<Command, String> {
        let renamed = self.renamed()?;
        let flags: Vec<String> =
            renamed.iter().map(|(from, to)| format!("\"--remap-path-prefix={from}={to}\"")).collect();
        let c_flags: Vec<String> = renamed.iter().map(|(from, to)| format!("-ffile-prefix-map={from}={to}")).collect();
        let path = std::env::var("PATH").unwrap_or_default();
        // Besides those of the project's own configuration, which a variable would override.
        tool.args([task, "--config", &format!("target.'cfg(all())'.rustflags=[{}]", flags.join(", "))]);
        tool.env("PATH", format!("{}:{path}", self.tools.join("bin").display())).env("CFLAGS", c_flags.join(" "));
        tool.env("CARGO_TARGET_DIR", target(&self.root))
            .env("SOURCE_DATE_EPOCH", &self.time)
            .env("CARGO_INCREMENTAL", "0")
            .current_dir(&self.root);
        Ok(tool)
    }

    /// `garblet-VERSION-TRIPLE.tar.xz`: the command, its manual pages and completions.
    fn archive(&self, machine: &Machine, made: &Path, folder: &Path) -> Result<(), String> {
        let name = format!("garblet-{}-{}", self.version, machine.triple());
        let inside = made.join(&name);
        copy(&self.program(machine), &inside.join("garblet"))?;
        for text in TEXTS {
            copy(&self.root.join(text), &inside.join(text))?;
        }
        for part in ["man", "completions"] {
            for file in names(&made.join(part))? {
                copy(&made.join(part).join(&file), &inside.join(part).join(&file))?;
            }
        }
        let archive = folder.join(format!("{name}.tar.xz"));
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]);
        tar.arg(format!("--mtime=@{}", self.time)).args(["--use-compress-program=xz -9 --threads=1", "-cf"]);
        run(tar.arg(archive).arg(&name).current_dir(made)).map(drop)
    }

    /// `garblet_VERSION_MACHINE.deb`.
    fn debian(&self, machine: &Machine, made: &Path, folder: &Path) -> Result<(), String> {
        let name = format!("garblet_{}_{}", self.version, machine.debian);
        let (inside, share) = (made.join(&name), made.join(&name).join("usr/share"));
        copy(&self.program(machine), &inside.join("usr/bin/garblet"))?;
        copy(&self.root.join("LICENSE-MIT"), &share.join("doc/garblet/copyright"))?;
        for page in names(&made.join("man"))? {
            let to = share.join("man/man1").join(&page);
            copy(&made.join("man").join(&page), &to)?;
            run(Command::new("gzip").args(["--no-name", "--best"]).arg(to))?;
        }
        for (file, to) in [
            ("garblet.bash", "bash-completion/completions/garblet"),
            ("_garblet", "zsh/vendor-completions/_garblet"),
            ("garblet.fish", "fish/vendor_completions.d/garblet.fish"),
        ] {
            copy(&made.join("completions").join(file), &share.join(to))?;
        }
        let control = format!(
            "Package: garblet\nVersion: {}\nArchitecture: {}\nMaintainer: The Garblet developers <garblet@localhost>\nSection: utils\nPriority: optional\nDepends: libc6 (>= {GLIBC})\n\
             Description: secure computation by garbled circuits\n Parties who do not trust one another compute a function of their private inputs, and prepare most of\n the work before these are known.\n",
            self.version, machine.debian
        );
        write(&inside.join("DEBIAN/control"), &control)?;
        run(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&inside))?;
        let mut deb = Command::new("dpkg-deb");
        deb.args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"]).arg(&inside);
        run(deb.arg(folder.join(format!("{name}.deb"))).env("SOURCE_DATE_EPOCH", &self.time)).map(drop)
    }
}

/// All files in a folder and its subfolders.
fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => files.extend(files_below(&path)?),
            false => files.push(path),
        }
    }
    Ok(files)
}

/// The clone in which the packages are made once more.
fn clone_of(root: &Path) -> PathBuf {
    target(root).join("packages-clone/elsewhere")
}

/// Makes the packages of the same commit in a clone, and compares their checksums with those here. Returns both, which are equal.
pub(crate) fn compare(root: &Path) -> Result<[String; 2], String> {
    let clone = clone_of(root);
    let _ = fs::remove_dir_all(&clone);
    run(Command::new("git").args(["clone", "--quiet"]).arg(root).arg(&clone))?;
    let ours = ask(Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root))?;
    run(Command::new("git").args(["checkout", "--quiet", ours.trim()]).current_dir(&clone))?;
    // Equal packages need no second trial.
    run(cargo().args(["xtask", "dist", "--untried"]).env_remove("CARGO_TARGET_DIR").current_dir(&clone))?;
    sums_of_both(root)
}

/// The checksums of the packages that were made here and of those of the clone, which are equal.
///
/// *Errors*: they were not made; they differ.
pub(crate) fn sums_of_both(root: &Path) -> Result<[String; 2], String> {
    let clone = clone_of(root);
    let sums = |folder: PathBuf| {
        let path = folder.join("SHA256SUMS");
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let (here, there) = (sums(folder(root))?, sums(clone.join("target/packages"))?);
    match here == there {
        true => Ok([here, there]),
        false => Err(format!("the same commit gives other packages in {}:\n{here}\n{there}", clone.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_of_what_is_committed_and_no_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let git = |arguments: &[&str]| {
            let who = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
            run(Command::new("git").args(who).args(arguments).current_dir(root)).expect("git works");
        };
        let put = |name: &str| write(&root.join("python/garblet").join(name), "1").expect("written");
        git(&["init", "--quiet"]);
        write(&root.join(".gitignore"), "*.pyc\n*.so\n").expect("written");
        put("a.py");
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message", "all"]);
        // The module of the tests is not part of a wheel.
        put("_garblet.abi3.so");
        assert_eq!(check_committed(root), Ok(()));
        put("__pycache__/a.pyc");
        assert!(check_committed(root).expect_err("ignored, and packed").contains("python/garblet/__pycache__/a.pyc"));
        fs::remove_dir_all(root.join("python/garblet/__pycache__")).expect("removed");
        let beside = root.join("python-ray/garblet_ray/a.pyc");
        write(&beside, "1").expect("written");
        assert!(check_committed(root).expect_err("ignored, and packed").contains("python-ray/garblet_ray/a.pyc"));
        fs::remove_file(beside).expect("removed");
        write(&root.join("python/garblet/a.py"), "2").expect("written");
        assert!(check_committed(root).expect_err("changed").contains("M python/garblet/a.py"));
    }

    #[test]
    fn a_file_that_names_a_folder_of_this_machine_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let [version, time] = [String::new(), String::new()];
        let build = Build { root: root.into(), version, time, tools: PathBuf::new(), bindgen: PathBuf::new() };
        let file = root.join("program");
        let check = |text: &str| {
            write(&file, text).expect("written");
            build.check_pathless(&file)
        };
        assert_eq!(check("\0/garblet/crates/cli/src/main.rs\0"), Ok(()));
        let named = check(&format!("\0{}/crates/cli/src/main.rs\0", root.display())).expect_err("it names the root");
        assert!(named.ends_with(&format!("names {}, a folder of this machine", root.display())), "{named}");
    }
}
