//! The entries of a library file, as they are written.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct File {
    #[serde(default)]
    pub(crate) input_bits: u64,
    #[serde(default)]
    pub(crate) component: Vec<FileComponent>,
    #[serde(default)]
    pub(crate) keyed: Vec<FileKeyed>,
    #[serde(default)]
    pub(crate) chain: Vec<FileChain>,
    #[serde(default)]
    pub(crate) tree: Vec<FileTree>,
    #[serde(default)]
    pub(crate) grid: Vec<FileGrid>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileComponent {
    pub(crate) name: String,
    pub(crate) library: Option<String>,
    pub(crate) file: Option<String>,
    #[serde(default)]
    pub(crate) count: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileKeyed {
    pub(crate) link: Option<String>,
    pub(crate) shared: Option<String>,
    pub(crate) window: Option<u32>,
    pub(crate) every: Option<[u32; 2]>,
    pub(crate) offset: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileChain {
    pub(crate) name: String,
    pub(crate) count: u64,
    pub(crate) pattern: Vec<String>,
    pub(crate) length: u32,
    pub(crate) next: Vec<String>,
    #[serde(default)]
    pub(crate) shared: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileTree {
    pub(crate) name: String,
    pub(crate) count: u64,
    pub(crate) cell: String,
    pub(crate) levels: u32,
    pub(crate) children: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FileGrid {
    pub(crate) name: String,
    pub(crate) count: u64,
    pub(crate) cell: String,
    pub(crate) rows: u32,
    pub(crate) columns: u32,
    #[serde(default)]
    pub(crate) right: Vec<String>,
    #[serde(default)]
    pub(crate) down: Vec<String>,
    #[serde(default)]
    pub(crate) diagonal: Vec<String>,
    #[serde(default)]
    pub(crate) row_shared: Vec<String>,
    #[serde(default)]
    pub(crate) column_shared: Vec<String>,
    #[serde(default)]
    pub(crate) left_border: BTreeMap<String, u64>,
    #[serde(default)]
    pub(crate) top_border: BTreeMap<String, u64>,
    pub(crate) foot: Option<FileFoot>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileFoot {
    pub(crate) cell: String,
    pub(crate) down: Vec<String>,
    #[serde(default)]
    pub(crate) right: Vec<String>,
}
