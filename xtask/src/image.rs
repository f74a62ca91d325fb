//! The image of released packages: a `Containerfile` beside them, made from that of `examples/service`, which builds the sources.

/// The first line of the image that is kept; the lines before it build.
const IMAGE: &str = "FROM docker.io/library/debian:bookworm-slim";
/// The line that copies the program from the build.
const FROM_BUILD: &str = "COPY --from=build /build/target/release/garblet /usr/bin/garblet";
/// The comment line on running the image, after the one on building it.
const RUN: &str = "# podman run ";

/// The `Containerfile` that installs the Debian packages of a version in the image of `example`.
///
/// *Errors*: an example without one of the lines that differ.
pub(crate) fn of_packages(example: &str, version: &str) -> Result<String, String> {
    let missing = |line: &str| format!("examples/service/Containerfile: expected a line `{line}`, got none");
    let run = example.lines().find(|line| line.starts_with(RUN)).ok_or_else(|| missing(RUN))?;
    let start = example.find(IMAGE).ok_or_else(|| missing(IMAGE))?;
    let image = &example[start..];
    if !image.lines().any(|line| line == FROM_BUILD) {
        return Err(missing(FROM_BUILD));
    }
    let package = format!("garblet_{version}_${{TARGETARCH}}.deb");
    let install =
        format!("ARG TARGETARCH\nCOPY {package} /tmp/\nRUN apt-get install --yes /tmp/{package} && rm /tmp/{package}");
    Ok(format!(
        "# The image of a service, of the packages in this folder, for both processors:\n\
         # podman build --platform linux/amd64,linux/arm64 --manifest localhost/garblet:{version} .\n\
         # docker buildx build --platform linux/amd64,linux/arm64 --file Containerfile --tag localhost/garblet:{version} .\n\
         # For the processor of this machine alone: podman build --tag localhost/garblet .\n\
         {run}\n\
         # The command by itself: podman run --rm --pull=never --entrypoint garblet localhost/garblet --help\n{}",
        image.replace(FROM_BUILD, &install)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> String {
        std::fs::read_to_string(crate::root().join("examples/service/Containerfile")).expect("it is there")
    }

    /// The instructions of a file: the word, and what it says.
    fn instructions(text: &str) -> Vec<(&str, &str)> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(|line| line.split_once(' ').expect("an instruction says something")).collect()
    }

    #[test]
    fn the_image_installs_the_package_and_is_else_the_one_of_the_example() {
        let (example, text) = (example(), of_packages(&example(), "1.2.3").expect("made"));
        let (built, image) = (instructions(&example), instructions(&text));
        assert_eq!(image.iter().filter(|(word, _)| *word == "FROM").count(), 1, "nothing is compiled");
        let second = built.iter().rposition(|(word, _)| *word == "FROM").expect("an image");
        let (mut expected, mut got) = (built[second..].to_vec(), image.clone());
        expected.retain(|(word, said)| (*word, *said) != FROM_BUILD.split_once(' ').expect("an instruction"));
        let own = ["TARGETARCH", "garblet_1.2.3_${TARGETARCH}.deb"];
        got.retain(|(_, said)| !own.iter().any(|own| said.contains(own)));
        assert_eq!(got, expected);
        let said: Vec<_> = image.iter().filter(|said| !got.contains(said)).collect();
        assert_eq!(
            said,
            [
                &("ARG", "TARGETARCH"),
                &("COPY", "garblet_1.2.3_${TARGETARCH}.deb /tmp/"),
                &(
                    "RUN",
                    "apt-get install --yes /tmp/garblet_1.2.3_${TARGETARCH}.deb && rm /tmp/garblet_1.2.3_${TARGETARCH}.deb"
                ),
            ]
        );
        let place = |word: &str| image.iter().position(|(instruction, _)| *instruction == word);
        assert!(place("ARG") > place("FROM"), "an argument before FROM is not known after it");
        let (word, entry) = image.last().expect("instructions");
        assert_eq!(
            (*word, serde_json::from_str::<Vec<String>>(entry).expect("a list")[0].as_str()),
            ("ENTRYPOINT", "/usr/bin/garblet")
        );
        assert!(text.contains("\n# podman run --pull=never --publish 7745:7745 "), "{text}");
    }

    #[test]
    fn an_example_that_has_changed_is_told() {
        for line in [IMAGE, FROM_BUILD, RUN] {
            let error = of_packages(&example().replace(line, "RUN "), "1").expect_err("a line is gone");
            assert!(error.contains(line), "{error}");
        }
    }
}
