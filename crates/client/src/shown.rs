//! The rule for showing other people's texts on a page or in a log: every text of a job, an answer or an invitation is checked here.

use garblet_circuit::diagnostic::controls_terminal;

/// The most bytes of a name, a parameter or a value.
pub(crate) const NAME_BYTES_MAX: usize = 255;

/// The texts that may be shown, for messages.
pub(crate) const SHOWN: &str = "no control, direction or invisible characters";

/// Returns whether a text can be shown as it is: nothing in it moves the cursor, changes the direction of what follows, or is invisible.
pub fn is_shown(text: &str) -> bool {
    !text.contains(controls_terminal)
}

/// Returns whether a text can be the name of a client or a server: 1 to 255 bytes, all visible. Two names must not differ only in joiners,
/// variants, fillers or spaces at an end, so other texts may have these and names may not. Lookalike letters are not detected.
pub fn is_name(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len()) && is_shown(name) && !name.contains(is_unseen) && name.trim() == name
}

/// Returns whether a character is invisible, or looks like an ordinary space.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200c}'..='\u{200d}')
        || matches!(c, '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0080}'..='\u{e0fff}')
        || (c.is_whitespace() && c != ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_hides_or_turns_text_is_in_a_name() {
        for name in ["a", "b\u{43e}b", "Zo\u{eb} 2", &"x".repeat(NAME_BYTES_MAX)] {
            assert!(is_name(name), "{name}");
        }
        for name in
            ["", "a\nb", "a\u{202e}b", "a\u{2066}b", "a\u{200b}b", "\u{feff}a", "a\u{200d}", "a\u{ad}b", "a\u{e0041}"]
        {
            assert!(!is_name(name), "{name:?}");
        }
        for name in ["bob\u{fe0f}", "bob\u{34f}", "bob\u{3164}", "bob\u{e0100}", "bob ", " bob", "a\u{a0}b"] {
            assert!(!is_name(name), "{name:?}");
        }
        assert!(!is_name(&"x".repeat(NAME_BYTES_MAX + 1)) && is_name("Zoe 2"));
        assert!(is_shown("\u{1f469}\u{200d}\u{1f52c}") && !is_shown("a\u{202e}b"));
    }
}
