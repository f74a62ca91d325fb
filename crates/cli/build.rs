//! The client for pages, if it was made before.

/// The variable with the folder of the client for pages, which packages carry; one that is relative is from the workspace's root, whatever folder cargo runs in.
const CLIENT: &str = "GARBLET_WEB_CLIENT";

/// Writes a source with the files of the client, or with none.
fn embed_client() {
    println!("cargo::rerun-if-env-changed={CLIENT}");
    let files = ["garblet-client.js", "garblet-talk.js", "garblet.js", "garblet_bg.wasm"];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entry = |folder: &str, name: &str| {
        let named = root.join(folder).join(name);
        let path = named.canonicalize().unwrap_or_else(|error| panic!("{CLIENT}: {}: {error}", named.display()));
        println!("cargo::rerun-if-changed={}", path.display());
        format!("({name:?}, include_bytes!({:?})), ", path.display().to_string())
    };
    let entries: String = match std::env::var(CLIENT) {
        Ok(folder) => files.iter().map(|name| entry(&folder, name)).collect(),
        Err(_) => String::new(),
    };
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    let source = format!("const EMBEDDED: &[(&str, &[u8])] = &[{entries}];\n");
    std::fs::write(std::path::Path::new(&out).join("client.rs"), source).expect("OUT_DIR can be written");
}

fn main() {
    embed_client();
    println!("cargo::rerun-if-changed=build.rs");
}
