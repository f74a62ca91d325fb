//! A look at a source before it is parsed: comments, brackets and how deep things go.

use crate::{fault::Fault, tree::Span};

/// The text with spaces in place of comments, so that everything else stays where it is.
///
/// *Errors*: a comment that does not end.
pub(super) fn without_comments(text: &str) -> Result<String, Fault> {
    let mut code = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let (mut line, mut column) = (1, 0);
    // Where each block comment that is open began.
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut to_line_end = false;
    while let Some(c) = chars.next() {
        column += 1;
        if c == '\n' {
            (line, column, to_line_end) = (line + 1, 0, false);
            code.push(c);
            continue;
        }
        let pair = (!to_line_end).then(|| chars.peek().map(|&next| (c, next))).flatten();
        match pair {
            Some(('/', '/')) if open.is_empty() => to_line_end = true,
            Some(('/', '*')) => open.push((line, column)),
            Some(('*', '/')) if !open.is_empty() => {
                open.pop();
            }
            _ => {
                code.push(if open.is_empty() && !to_line_end { c } else { ' ' });
                continue;
            }
        }
        code.push_str("  ");
        chars.next();
        column += 1;
    }
    match open.first() {
        Some(&at) => Err(Fault::new(place(at), "this comment does not end")),
        None => Ok(code),
    }
}

/// Looks whether brackets belong together, and refuses what would take the parser too deep.
///
/// *Errors*: brackets without their partner, more nested than `nesting`, or more operators than `operators` in one
/// expression.
pub(super) fn check(code: &str, nesting: usize, operators: usize) -> Result<(), Fault> {
    let mut open: Vec<(char, (u32, u32))> = Vec::new();
    let mut signs = 0;
    for (line, content) in code.split('\n').enumerate() {
        for (column, c) in content.chars().enumerate() {
            let at = (line as u32 + 1, column as u32 + 1);
            match c {
                '(' => open.push((')', at)),
                '[' => open.push((']', at)),
                '{' => open.push(('}', at)),
                ')' | ']' | '}' => match open.pop() {
                    Some((expected, _)) if expected == c => {}
                    Some((expected, begun)) => {
                        let message = format!("expected `{expected}`, got `{c}`");
                        let hint = format!("the bracket that is open is in line {}, column {}", begun.0, begun.1);
                        return Err(Fault::new(place(at), message).hint(hint));
                    }
                    None => return Err(Fault::new(place(at), format!("there is no bracket that `{c}` closes"))),
                },
                _ => {}
            }
            match c {
                ';' | ',' | '{' | '}' => signs = 0,
                _ if c.is_alphanumeric() || c.is_whitespace() || c == '_' => {}
                _ => signs += 1,
            }
            if open.len() > nesting || signs > operators {
                return Err(Fault::new(place(at), "this is nested too deep").hint("use `let` for parts of it"));
            }
        }
    }
    match open.last() {
        Some(&(expected, at)) => {
            Err(Fault::new(place(at), format!("this bracket is never closed, expected `{expected}`")))
        }
        None => Ok(()),
    }
}

fn place((line, column): (u32, u32)) -> Span {
    Span { line, column, end_line: line, end_column: column + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_spaces() {
        let cases = [
            ("a // b\nc", "a     \nc"),
            ("a /* b\n c */ d", "a     \n      d"),
            ("a /* /* */ */ d", "a             d"),
            ("// /*\nb", "     \nb"),
            ("a * b / c", "a * b / c"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_comments(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn comments_that_do_not_end_and_lost_brackets_are_refused() {
        let fault = without_comments("a\n /* b /* */").unwrap_err();
        assert_eq!((fault.message.as_str(), fault.span.unwrap().line), ("this comment does not end", 2));
        let message = |code| check(code, 9, 9).unwrap_err().message;
        assert_eq!(message("{ (]"), "expected `)`, got `]`");
        assert_eq!(message("}"), "there is no bracket that `}` closes");
        assert_eq!(message("f(["), "this bracket is never closed, expected `]`");
        assert_eq!(message("((((((((((1"), "this is nested too deep");
        assert_eq!(message("a = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11"), "this is nested too deep");
        assert!(check("fn f(a: [u8; 3]) -> u8 { a[(0)] }", 9, 9).is_ok());
    }
}
