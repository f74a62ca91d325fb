use super::*;

#[test]
fn extensions_and_names_choose_the_format() {
    let of = |path: &str| Format::of_path(Path::new(path));
    assert_eq!(of("a/b.json"), Some(Format::Program));
    assert_eq!(of("a.TXT"), Some(Format::BristolFashion));
    assert_eq!(of("a.bristol"), Some(Format::BristolFashion));
    assert_eq!((of("a"), of("a.rs"), of(".json")), (None, None, None));
    for (name, format) in
        [("bristol", Format::Bristol), ("bristol-fashion", Format::BristolFashion), ("json", Format::Program)]
    {
        assert_eq!(name.parse(), Ok(format));
    }
    assert_eq!("verilog".parse::<Format>(), Err(UnknownFormat("verilog".into())));
}
