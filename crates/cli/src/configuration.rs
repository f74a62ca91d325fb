//! The configuration folder, where identities, trusted peers and keys are unless files are named.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file that was named, or its default place.
pub(crate) fn in_configuration(named: Option<&Path>, name: &str) -> Result<PathBuf, Failure> {
    if let Some(path) = named {
        return Ok(path.into());
    }
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let folder = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
    match folder {
        Some(folder) => Ok(folder.join("garblet").join(name)),
        None => Err(Failure::call(format!("there is no place for {name}: neither XDG_CONFIG_HOME nor HOME is set"))
            .hint("name the file")),
    }
}

/// Makes the folder of a file.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    match path.parent() {
        Some(folder) => std::fs::create_dir_all(folder).map_err(|e| Failure::unwritable(folder, &e)),
        None => Ok(()),
    }
}
