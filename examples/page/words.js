// Words and files of others as this page shows, checks and quotes them.

/** Characters that nobody sees, or that turn the direction of what follows. The two joiners, which some scripts and emoji need, are not among them, nor is what makes a picture of the character before it. */
const UNSEEN = /\p{Extended_Pictographic}[\ufe0e\ufe0f]|(?![\n\t \u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Letters that are written from right to left, and the spaces between them. */
const LETTERS = "[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefe\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]+";
const LEFTWARD = new RegExp(`(${LETTERS}(?: +${LETTERS})*)`, "u");

/** A text of others as a page may show it: characters that hide, or turn the direction of what follows, are written out. */
export function visible(text) {
  const written = (found) => (/^\p{Extended_Pictographic}/u.test(found) ? found : `\\u{${found.codePointAt(0).toString(16)}}`);
  return String(text).replace(UNSEEN, written);
}

/** Puts a text into an element, of which any part may be of others: words that are written from right to left do not move what is beside them. */
export function put(element, text) {
  const parts = visible(text).split(LEFTWARD);
  element.replaceChildren(...parts.map((part, at) => (at % 2 === 0 ? part : Object.assign(document.createElement("bdi"), { textContent: part }))));
  return element;
}

/** An element with a text of which any part may be of others. */
export const element = (name, text, more = {}) => Object.assign(put(document.createElement(name), text), more);

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

/** Checks the name of a file. *Errors*: it hides something. */
export function checkName({ name }, field) {
  const seen = visible(name).replaceAll(/[\n\t]/g, (found) => JSON.stringify(found).slice(1, -1));
  if (seen !== name) throw unfit(`The file ${seen} has a name with characters that cannot be seen`, "give it another name", field);
}

/** The bytes of a file. *Errors*: it has more than `most`; its name hides something; the browser cannot read it. */
export async function bytesOf(file, most, field) {
  checkName(file, field);
  const { name, size } = file;
  if (size > most) throw unfit(`${name} has ${size} bytes, the most is ${most}`, "choose another file", field);
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
