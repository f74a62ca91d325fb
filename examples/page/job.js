// A job that a person opens in this page: what it says, who signed it, and what to give.

const element = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more });

/** Reads the files of a job. *Errors*: the files are not those of one job; whatever is wrong with it. */
export async function opened(files, garblet, identity) {
  const named = (ends) => files.filter(({ name }) => name.endsWith(ends));
  const [signed] = named(".signatures");
  const jobs = named(".toml");
  const programs = files.filter((file) => file !== signed && !jobs.includes(file));
  if (jobs.length !== 1) throw unfit(`Expected one job, a file that ends in .toml, got ${jobs.length}`, "choose the job and its program together");
  if (programs.length > 1) throw unfit(`Expected one program, got ${programs.map(({ name }) => name).join(", ")}`, "choose the one that the job names");
  const [{ name }] = jobs;
  const job = { name, text: await jobs[0].text(), signatures: await signed?.text() };
  const program = programs[0] && { source: new Uint8Array(await programs[0].arrayBuffer()) };
  return { job, program, said: await garblet.checkJob({ job, program, identity: identity.pem }) };
}

const unfit = (message, hint) => Object.assign(new Error(message), { hint, field: "job" });

/** What a job says, for people. `sign` signs it. */
export function shown({ said }, sign) {
  const { parties, party, program, notes } = said;
  const own = party === null ? undefined : parties[party];
  const of = (number) => (number === party ? "you" : parties[number].name);
  const gives = program.inputs.map(({ name, type, owner }) => `${of(owner)}: ${name}, ${type}`);
  const learns = program.outputs.map(({ name, type, recipients }) => {
    const who = recipients === null ? ["both"] : recipients.map(of);
    return `${who.join(" and ") || "nobody"}: ${name}, ${type}`;
  });
  const signed = parties.map(({ signed, wrong }, number) => `${of(number)}: ${signed ? "yes" : (wrong ?? "not yet")}`);
  const parts = [
    ["The job", [said.name]],
    ["You are", [own?.name ?? "not one of its parties: let its author write your fingerprint into it"]],
    ["The other", parties.filter((one) => one !== own).map(({ name, fingerprint }) => `${name} ${fingerprint ?? ""}`)],
    ["Who gives what", gives],
    ["Who learns what", learns],
    ["Who has signed", signed],
    ["Its number, which the other must have too", [said.digest]],
    ["Note", notes],
  ];
  const list = document.createElement("dl");
  for (const [what, lines] of parts) if (lines.length > 0) list.append(element("dt", what), ...lines.map((line) => element("dd", line)));
  const button = element("button", "Sign the job", { type: "button", id: "sign", onclick: sign, hidden: own === undefined || own.signed });
  return [list, button];
}

/** A link that saves a text as a file. */
export function link(name, text, words) {
  const href = URL.createObjectURL(new Blob([text]));
  return element("a", words, { href, download: name });
}

/** The fields for what this party gives. */
export function fields({ said: { party, program } }) {
  const own = program.inputs.filter(({ owner }) => owner === party);
  if (own.length === 0) return [element("p", "You give nothing.")];
  const field = ({ name, type }, at) => {
    const part = document.createElement("p");
    const id = `given-${at}`;
    const input = Object.assign(document.createElement("input"), { id, type: "text", autocomplete: "off", spellcheck: false });
    input.dataset.input = name;
    part.append(element("label", `${name}, ${type}`, { htmlFor: id }), input);
    return part;
  };
  return [...own.map(field), element("p", "Numbers and words as they are; lists and records as JSON, such as [1, 2, 3].", { className: "hint" })];
}

/** What stands in these fields. A number stays a text, since JavaScript rounds large ones. *Errors*: nothing in one of them. */
export function values(fields) {
  const value = (text) => (/^\s*[[{"]|^(true|false)$/.test(text) ? JSON.parse(text) : text.trim());
  const read = ({ id, value: text, dataset }) => {
    const missing = (message, hint) => Object.assign(new Error(message), { hint, field: id });
    if (text.trim() === "") throw missing(`What you give as ${dataset.input} is missing`, "enter it");
    try {
      return [dataset.input, value(text)];
    } catch {
      throw missing(`What you give as ${dataset.input} is not JSON`, "write a list as [1, 2, 3]");
    }
  };
  return Object.fromEntries([...fields.querySelectorAll("input")].map(read));
}
