//! Any text as a file on which parties agree, or with which one proves something: jobs, signatures, receipts, agreements with their clients, identities, and
//! names that stand in all of these. The first byte says which.

use std::path::Path;

use garblet_console::{
    agreement,
    failure::Failure,
    job::{file, signatures::Signatures},
    receipts::chain,
};
use garblet_net::{Fingerprint, Identity, SessionName};

pub fn run(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let (path, text) = (Path::new("file"), String::from_utf8_lossy(bytes));
    match which % 6 {
        0 => {
            if let Err(fault) = file::read(path, &text) {
                assert!(!fault.1.is_empty());
            }
        }
        1 => {
            if let Err(failure) = Signatures::read(path, &text) {
                assert!(!failure.message.is_empty());
            }
        }
        2 => {
            let mut next = None;
            let _ = chain::read(bytes, |link, _| {
                assert!(next.is_none_or(|number| number == link.number), "receipts are numbered one by one");
                next = link.number.checked_add(1);
            });
        }
        3 => {
            let find = |name: &str| Err(Failure::call(format!("no program {name}")));
            let _ = agreement::of_text(path, &text, &find);
        }
        4 => {
            let _ = Identity::from_pem(&text);
        }
        _ => {
            if let Ok(fingerprint) = text.parse::<Fingerprint>() {
                assert_eq!(fingerprint.to_string().parse().ok(), Some(fingerprint), "it reads what it shows");
            }
            if let Ok(name) = text.parse::<SessionName>() {
                assert!(name.as_str().parse::<SessionName>().is_ok());
            }
        }
    }
}
