// A job that a person opens in this page: all that it says, who signed it, and the fields for what to give.

import { bytesOf, checkName, element, textOf, unfit, utf8 } from "./words.js";

/** The most bytes of a job or its signatures, as the package has it, and of a program. */
const JOB_BYTES_MAX = 2 ** 20;
const PROGRAM_BYTES_MAX = 2 ** 26;
/** The most characters of a source that are shown. */
const SHOWN_MAX = 2 ** 16;

/** Reads the files of a job. *Errors*: the files are not those of one job; one cannot be read. */
export async function read(files) {
  for (const file of files) checkName(file, "job");
  const named = (ends) => files.filter(({ name }) => name.endsWith(ends));
  const [jobs, signed] = [named(".toml"), named(".signatures")];
  const programs = files.filter((file) => !signed.includes(file) && !jobs.includes(file));
  const names = (files) => files.map(({ name }) => name).join(", ") || "none";
  const one = "choose a job with its program and its signatures, all together";
  if (jobs.length !== 1) throw unfit(`Expected one job, a file that ends in .toml, got ${names(jobs)}`, one, "job");
  if (signed.length > 1) throw unfit(`Expected one file of signatures, got ${names(signed)}`, one, "job");
  if (programs.length > 1) throw unfit(`Expected one program, got ${names(programs)}`, one, "job");
  const text = (file) => file && textOf(file, JOB_BYTES_MAX, "job");
  const job = { name: jobs[0].name, text: await text(jobs[0]), signatures: await text(signed[0]) };
  const program = programs[0] && { source: await bytesOf(programs[0], PROGRAM_BYTES_MAX, "job") };
  return { job, program };
}

/** The source of a job's program, or another description where it has no text. */
export function sourceOf({ program, said }) {
  const { name, digest } = said.program;
  const source = program === undefined ? `${name}, a circuit of Garblet's library` : utf8(program.source);
  if (source === undefined) return `${name}, a program in a binary form, with the digest ${digest}`;
  if (source.length <= SHOWN_MAX) return source;
  return `${source.slice(0, SHOWN_MAX)}\n… These are the first ${SHOWN_MAX} of ${source.length} characters. Open the program's own file to read the others.`;
}

/** All that a job says, for people. `sign` signs it. */
export function shown({ said }, sign) {
  const { parties, party, program, fields, notes } = said;
  const own = party === null ? undefined : parties[party];
  const of = (number) => (number === party ? "you" : (parties[number]?.name ?? `party ${number}`));
  const gives = program.inputs.map(({ name, type, owner }) => `${of(owner)}: ${name}, ${type}`);
  const learns = program.outputs.map(({ name, type, recipients }) => {
    const who = recipients === null ? [parties.length === 2 ? "both" : "all"] : recipients.map(of);
    return `${who.join(" and ") || "nobody"}: ${name}, ${type}`;
  });
  const signed = parties.map(({ signed, wrong }, number) => `${of(number)}: ${signed ? "yes" : (wrong ?? "not yet")}`);
  const parts = [
    ["The job", [said.name]],
    ["You are", [own?.name ?? "not one of its parties: let its author write your fingerprint into it"]],
    [parties.length === 2 ? "The other" : "The others", parties.filter((one) => one !== own).map(({ name, fingerprint }) => `${name} ${fingerprint ?? "without a fingerprint"}`)],
    ["Who gives what", gives],
    ["Who learns what", learns],
    ["How it is computed", [`by the protocol ${said.protocol}, against a ${said.adversary} adversary`]],
    ["Evaluations in a run", [fields.batch === undefined ? "one" : `at most ${fields.batch}, of which this page makes one`]],
    ["Who has signed", signed],
    ["Its number, which the other must have too", [said.digest]],
    ["Note", notes],
  ];
  const all = element("details", "");
  all.append(element("summary", "Everything that its number covers"), described(Object.entries(fields).map(([name, text]) => [name, [text]])));
  const button = element("button", "Sign the job", { type: "button", id: "sign", onclick: sign, hidden: own === undefined || own.signed });
  return [described(parts), all, button];
}

/** A list of descriptions. Parts without a line are left out. */
function described(parts) {
  const list = document.createElement("dl");
  for (const [what, lines] of parts) if (lines.length > 0) list.append(element("dt", what), ...lines.map((line) => element("dd", line)));
  return list;
}

/** The fields for what this party gives. */
export function fields({ said: { party, program } }) {
  if (party === null) return [];
  const own = program.inputs.filter(({ owner }) => owner === party);
  if (own.length === 0) return [element("p", "You give nothing.")];
  const field = ({ name, type }, at) => {
    const part = document.createElement("p");
    const id = `given-${at}`;
    // Another field would join the lines of what is pasted.
    const input = Object.assign(document.createElement("textarea"), { id, rows: 1, autocomplete: "off", spellcheck: false });
    Object.assign(input.dataset, { input: name, type });
    part.append(element("label", `${name}, ${type}`, { htmlFor: id }), input);
    return part;
  };
  return [...own.map(field), element("p", "Numbers and words as they are; lists and records as JSON, such as [1, 2, 3], and in them NaN and inf in quotes.", { className: "hint" })];
}

/** All that stands in these fields. *Errors*: nothing in one of them; a list that is none; a record with a field twice. */
export function values(fields) {
  const one = ({ id, value: text, dataset }) => {
    const words = text.trim();
    if (words === "") throw unfit(`What you give as ${dataset.input} is missing`, "enter it", id);
    try {
      return [dataset.input, value(words, dataset.type)];
    } catch (error) {
      if (error.hint !== undefined) throw unfit(`What you give as ${dataset.input} ${error.message}`, error.hint, id);
      throw unfit(`What you give as ${dataset.input} is not JSON`, 'write a list as [1, 2, 3], and in it "NaN", "inf" and "-inf" in quotes', id);
    }
  };
  return Object.fromEntries([...fields.querySelectorAll("textarea")].map(one));
}

/** A value of this type as it is written. Numbers that JavaScript would round, or write otherwise, become texts, unless the type has texts too. *Errors*: this is
 * not JSON; a record has a field twice. */
export function value(words, type = "") {
  if (!/^[[{"]|^(true|false)$/.test(words)) return words;
  const isSame = (token) => String(Number(token)) === token && (Number.isSafeInteger(Number(token)) || !Number.isInteger(Number(token)));
  const exact = (token) => {
    if (!isNumber(token) || isSame(token)) return token;
    if (/\[u8;/.test(type)) throw unfit("has a number that JavaScript would write otherwise, where a text may stand", "write it with fewer digits, as 1.5 for 1.50, or in quotes");
    return `"${token}"`;
  };
  const read = JSON.parse(words.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*/g, exact));
  checkFields(words);
  return read;
}

/** Checks that no record of a JSON text has a field twice, of which JavaScript would take the last one. */
function checkFields(json) {
  const records = [];
  for (const [token, name] of json.matchAll(/[{}]|("(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"/g)) {
    if (token === "{") records.push(new Set());
    if (token === "}") records.pop();
    if (name === undefined) continue;
    const [fields, field] = [records.at(-1), JSON.parse(name)];
    if (fields.has(field)) throw unfit("has a record with a field twice", "write each field once");
    fields.add(field);
  }
}

/** Returns whether JSON has this as a number. */
const isNumber = (token) => /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(token);

/** The field of an input that an error of the package names. */
export function fieldOf({ code, message }, fields) {
  const name = code === "inputs" ? /^input `([^`]+)`/.exec(message)?.[1] : undefined;
  return [...fields.querySelectorAll("textarea")].find(({ dataset }) => dataset.input === name)?.id;
}
