//! The files of `examples/service`.

use std::{
    fs::{self, File},
    process::{Command, Stdio},
};

use super::Running;
use crate::{
    identities::keygen,
    invocation::{Folder, command, garblet, root},
};

fn example(name: &str) -> String {
    fs::read_to_string(root().join("examples/service").join(name)).expect("a file of the example")
}

#[test]
fn the_configuration_loads_unchanged() {
    let folder = Folder::new("service-example");
    let (_, own) = keygen(&folder, "identity.pem");
    let (_, shop) = keygen(&folder, "shop.pem");
    assert_eq!(garblet(&["trust", "add", "shop", &shop, "--trust", &folder.path("trust.toml")]).status, Some(0));
    fs::create_dir(folder.path("jobs")).expect("a folder");
    let parties = [format!("bank={own}"), format!("shop={shop}")];
    let program = "examples/millionaires/millionaires.garble.rs";
    let job = ["job", "new", program, "--party", &parties[0], "--party", &parties[1], "--out"];
    let ran = garblet(&[&job[..], &[&folder.path("jobs/richer.toml")]].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    folder.file("wealth.json", &example("wealth.json"));
    // The ports may be in use here.
    let text = example("serve.toml").replace("0.0.0.0:7745", "127.0.0.1:0").replace("127.0.0.1:9745", "127.0.0.1:0");
    let (file, log) = (folder.file("serve.toml", &text), folder.path("log"));
    let stderr = File::create(&log).expect("a log");
    let child = command(&["serve", "--config", &file]).stdout(Stdio::null()).stderr(stderr).spawn();
    let mut service = Running { child: Some(child.expect("the command starts")), address: String::new(), log };
    service.wait_for("metrics are at");
    let log = service.log();
    let mut warnings = log.lines().filter(|line| line.contains("WARN"));
    assert!(warnings.all(|line| line.contains(" created ")), "{log}");
}

#[test]
fn the_unit_is_one_of_systemd() {
    let unit = example("garblet.service");
    let (mut section, mut seen) = (String::new(), Vec::new());
    for line in unit.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(name) => section = name.into(),
            None => {
                let (key, _) = line.split_once('=').unwrap_or_else(|| panic!("{line}"));
                assert!(key.chars().all(|c| c.is_ascii_alphanumeric()) && !section.is_empty(), "{line}");
                seen.push(format!("{section}.{key}"));
            }
        }
    }
    for key in
        ["Unit.Description", "Service.ExecStart", "Service.ExecReload", "Service.ProtectSystem", "Install.WantedBy"]
    {
        assert!(seen.iter().any(|seen| seen == key), "{key}");
    }
    // If systemd is installed, let it check the unit, with the command's path replaced by the one here.
    let folder = Folder::new("service-unit");
    let here = unit.replace("/usr/bin/garblet", env!("CARGO_BIN_EXE_garblet"));
    let file = folder.file("garblet.service", &here);
    match Command::new("systemd-analyze").args(["verify", "--man=no", &file]).output() {
        Ok(looked) => {
            let said = String::from_utf8_lossy(&looked.stderr).into_owned();
            assert!(!said.contains("garblet.service:"), "{said}");
        }
        Err(error) => println!("systemd-analyze: {error}: the unit is only parsed"),
    }
}

#[test]
fn the_image_file_has_known_instructions_and_ends_in_the_service() {
    const KNOWN: [&str; 10] =
        ["FROM", "RUN", "WORKDIR", "COPY", "USER", "ENV", "VOLUME", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT"];
    let text = example("Containerfile");
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let instruction = |line: &str| line.split_whitespace().next().unwrap_or_default().to_string();
    assert!(lines.iter().all(|line| KNOWN.contains(&&instruction(line)[..])), "{text}");
    assert_eq!(instruction(lines[0]), "FROM");
    let last = lines.last().and_then(|line| line.strip_prefix("ENTRYPOINT ")).expect("an entry point");
    let command: Vec<String> = serde_json::from_str(last).expect("a list");
    assert_eq!(command, ["/usr/bin/garblet", "serve", "--config", "/etc/garblet/serve.toml"]);
    let users = lines.iter().filter(|line| instruction(line) == "USER").count();
    assert_eq!(users, 1, "it does not run as root");
}
