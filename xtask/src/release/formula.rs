//! The formula for Homebrew, which installs an archive of the release. There are archives for Linux alone.

/// The formula of a version, whose archives lie at a URL.
///
/// *Errors*: an archive that was not built.
pub(super) fn of(url: &str, version: &str, built: &[(&str, &str)]) -> Result<String, String> {
    let archive = |arch: &str| {
        let name = format!("garblet-{version}-{arch}-unknown-linux-gnu.tar.xz");
        match built.iter().find(|(_, built)| *built == name) {
            Some((sum, _)) => Ok(format!("      url \"{url}/{name}\"\n      sha256 \"{sum}\"\n")),
            None => Err(format!("expected {name} among the packages, got none")),
        }
    };
    let [intel, arm] = [archive("x86_64")?, archive("aarch64")?];
    Ok(format!(
        r##"class Garblet < Formula
  desc "Secure computation by garbled circuits"
  homepage "{url}"
  version "{version}"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on :linux

  on_linux do
    on_intel do
{intel}    end
    on_arm do
{arm}    end
  end

  def install
    bin.install "garblet"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/garblet.bash" => "garblet"
    zsh_completion.install "completions/_garblet"
    fish_completion.install "completions/garblet.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/garblet --version")
  end
end
"##
    ))
}

/// Checks the place of the release's files: encrypted, of this version alone, and harmless in a text of Ruby.
pub(super) fn check_url(url: &str, version: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.~/:".contains(c);
    let fits = !url.ends_with('/') && url.chars().all(plain);
    // The first part is the machine's name. Version 1.2.30 has 1.2.3 in it, so parts are compared as wholes.
    let mut path = url.strip_prefix("https://").unwrap_or_default().split('/').skip(1);
    match fits && path.any(|part| part.strip_prefix('v').unwrap_or(part) == version) {
        true => Ok(()),
        false => Err(format!(
            "expected an address https://..., with v{version} as a part of its path and no `/` at its end, got {url}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_pins_the_archives_that_were_built() {
        let names = ["x86_64", "aarch64"].map(|arch| format!("garblet-1.2.3-{arch}-unknown-linux-gnu.tar.xz"));
        let sums = ["a".repeat(64), "b".repeat(64)];
        let built = [(&sums[0][..], &names[0][..]), (&sums[1], &names[1])];
        let text = of("https://a/v1.2.3", "1.2.3", &built).expect("both are there");
        for (sum, name) in built {
            let pinned = format!("      url \"https://a/v1.2.3/{name}\"\n      sha256 \"{sum}\"\n");
            assert!(text.contains(&pinned), "{text}");
        }
        assert!(text.contains("shell_output(\"#{bin}/garblet --version\")"), "{text}");
        let [ours, others] =
            [text.matches(" do\n").count() + text.matches("  def ").count() + 1, text.matches("end\n").count()];
        assert_eq!(ours, others, "everything that begins ends: {text}");
        assert!(of("https://a", "1.2.3", &built[..1]).expect_err("one is missing").contains("aarch64"));
        assert!(of("https://a", "1.2.4", &built).is_err());
    }

    #[test]
    fn a_place_that_others_can_change_or_that_is_of_another_version_is_refused() {
        for url in ["https://a.example/v1.2.3", "https://a/1.2.3", "https://a/download/v1.2.3/files"] {
            assert_eq!(check_url(url, "1.2.3"), Ok(()));
        }
        for url in [
            "http://a/v1.2.3",
            "https://a/v1.2.4",
            "https://a/v1.2.30",
            "https://a/v11.2.3",
            "https://a/v1.2.3-rc1",
            "https://a/vv1.2.3",
            "https://a.v1.2.3/new",
            "https://v1.2.3",
            "https://a/v1.2.3/",
            "https://a/v1.2.3\"\nsystem \"x",
            "https://a/v1.2.3#{x}",
        ] {
            assert!(check_url(url, "1.2.3").is_err(), "{url}");
        }
    }
}
