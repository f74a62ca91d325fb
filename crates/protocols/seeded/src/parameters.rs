//! The parameters of protocols that check circuits and have a published form.

/// The garbling scheme of a protocol with a published form, which may use the published schemes.
#[macro_export]
macro_rules! checked_scheme {
    ($values:literal) => {
        $crate::protocol::parameters::Parameter {
            name: "scheme",
            values: $values,
            tacit: None,
            get: |config| match config.published {
                Some(method) => method.name().into(),
                None => config.garbling.scheme.to_string(),
            },
            set: |config, value| {
                config.published =
                    $crate::garble::published::Method::ALL.iter().copied().find(|method| method.name() == value);
                let private = |scheme: &$crate::garble::SchemeKind| !scheme.is_privacy_free();
                match config.published {
                    Some(_) => Some(()),
                    None => $crate::protocol::parameters::put(
                        &mut config.garbling.scheme,
                        value.parse().ok().filter(private),
                    ),
                }
            },
        }
    };
}

/// The hash of garbled gates, for a protocol with a published form, whose schemes have only one hash.
#[macro_export]
macro_rules! checked_hash {
    () => {
        $crate::protocol::parameters::Parameter {
            name: "hash",
            values: "rekeyed, tmmo, mitccrh, fixed-key or sha256",
            tacit: None,
            get: |config| match config.published {
                Some(_) => $crate::garble::HashKind::Sha256.to_string(),
                None => config.garbling.hash.to_string(),
            },
            set: |config, value| $crate::protocol::parameters::put(&mut config.garbling.hash, value.parse().ok()),
        }
    };
}

pub use crate::{checked_hash, checked_scheme};
