//! Text from others, as it is shown on a terminal: names in files and messages must not move the cursor, hide, or begin a line of their own; and
//! the numbers of file formats.

mod format;

use std::borrow::Cow;

pub use format::{OtherFormat, check_format};

/// Tells whether a character must not reach a terminal as it is: it moves the cursor, ends the line, changes the direction of text, or is invisible. The two joiners are allowed, since some scripts and
/// emoji need them.
pub fn controls_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A text on one line: a line end in a name becomes `\u{a}`, so that the name cannot begin a line that looks like one of ours.
pub fn one_line(text: &str) -> Cow<'_, str> {
    match text.contains('\n') {
        true => Cow::Owned(text.replace('\n', "\\u{a}")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_hides_or_turns_text_controls_a_terminal() {
        for c in [
            '\u{1b}',
            '\n',
            '\t',
            '\r',
            '\u{9b}',
            '\u{202e}',
            '\u{2066}',
            '\u{200b}',
            '\u{feff}',
            '\u{ad}',
            '\u{e0041}',
        ] {
            assert!(controls_terminal(c), "{}", c.escape_unicode());
        }
        for c in ['a', ' ', 'é', '\u{a0}', '字', '\u{200c}', '\u{200d}', '\u{fe0f}', '👩'] {
            assert!(!controls_terminal(c), "{}", c.escape_unicode());
        }
    }

    #[test]
    fn a_line_end_in_a_name_begins_no_line() {
        assert_eq!(one_line("a\nerror: b"), "a\\u{a}error: b");
        assert!(matches!(one_line("a b"), Cow::Borrowed("a b")));
    }
}
