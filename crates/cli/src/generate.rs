//! `garblet generate`: manual pages and completions, for packagers.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::CommandFactory;
use clap_complete::Shell;
use garblet_console::failure::Failure;

use crate::commands::Cli;

/// The shells with completions.
const SHELLS: [Shell; 4] = [Shell::Bash, Shell::Fish, Shell::PowerShell, Shell::Zsh];

/// The options of `garblet generate`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The folder in which to create `man` and `completions`
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    write(&options.folder).map_err(|error| Failure::unwritable(&options.folder, &error))
}

fn write(folder: &Path) -> io::Result<()> {
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    clap_mangen::generate_to(Cli::command(), man)?;
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut Cli::command(), "garblet", &completions)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_its_page_and_each_shell_its_completions() {
        let scratch = tempfile::tempdir().expect("a folder");
        write(scratch.path()).expect("written");
        for name in ["man/garblet.1", "man/garblet-run.1", "man/garblet-job-sign.1", "completions/_garblet"] {
            let text = fs::read_to_string(scratch.path().join(name)).expect(name);
            assert!(text.contains("garblet"), "{name}");
        }
        assert!(!scratch.path().join("man/garblet-child.1").exists(), "it is internal");
        assert_eq!(fs::read_dir(scratch.path().join("completions")).expect("a folder").count(), SHELLS.len());
    }
}
