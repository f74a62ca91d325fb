//! Calls of benchmarks that are wrong, and what they are told.

use crate::invocation::garblet as lab;

#[test]
fn benchmarks_of_nothing_say_what_there_is() {
    for (arguments, hint) in [
        (["bmr", "--only", "zzz"], "hint: the functions are lib:aes128, "),
        (["bmr", "--parties", "1"], "hint: the functions are lib:aes128, "),
        (["compgc", "--only", "zzz"], "hint: there are AES"),
        (["authenticated", "--param", "check=zzz"], "tags or reveal"),
        (["pssw", "--method", "zzz"], "hint: the methods are base, "),
        (["partialgc", "--figure", "6"], "[possible values: 4, 5, 7]"),
        (["compile", "--up-to", "1"], "hint: leave it out"),
    ] {
        let ran = lab(&arguments);
        assert_eq!((ran.status, &ran.stdout[..]), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    }
    let nothing = lab(&["partialgc", "--table", "3", "--function", "zzz"]);
    nothing.fails(
        2,
        "error: --function zzz: no program of this experiment has that in its name\n\
         hint: the programs are KeyedDB 64, KeyedDB 128, KeyedDB 256, MatrixMult8x8, Edit Distance 128, Millionaires 8192\n",
    );
}
