//! The entries of a library file, as they are written.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    #[serde(default)]
    pub(super) input_bits: u64,
    #[serde(default)]
    pub(super) component: Vec<FileComponent>,
    #[serde(default)]
    pub(super) keyed: Vec<FileKeyed>,
    #[serde(default)]
    pub(super) chain: Vec<FileChain>,
    #[serde(default)]
    pub(super) tree: Vec<FileTree>,
    #[serde(default)]
    pub(super) grid: Vec<FileGrid>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileComponent {
    pub(super) name: String,
    pub(super) library: Option<String>,
    pub(super) file: Option<String>,
    #[serde(default)]
    pub(super) count: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileKeyed {
    pub(super) link: Option<String>,
    pub(super) shared: Option<String>,
    pub(super) window: Option<u32>,
    pub(super) every: Option<[u32; 2]>,
    pub(super) offset: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileChain {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) pattern: Vec<String>,
    pub(super) length: u32,
    pub(super) next: Vec<String>,
    #[serde(default)]
    pub(super) shared: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileTree {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) cell: String,
    pub(super) levels: u32,
    pub(super) children: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FileGrid {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) cell: String,
    pub(super) rows: u32,
    pub(super) columns: u32,
    #[serde(default)]
    pub(super) right: Vec<String>,
    #[serde(default)]
    pub(super) down: Vec<String>,
    #[serde(default)]
    pub(super) diagonal: Vec<String>,
    #[serde(default)]
    pub(super) row_shared: Vec<String>,
    #[serde(default)]
    pub(super) column_shared: Vec<String>,
    #[serde(default)]
    pub(super) left_border: BTreeMap<String, u64>,
    #[serde(default)]
    pub(super) top_border: BTreeMap<String, u64>,
    pub(super) foot: Option<FileFoot>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileFoot {
    pub(super) cell: String,
    pub(super) down: Vec<String>,
    #[serde(default)]
    pub(super) right: Vec<String>,
}
