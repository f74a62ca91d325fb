//! The configuration folder, the default place of identities, trusted peers and keys.

use std::path::{Path, PathBuf};

use crate::{failure::Failure, whole_file::has_list};

/// The named file, or its default place.
pub fn in_configuration(named: Option<&Path>, name: &str) -> Result<PathBuf, Failure> {
    if let Some(path) = named {
        return Ok(path.into());
    }
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    // As its specification says, one that is not absolute counts as none: it would be another folder wherever a process goes.
    let folder = variable("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| Some(variable("HOME")?.join(".config")));
    match folder {
        Some(folder) => Ok(folder.join("garblet").join(name)),
        None => Err(Failure::call(format!("no folder for {name}: neither XDG_CONFIG_HOME nor HOME is set"))
            .hint("name the file, or set XDG_CONFIG_HOME")),
    }
}

/// Creates the folder of a file, for its owner only.
pub fn make_folder(path: &Path) -> Result<(), Failure> {
    match path.parent() {
        Some(folder) => make_own_folder(folder).map_err(|error| {
            // The system says that a file exists, or that something is no directory, but not what.
            match folder.ancestors().find(|above| above.symlink_metadata().is_ok()) {
                Some(above) if !above.is_dir() => {
                    Failure::no_result(format!("{}: cannot be made: {} is no folder", path.display(), above.display()))
                }
                _ => Failure::unwritable(folder, &error),
            }
        }),
        None => Ok(()),
    }
}

/// Creates a missing folder and its parents for the owner only, whatever the umask.
pub fn make_own_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match folder.as_os_str().is_empty() {
        true => Ok(()),
        false => builder.recursive(true).create(folder),
    }
}

/// The most links from a file to another, as in the system.
const LINKS_MAX: usize = 40;

/// Checks that nobody else can write or replace a file or folder, what it links to, or any link or folder on the way there.
///
/// *Errors*: others may write one of these, or one belongs to somebody else.
pub fn check_unwritable_with_folders(path: &Path) -> Result<(), Failure> {
    let unreadable = |error| Failure::unreadable(path, &error);
    path.canonicalize().map_err(unreadable)?;
    let reversed = |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let (mut place, mut ahead) = (PathBuf::new(), reversed(&std::path::absolute(path).map_err(unreadable)?));
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        let next = place.join(&part);
        // Everything but the last part is on the way to it.
        let leads_to = (!ahead.is_empty()).then_some(path);
        match std::fs::read_link(&next) {
            _ if part == "." => {}
            _ if part == ".." => drop(place.pop()),
            Ok(target) if links < LINKS_MAX => {
                check_owner(&next, &std::fs::symlink_metadata(&next).map_err(unreadable)?, leads_to)?;
                links += 1;
                ahead.extend(reversed(&target));
            }
            // An absolute path, also that of a link, begins again at the root.
            _ => {
                check_unwritable(&next, leads_to)?;
                place = next;
            }
        }
    }
    Ok(())
}

/// The file of a program, which is the one that is started: the named path, or the first executable of that name in the folders of `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    #[cfg(unix)]
    let is_there = |path: &PathBuf| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).is_ok_and(|there| there.is_file() && there.permissions().mode() & 0o111 != 0)
    };
    #[cfg(not(unix))]
    let is_there = |path: &PathBuf| path.is_file();
    match name.contains('/') {
        true => Some(PathBuf::from(name)).filter(is_there),
        false => std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(name)).find(is_there),
    }
}

/// Checks that only this user and the superuser can write a file or add to a folder, since it decides whom a service serves and with what data. `leads_to` is
/// the file that others could replace, if this folder is on the way to it.
///
/// *Errors*: others may write it, or it belongs to somebody else.
#[cfg(unix)]
fn check_unwritable(path: &Path, leads_to: Option<&Path>) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt;
    /// The sticky bit: files of other users in such a folder cannot be replaced.
    const STICKY: u32 = 0o1000;
    let there = std::fs::metadata(path).map_err(|error| Failure::unreadable(path, &error))?;
    check_owner(path, &there, leads_to)?;
    let (mode, owner, own) = (there.mode(), there.uid(), rustix::process::geteuid().as_raw());
    let place = path.display();
    let is_of_group = || !has_list(path) && is_own_group(there.gid(), [owner, own]);
    let is_of_others = mode & 0o002 != 0 || (mode & 0o020 != 0 && !is_of_group());
    if !is_of_others || (there.is_dir() && mode & STICKY != 0) {
        return Ok(());
    }
    let what = format!("{place} has mode {:03o}, expected {:03o}", mode & 0o777, mode & 0o755);
    Err(match leads_to {
        None => Failure::call(format!("{what}: other users of this machine can write it"))
            .hint(format!("chmod go-w {place}")),
        Some(file) => Failure::call(format!("{}: other users of this machine can replace it: {what}", file.display()))
            .hint(format!("move it to a folder of your own, or run chmod go-w {place} if that folder is yours")),
    })
}

