//! The forms in which a benchmark's result is given: text or JSON, and a page.

use std::path::{Path, PathBuf};

use garblet_primitives::Backend;
use serde::Serialize;

use crate::{
    failure::Failure,
    output::{print, print_json},
};

/// The options of every benchmark.
#[derive(clap::Args)]
pub(crate) struct Form {
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
    /// Write the result to a page too, as text and as JSON, with the call and the machine
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

impl Form {
    /// Gives a result, which is the same as a value and as text.
    ///
    /// *Errors*: a page or a standard output that cannot be written.
    pub(crate) fn give(&self, value: &impl Serialize, text: &str) -> Result<(), Failure> {
        match self.json {
            true => print_json(value),
            false => print(text),
        }?;
        // Behind what is printed, which must not be lost if there is no place for a page.
        self.report.as_ref().map_or(Ok(()), |path| write(path, value, text))
    }

    #[cfg(test)]
    pub(crate) fn text() -> Self {
        Form { json: false, report: None }
    }
}

fn write(path: &Path, value: &impl Serialize, text: &str) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(value)
        .map_err(|e| Failure::no_result(format!("the result cannot be written as JSON: {e}")))?;
    let call: Vec<String> = std::env::args().skip(1).collect();
    let page = page(&format!("garblet {}", call.join(" ")), text, &json);
    std::fs::write(path, page).map_err(|e| Failure::unwritable(path, &e))
}

/// The page, which needs nothing else.
fn page(call: &str, text: &str, json: &str) -> String {
    let [call, text, json] = [call, text, json].map(escaped);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (version, backend) = (env!("CARGO_PKG_VERSION"), Backend::detect());
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{call}</title>\n\
         <style>body {{ font-family: sans-serif; margin: 2em }} pre {{ overflow-x: auto }}</style>\n\
         <h1><code>{call}</code></h1>\n\
         <p>garblet {version}, {system} on {processor} with {cores} cores, kernels for {backend}</p>\n\
         <pre>{text}</pre>\n<details>\n<summary>The same as JSON</summary>\n<pre>{json}</pre>\n</details>\n</html>\n"
    )
}

/// A text as it stands in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_call_the_machine_the_text_and_the_json() {
        let page = page("garblet bench x --only \"<b>\"", "a  b & c\n", "{\"a\": 1}");
        assert!(page.contains("<h1><code>garblet bench x --only &quot;&lt;b&gt;&quot;</code></h1>"), "{page}");
        assert!(page.contains("<pre>a  b &amp; c\n</pre>") && page.contains("<pre>{&quot;a&quot;: 1}</pre>"), "{page}");
        assert!(page.contains(&format!("kernels for {}", Backend::detect())), "{page}");
    }

    #[test]
    fn a_page_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let form = Form { json: false, report: Some(folder.path().join("none").join("page.html")) };
        let failure = form.give(&1, "").expect_err("there is no such folder");
        assert!(failure.message.contains("page.html"), "{}", failure.message);
    }
}
