//! Hints for names that Rust has and the language lacks: what to write instead.

const ENUM: &str = "only enums of the source have variants: declare one, as in `enum Maybe { Nothing, Just(u8) }`, and write `Maybe::Just(x)`";

/// A hint at what to write instead of a method of Rust.
pub(super) fn method(name: &str) -> Option<&'static str> {
    Some(match name {
        "iter" | "iter_mut" | "into_iter" | "enumerate" | "zip" | "map" | "filter" | "fold" | "sum" | "product"
        | "any" | "all" | "chunks" | "windows" => {
            "there are no iterators: write a loop, as in `for x in a { .. }` or `for i in 0..N { .. a[i] .. }`"
        }
        "rev" => "count down with an index, as in `for i in 0..N { .. a[N - 1 - i] .. }`",
        "contains" => "write a loop that compares each element",
        "is_empty" => "compare `len()` with 0",
        "clone" | "copied" | "to_vec" | "to_owned" | "as_slice" => {
            "values are copied wherever they stand: leave it out"
        }
        "unwrap" | "unwrap_or" | "expect" | "is_some" | "is_none" | "is_ok" | "is_err" => ENUM,
        "checked_add" | "checked_sub" | "checked_mul" | "checked_div" => {
            "operators panic where the result does not fit; wrapping_add, saturating_add and the like do not"
        }
        "into" | "try_into" => "convert with `as`",
        "sort_unstable" | "sort_by" | "sort_by_key" => "`sort(rows)` sorts tuples by their first field",
        _ => return None,
    })
}

/// A hint at what to write instead of a function, a variant or a type of Rust.
pub(super) fn name(name: &str) -> Option<&'static str> {
    Some(match name {
        "Some" | "None" | "Ok" | "Err" | "Option" | "Result" => ENUM,
        "Vec" | "VecDeque" | "HashMap" | "BTreeMap" => {
            "use an array `[T; N]`, or a list of at most N values, `[T; ..N]`"
        }
        "Box" | "Rc" | "Arc" => "there are no references: use the type itself",
        "String" | "str" | "char" => "use an array of u8",
        _ => return None,
    })
}