/// Checks that a file, folder or link belongs to this user or the superuser. `leads_to` is as for [`check_unwritable`].
#[cfg(unix)]
fn check_owner(path: &Path, there: &std::fs::Metadata, leads_to: Option<&Path>) -> Result<(), Failure> {
    let (owner, own) = (std::os::unix::fs::MetadataExt::uid(there), rustix::process::geteuid().as_raw());
    if owner == 0 || owner == own {
        return Ok(());
    }
    let (place, of_link) = (path.display(), if there.is_symlink() { "-h " } else { "" });
    let what = format!("{place} belongs to user {owner}, expected the current user {own} or the superuser");
    Err(match leads_to {
        None => Failure::call(what).hint(format!("chown {of_link}{own} {place}")),
        Some(file) => Failure::call(format!("{}: another user of this machine can replace it: {what}", file.display()))
            .hint("move it to a folder of your own, below folders of yours or of the superuser"),
    })
}

/// Returns whether the only member of a group is one of these users, according to this machine's own files. Many systems give every user a private group
/// that may write the user's files.
#[cfg(unix)]
fn is_own_group(group: u32, users: [u32; 2]) -> bool {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    let (accounts, groups) = (read("/etc/passwd"), read("/etc/group"));
    users.iter().any(|user| has_one_member((group, *user), &accounts, &groups))
}

/// The same for one user, by the text of these files. A group or user missing there may be known elsewhere and have other members.
#[cfg(unix)]
fn has_one_member((group, user): (u32, u32), accounts: &str, groups: &str) -> bool {
    let number = |text: Option<&&str>, number: u32| text.is_some_and(|text| text.parse() == Ok(number));
    let (accounts, groups) = (fields(accounts), fields(groups));
    let names: Vec<&str> = accounts.iter().filter(|line| number(line.get(2), user)).map(|line| line[0]).collect();
    let mut of_group = accounts.iter().filter(|line| number(line.get(3), group)).peekable();
    let mut listed = groups.iter().filter(|line| number(line.get(2), group)).peekable();
    let is_known = of_group.peek().is_some() && listed.peek().is_some();
    let members = listed.flat_map(|line| line.get(3).into_iter().flat_map(|members| members.split(',')));
    let mut others = members.filter(|member| !member.trim().is_empty() && !names.contains(&member.trim()));
    is_known && of_group.all(|line| number(line.get(2), user)) && others.next().is_none()
}

/// The fields of each line of such a file.
#[cfg(unix)]
fn fields(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(':').collect()).collect()
}

/// The same where there are no such rights.
#[cfg(not(unix))]
fn check_owner(_: &Path, _: &std::fs::Metadata, _: Option<&Path>) -> Result<(), Failure> {
    Ok(())
}

