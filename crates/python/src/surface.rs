//! The arguments of Python, as messages of the console name settings.

use garblet_console::surface::{Setting, Surface};

use crate::words::own_words;

/// Python, as messages of the console speak of it.
pub(crate) const SURFACE: Surface = Surface { spell: argument, remedy: own_words };

/// The argument for a setting.
fn argument(setting: Setting) -> &'static str {
    match setting {
        Setting::Batch => "rows=",
        Setting::Clients => "clients=",
        Setting::Forget => "forget=True",
        Setting::Identity => "identity=",
        Setting::Param => "params=",
        Setting::Party => "party=",
        Setting::Peers => "peers=",
        Setting::PlainTcp => "insecure_plain_tcp=",
        Setting::Protocol => "protocol=",
        Setting::ReceiptOutputs => "receipt_outputs=",
        Setting::Receipts => "receipts=",
        Setting::Resume => "resume()",
    }
}
