// Words and files of others as this page shows, checks and quotes them.

/** A text of others as a page may show it: characters that hide, or turn the direction of what follows, are written out. The two joiners are allowed, since some scripts and emoji need them. */
export function visible(text) {
  const written = (found) => `\\u{${found.codePointAt(0).toString(16)}}`;
  return String(text).replace(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, written);
}

/** An element with a text of which any part may be of others. */
export const element = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: visible(text), ...more });

/** An error of what a person has given, with the field that it is in. */
export const unfit = (message, hint, field) => Object.assign(new Error(message), { hint, field });

/** A link that saves a text as a file. */
export function link(name, text, words, more = {}) {
  return element("a", words, { href: URL.createObjectURL(new Blob([text])), download: name, ...more });
}

/** A word for a shell, which takes it as it is. A file whose name begins with a dash is not an option. */
export function quoted(word) {
  const path = word.startsWith("-") ? `./${word}` : word;
  return /^[\w.,:/@%+=-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** The bytes of a file. *Errors*: it has more than `most`; its name hides something; the browser cannot read it. */
export async function bytesOf(file, most, field) {
  const name = visible(file.name);
  if (name !== file.name || /[\n\t]/.test(name)) throw unfit(`The file ${name.replaceAll(/\s/g, " ")} has a name with characters that cannot be seen`, "give it another name", field);
  if (file.size > most) throw unfit(`${name} has ${file.size} bytes, the most is ${most}`, "choose another file", field);
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch (error) {
    throw unfit(`${name} cannot be read: ${error.message}`, "it may have changed since you chose it: choose it again", field);
  }
}

/** The text of a file. *Errors*: as `bytesOf`; it is not UTF-8. */
export async function textOf(file, most, field) {
  const text = utf8(await bytesOf(file, most, field));
  if (text === undefined) throw unfit(`${file.name} is not a text in UTF-8`, "ask whoever wrote it for the file itself, or save it as UTF-8", field);
  return text;
}

/** The text that these bytes are in UTF-8, if they are one. */
export function utf8(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