/// The same where there are no such rights.
#[cfg(not(unix))]
fn check_unwritable(_: &Path, _: Option<&Path>) -> Result<(), Failure> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_in_place_of_a_folder_is_named() {
        let scratch = tempfile::tempdir().expect("a folder");
        let file = scratch.path().join("good");
        std::fs::write(&file, "").expect("a file");
        for below in ["x", "x/y"] {
            let path = file.join(below);
            let says = format!("{}: cannot be made: {} is no folder", path.display(), file.display());
            assert_eq!(make_folder(&path).expect_err("refused").message, says);
        }
    }

    #[test]
    fn a_group_with_other_members_is_not_the_users_own() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\nbob:x:1000:1000::/home/bob:/bin/sh\neve:x:1001:100::/home/eve:/bin/sh\n\
            mallory:x:1002:100::/:/bin/sh\n";
        let groups = "root:x:0:\nbob:x:1000:\nusers:x:100:\nadm:x:4:bob\n";
        let is_own = |group, user, groups: &str| has_one_member((group, user), accounts, groups);
        assert!(is_own(1000, 1000, groups) && is_own(0, 0, groups));
        assert!(is_own(1000, 1000, "bob:x:1000:bob\n"), "the user itself is listed");
        // A shared group, another user's, one to which the user was only added, and unknown ones.
        for (group, user, groups) in [
            (100, 1001, groups),
            (1000, 1001, groups),
            (4, 1000, groups),
            (1000, 1000, "bob:x:1000:bob,eve\n"),
            (1000, 1000, "bob:x:1000:\nshared:x:1000:eve\n"),
            (1000, 1000, "root:x:0:\n"),
            (7, 7, groups),
            (1000, 1000, ""),
        ] {
            assert!(!is_own(group, user, groups), "{group} of {user}: {groups}");
        }
    }

    /// With an access list, the group bits are the list's mask, so the group says nothing.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_others_may_write_by_an_access_list_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trust.toml");
        std::fs::write(&path, "").expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
        check_unwritable(&path, None).expect("nobody else may write it");
        // Version 2; the owner, user 1234, the group, the mask and all others, each with its permissions (acl(5), `posix_acl_xattr.h`).
        let entries =
            [(1u16, 6u16, u32::MAX), (2, 6, 1234), (4, 0, u32::MAX), (0x10, 6, u32::MAX), (0x20, 0, u32::MAX)];
        let mut list = 2u32.to_le_bytes().to_vec();
        for (tag, may, id) in entries {
            list.extend(tag.to_le_bytes().into_iter().chain(may.to_le_bytes()).chain(id.to_le_bytes()));
        }
        let flags = rustix::fs::XattrFlags::empty();
        if rustix::fs::setxattr(&path, "system.posix_acl_access", &list, flags).is_err() {
            let note = "SKIPPED: this folder's file system has no access lists";
            return writeln!(std::io::stderr(), "{note}").expect("standard error");
        }
        let error = check_unwritable(&path, None).expect_err("user 1234 may write it").message;
        assert!(error.contains("has mode 660, expected 640"), "{error}");
    }

    #[test]
    fn a_link_on_the_way_that_others_may_replace_is_refused() {
        use std::os::unix::fs::symlink;
        let scratch = tempfile::tempdir().expect("a folder");
        let [first, between, last] = ["first", "between", "last"].map(|name| scratch.path().join(name));
        [&first, &between, &last].into_iter().for_each(|folder| make_own_folder(folder).expect("a folder"));
        let [file, second, link] = [last.join("file"), between.join("link"), first.join("link")];
        std::fs::write(&file, "").expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
        symlink(&file, &second).expect("a link");
        symlink(&second, &link).expect("a link");
        check_unwritable_with_folders(&link).expect("nobody else may write these");
        std::fs::set_permissions(&between, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
        let error = check_unwritable_with_folders(&link).expect_err("others may replace the second link").message;
        assert!(error.contains("between has mode 777"), "{error}");
    }

    #[test]
    fn a_folder_far_above_that_others_may_replace_is_refused() {
        use std::os::unix::fs::symlink;
        let scratch = tempfile::tempdir().expect("a folder");
        let [above, inner, links] = ["above", "above/middle/inner", "links"].map(|name| scratch.path().join(name));
        [&inner, &links].into_iter().for_each(|folder| make_own_folder(folder).expect("a folder"));
        std::fs::write(inner.join("file"), "").expect("a file");
        std::fs::set_permissions(inner.join("file"), std::fs::Permissions::from_mode(0o600)).expect("it is ours");
        symlink(above.join("middle"), links.join("middle")).expect("a link");
        let [direct, linked] = [inner.join("file"), links.join("middle/inner/../inner/file")];
        for (folder, path) in [(&above, &direct), (&above, &linked), (&links, &linked)] {
            check_unwritable_with_folders(path).expect("nobody else may write these");
            let mode = |mode| std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).expect("ours");
            mode(0o1777);
            check_unwritable_with_folders(path).expect("nobody else may replace what is there");
            mode(0o777);
            let error = check_unwritable_with_folders(path).expect_err("others may replace what is there");
            let (file, place) = (path.display(), folder.display());
            let what =
                format!("{file}: other users of this machine can replace it: {place} has mode 777, expected 755");
            let hint = format!("move it to a folder of your own, or run chmod go-w {place} if that folder is yours");
            assert_eq!((error.message, error.hint), (what, Some(hint)));
            mode(0o700);
        }
    }

    /// Only the superuser can give a folder away, so others skip this.
    #[test]
    fn a_folder_above_that_belongs_to_another_user_is_refused_without_advice_to_take_it() {
        let scratch = tempfile::tempdir().expect("a folder");
        let (theirs, file) = (scratch.path().join("theirs"), scratch.path().join("theirs/file"));
        make_own_folder(&theirs).expect("a folder");
        std::fs::write(&file, "").expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
        let own = rustix::process::geteuid().as_raw();
        if std::os::unix::fs::chown(&theirs, Some(own + 1234), None).is_err() {
            return writeln!(std::io::stderr(), "SKIPPED: not the superuser").expect("standard error");
        }
        let error = check_unwritable_with_folders(&file).expect_err("another user may replace what is there");
        let what = format!(
            "{}: another user of this machine can replace it: {} belongs to user {}, expected the current user {own} or the superuser",
            file.display(),
            theirs.display(),
            own + 1234
        );
        let hint = "move it to a folder of your own, below folders of yours or of the superuser";
        assert_eq!((error.message, error.hint), (what, Some(hint.into())));
    }

    #[test]
    fn a_file_that_is_not_executable_is_not_a_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("give");
        std::fs::write(&path, "#!/bin/sh\n").expect("a file");
        let name = path.display().to_string();
        for (mode, is_program) in [(0o644, false), (0o755, true)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
            assert_eq!(find_program(&name).is_some(), is_program);
        }
        assert!(find_program("sh").is_some_and(|file| file.is_absolute()));
    }
}
