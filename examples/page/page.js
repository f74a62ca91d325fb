// Two questions that this page and a peer, `garblet run --listen ws://HOST:PORT`, answer together, and jobs of both. In the questions the peer is Alice, party 0;
// the page is Bob, party 1.

import { fieldOf, fields, read, shown, sourceOf, values } from "./job.js";
import { alone, begun, compared, ended, forgotten, isEmpty, taken } from "./receipts.js";
import { element, link, put, quoted, textOf, unfit } from "./words.js";

const RICHER = `// Who is richer?

enum Richer { Alice, Bob, Neither }

pub fn main(alice: u32, bob: u32) -> Richer {
    if alice > bob {
        Richer::Alice
    } else if bob > alice {
        Richer::Bob
    } else {
        Richer::Neither
    }
}
`;
const ROWS_MAX = 256;
const WEALTH_MAX = 2 ** 32 - 1;
const NUMBER_MAX = 2n ** 64n - 1n;
const INTERSECTION = `lib:intersection(${ROWS_MAX},${ROWS_MAX},64,0,0)`;
const PARTY = 1;
/** The most bytes of a list. */
const LIST_BYTES_MAX = 2 ** 20;

/** The package's messages are for programs. Some of them in words for those who have this page before them: the error, and what to do. An error has a code by which it is known, since a peer or a file can have chosen words in its message. */
const OWN_WORDS = {
  receipts: ({ message, hint }) => [`The receipts that this browser keeps for this page were changed: ${message}`, hint, "Save them: once they are saved, this page can forget them and begin a new log"],
  silent: ({ message }) => [message, "the other may be stopped, overloaded or cut off: begin again, both together"],
};
const OTHER_QUESTION = () => ["The other's command is for another question, or of another version", "let them copy the command that is shown above"];
const QUESTION_WORDS = {
  ...OWN_WORDS,
  "other-run": OTHER_QUESTION,
  "other-job": OTHER_QUESTION,
  untrusted: ({ message }) => [message, "let them end their command and copy the one that is shown above: it has your fingerprint"],
  stranger: ({ message }) => [message, "if they read this same fingerprint to you, enter it as theirs"],
};
const STRANGER = ["You are not one of the parties of this job", "let its author write the fingerprint that this page shows into it"];
const ASK_AUTHOR = ({ message }) => [message, "ask its author for the job and its program again"];
const JOB_WORDS = {
  ...OWN_WORDS,
  "other-job": () => ["The other has another job", "compare its number with theirs: `garblet job show` prints it to them"],
  untrusted: ({ message }) => [message, "let them end their command and copy the one that is shown above, with this same job"],
  stranger: ({ message }) => [message, "the job names another: ask its author, or find out who waits there"],
  job: ASK_AUTHOR,
  program: ASK_AUTHOR,
  signatures: ({ message }) => [message, "open the job without these signatures, and sign it here"],
};

/** All that belongs to a question: the program or the job, the input, the words for a result, and the commands of the other. */
const QUESTIONS = {
  richer: {
    subject: () => ({ program: { source: RICHER, name: "richer" }, party: PARTY, trust: whom() }),
    source: () => RICHER,
    input: async () => ({ bob: wealth() }),
    words: QUESTION_WORDS,
    told: ({ out0 }) => ({ Alice: "The other is richer.", Bob: "You are richer.", Neither: "You both have the same." })[out0],
    prepared: () => `cat > richer.garble.rs <<'END'\n${RICHER}END\n[ -e garblet-wealth.json ] || echo '{"alice": 3000000}' > garblet-wealth.json`,
    call: () => "richer.garble.rs --party 0 --input 0=garblet-wealth.json \\\n    --receipts garblet-receipts.jsonl",
    hint: "Then they open garblet-wealth.json in an editor and put what they have in place of 3000000. A number in a command would stay in the shell's history.",
  },
  common: {
    subject: () => ({ program: { library: INTERSECTION }, party: PARTY, trust: whom() }),
    source: () => `${INTERSECTION}, a circuit of Garblet's library`,
    input: async () => ({ b: await list() }),
    words: QUESTION_WORDS,
    told: ({ rows, in_order }) => {
      if (!in_order) throw unfit("The other's list was not in order, so nothing was compared", "ask them to run the command as it is shown, with --sum-by-key");
      return rows.length === 0 ? "You have nothing in common." : `${rows.length} in common:`;
    },
    rows: ({ rows }) => rows.map((row) => row.key ?? row),
    prepared: () => "[ -e garblet-numbers.csv ] || printf '%s\\n' a 8 3 5 > garblet-numbers.csv",
    call: () => `'${INTERSECTION}' \\\n    --party 0 --input 0=garblet-numbers.csv --sum-by-key \\\n    --receipts garblet-receipts.jsonl`,
    hint: "Then they open garblet-numbers.csv in an editor and put their numbers, at most 256, below the a in place of 8, 3 and 5. Numbers in a command would stay in the shell's history.",
  },
  job: {
    subject: () => ({ job: agreed().job, program: agreed().program }),
    source: () => (agreement === undefined ? "" : sourceOf(agreement)),
    input: async () => values(at("given")),
    words: JOB_WORDS,
    told: (outputs) => (Object.keys(outputs).length === 0 ? "The job was computed, and has no result for you." : "The result of the job:"),
    rows: (outputs) => Object.entries(outputs).map(([name, value]) => `${name} = ${typeof value === "object" ? JSON.stringify(value) : value}`),
    prepared: () => "",
    call: () => {
      const { job, said } = agreement ?? { job: { name: "JOB.toml" } };
      const other = said?.party === 0 ? 1 : 0;
      const gives = said === undefined || said.program.inputs.some(({ owner }) => owner === other);
      return `--job ${quoted(job.name)}${gives ? ` --input ${other}=FILE.json` : ""}${isMesh(said) ? " --peers PEERS.toml" : ""}`;
    },
    get hint() {
      const peers = isMesh(agreement?.said) ? " PEERS.toml is a peers file of both of you; nobody calls the address of party 1 in it." : "";
      return `They put what they give into FILE.json. They need the same job, and none of the options that it decides.${peers}`;
    },
  },
};

const isMesh = (said) => said?.protocol === "gmw";

const at = (id) => document.getElementById(id);
const question = () => QUESTIONS[document.querySelector("[name=question]:checked").value];

/** The job that is open, if one is. */
let agreement;

/** The job that is open, in which the person has a part. *Errors*: none is open, or it is one of others. */
function agreed() {
  if (agreement === undefined) throw unfit("The job is missing", "open the files that you were sent", "job");
  if (agreement.said.party === null) throw unfit(...STRANGER, "job");
  return agreement;
}

/** Those whom the person trusts. *Errors*: nobody. */
const whom = () => ({ other: given("trust", "The fingerprint of the other", "let them read to you what the first command prints", "trust") });

/** The package, which others put beside this page: it is loaded when the page can say that it is missing. */
let garblet;
let identity;
/** The reason why the browser does not keep the identity, as the page has it in `data-why`; none if it does. */
let why;

/** Has an identity, the one that is kept or a new one. Nothing begins without. */
async function begin(isNew) {
  able(false);
  try {
    garblet ??= await loaded();
    identity = await inTurn(() => (isNew ? made() : (keptIdentity() ?? made())));
    for (const part of document.querySelectorAll("[data-why]")) part.hidden = part.dataset.why !== (why ?? "");
    await taken(garblet);
    at("fingerprint").textContent = identity.fingerprint;
    show();
    at("starting").hidden = true;
    at("main").hidden = false;
    able(true);
    await reopen();
  } catch ({ message, hint }) {
    at("main").hidden = true;
    at("starting").hidden = false;
    tell("starting", message, hint);
  }
}

/** Works once no other tab of this page does this, so that two that begin together have one identity. */
const inTurn = (work) => navigator.locks.request("garblet-identity", work);

/** Loads the package. *Errors*: the browser cannot run it, or not from where the page is; it is not beside the page. */
async function loaded() {
  const lacking = ["WebAssembly", "Worker", "WebSocket"].filter((name) => typeof globalThis[name] === "undefined");
  if (lacking.length > 0) {
    throw unfit(`This browser has no ${lacking.join(" and no ")}, without which this page cannot compute`, "use a current Firefox, Chrome, Edge or Safari");
  }
  if (navigator.locks === undefined) {
    throw unfit("This page was loaded over plain HTTP, where its tabs cannot wait for each other, and anybody on the way can change it", "open it from an https:// address, or serve it on this machine and open it at http://localhost");
  }
  try {
    const package_ = await import("../garblet.js");
    await package_.load();
    return package_;
  } catch (error) {
    const hint = error.hint ?? "ask those who serve this page to put it into the folder of the package for npm, as its README says";
    throw unfit(`A part of this page is missing: ${error.message}`, hint);
  }
}

/** The identity that the browser keeps for this page, if there is one. Only its key is believed; one that cannot be read is not replaced. */
function keptIdentity() {
  if (why !== undefined) return undefined;
  let pem;
  try {
    pem = garblet.kept().identity;
  } catch {
    why = "unreadable";
  }
  if (pem === undefined) return undefined;
  return garblet.fingerprint(pem).then((fingerprint) => ({ pem, fingerprint }), (error) => {
    if (error.code !== "identity") throw error;
    why = "unreadable";
    return made();
  });
}

/** A new identity, which the browser keeps unless there is a reason why not. */
async function made() {
  const { pem, fingerprint } = await garblet.generateIdentity();
  if (why === undefined) {
    try {
      garblet.keep({ identity: pem });
    } catch {
      why = isEmpty() ? "denied" : "full";
    }
  }
  return { pem, fingerprint };
}

/** Works for a button, once the person agrees, unless another tab computes. The result of the last run stays: a trouble is told beside the button. */
async function after(question, trouble, work) {
  if (!confirm(question)) return;
  tell(trouble);
  try {
    await alone(work);
  } catch ({ message, hint }) {
    tell(trouble, "Nothing was changed", message, hint);
  }
}

const renew = () => after("Make a new fingerprint? Those who know the old one will not recognise you, and its key cannot be had again.", "who-trouble", () => begin(true));

/** Forgets the key, and keeps none from then on. */
function forgetKey() {
  return after("Forget the key? Those who know your fingerprint will not recognise you, and the key cannot be had again.", "who-trouble", () => {
    garblet.forget("identity");
    why = "forgotten";
    return begin(true);
  });
}

const forgetReceipts = () => after("Forget all receipts? If you have not saved them, you cannot show any more what was computed.", "receipt-trouble", () => forgotten(garblet));

/** Follows another tab, which has changed what the browser keeps. */
async function follow({ key, newValue }) {
  if (at("main").hidden || !at("underway").hidden) return;
  const of = (name) => key === null || key === name;
  // A tab whose identity is not kept has its own.
  if (of("garblet-identity") && why === undefined && newValue !== identity.pem) {
    if (newValue === null) why = "forgotten";
    await begin(newValue === null);
  } else if (of("garblet-receipts")) {
    await taken(garblet);
  }
}

/** The job that is being opened: a later one takes its place. */
let opening;

/** Opens a job, of files or as it was read before. Until all of it can be shown, none is open. */
async function open(source) {
  opening?.abort();
  const own = (opening = new AbortController());
  tellJob(undefined);
  try {
    const { job, program } = await source;
    const said = await garblet.checkJob({ job, program, identity: identity.pem, signal: own.signal });
    if (!own.signal.aborted) tellJob({ job, program, said });
  } catch (error) {
    if (own.signal.aborted) return;
    tellJob(undefined);
    complain(Object.assign(error, { field: "job" }), "No job is open.");
  }
}

/** Opens the same job for another identity. */
const reopen = () => (agreement === undefined ? undefined : open(agreement));

function chosen() {
  const files = [...at("job").files];
  if (files.length === 0) return undefined;
  forget();
  return open(read(files));
}

/** Shows a job and the fields for it, or that there is none. It is open only once everything is made. */
function tellJob(next) {
  const [said, given] = next === undefined ? [[], []] : [shown(next, sign), fields(next)];
  agreement = next;
  at("agreed").replaceChildren(...said);
  at("given").replaceChildren(...given);
  show();
}

/** Signs the job that is open, and offers the file of signatures. */
async function sign() {
  const own = agreement;
  try {
    const { job, program } = agreed();
    const { signatures } = await garblet.signJob({ job, program, identity: identity.pem });
    const signed = { ...job, signatures };
    const said = await garblet.checkJob({ job: signed, program, identity: identity.pem });
    if (agreement !== own) return;
    agreement = { job: signed, program, said };
    const saves = link(`${job.name}.signatures`, signatures, "Save the signatures");
    at("agreed").replaceChildren(...shown(agreement, sign), saves);
    saves.focus();
  } catch (error) {
    if (agreement === own) complain(error, "The job is not signed.");
  }
}

/** Shows the parts that belong to the question, and the commands for the other. */
function show() {
  const asked = question();
  for (const part of document.querySelectorAll("[data-of]")) part.hidden = !part.dataset.of.split(" ").some((name) => QUESTIONS[name] === asked);
  put(at("source"), "");
  if (at("exactly").open) showSource();
  at("theirs-why").textContent = asked.hint;
  at("prepared").textContent = asked.prepared();
  at("begin").textContent = asked === QUESTIONS.common ? "Find them" : asked === QUESTIONS.job ? "Compute" : "Compare";
  showCommand();
}

/** Shows the command with which the other waits at the address. */
function showCommand() {
  const asked = question();
  const peer = asked === QUESTIONS.job ? "" : `--peer ${identity.fingerprint} `;
  put(at("waits"), `garblet run ${asked.call()} \\\n    ${peer}--timeout 10m \\\n    --listen ws://127.0.0.1:${port()}`);
}

/** Shows what exactly is computed, which may be long, once somebody wants to see it. */
const showSource = () => put(at("source"), question().source());

/** The port at which the other waits: that of the address, unless a web server is between. */
function port() {
  const local = /^ws:\/\/(?:localhost|127\.0\.0\.1):(\d+)/.exec(at("url").value.trim());
  return local?.[1] ?? "7700";
}

/** The text that somebody has written into a field. *Errors*: none. */
function given(id, what, hint) {
  const text = at(id).value.trim();
  if (text === "") throw unfit(`${what} is missing`, hint, id);
  return text;
}

function wealth() {
  const text = given("wealth", "What you have", "enter a number");
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= WEALTH_MAX)) throw unfit(`Expected a whole number from 0 to ${WEALTH_MAX}`, "correct what you give", "wealth");
  return number;
}

async function list() {
  const [file] = at("file").files;
  if (file === undefined) throw unfit("Your list is missing", "choose a file", "file");
  return numbers(await textOf(file, LIST_BYTES_MAX, "file"));
}

/** The numbers of a text in order, each once, as the circuit needs them. */
function numbers(text) {
  const lines = text.split(/\r\n?|\n/).map((line) => line.trim());
  const found = new Set();
  const wrong = (message) => unfit(message, "put one whole number in each line", "file");
  lines.forEach((line, number) => {
    const isNumber = /^\d+$/.test(line);
    // The first line may be a heading, which has no digit.
    const isHeading = number === 0 && !/\d/.test(line);
    if (!isNumber && !isHeading && line !== "") throw wrong(`Line ${number + 1}: expected a number and nothing else`);
    if (isNumber && BigInt(line) > NUMBER_MAX) throw wrong(`Line ${number + 1}: expected at most ${NUMBER_MAX}, got more`);
    if (isNumber) found.add(BigInt(line));
  });
  if (found.size === 0) throw wrong("The file has no number");
  if (found.size > ROWS_MAX) throw wrong(`The file has ${found.size} numbers, the most is ${ROWS_MAX}`);
  return [...found].sort((one, other) => (one < other ? -1 : 1));
}

let giveUp;

/** Clears what the last run has shown. */
function forget() {
  for (const id of ["trouble", "rows", "costs"]) at(id).replaceChildren();
  for (const field of document.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  say("Nothing yet.");
}

/** Computes, and shows the result beside the button. From the click on, no other run begins. */
async function compute() {
  giveUp = new AbortController();
  forget();
  const asked = question();
  let remarks = [];
  working(true);
  try {
    const subject = asked.subject();
    const inputs = await asked.input();
    const url = given("url", "The address of the other", "enter where they wait");
    say("Waiting for the other …");
    const onProgress = ({ done, total }) => {
      say("Computing …");
      at("progress").value = total === 0 ? 0 : done / total;
    };
    const { report, notes } = await alone(() => met({ ...subject, inputs, identity: identity.pem, url, onProgress, signal: giveUp.signal }));
    remarks = notes;
    say(asked.told(report.outputs));
    at("rows").replaceChildren(...(asked.rows?.(report.outputs) ?? []).map((row) => element("li", row)));
    at("costs").textContent = cost(report);
    tell("trouble", ...remarks);
  } catch (error) {
    complain(Object.assign(error, { notes: error.notes ?? remarks }), "There is no result.");
  } finally {
    working(false);
  }
}

/** Computes, and adds the receipt to the log while no other tab does. An error has the remarks on the log too. */
async function met(options) {
  giveUp.signal.throwIfAborted();
  try {
    const report = await garblet.run({ ...options, receipts: begun(garblet) });
    return { report, notes: await ended(garblet, report) };
  } catch (error) {
    throw Object.assign(error, { notes: await ended(garblet, error) });
  }
}

function cost({ costs }) {
  const all = Object.values(costs);
  const sum = (what) => all.reduce((total, phase) => total + phase[what], 0);
  const bytes = sum("bytesSent") + sum("bytesReceived");
  return `${bytes.toLocaleString("en")} bytes were exchanged, in ${sum("seconds").toFixed(2)} seconds.`;
}

/** Says what is going on. The same words again are not put there again, since screen readers might repeat them. */
function say(words) {
  const status = at("status");
  if (status.textContent !== words) status.textContent = words;
}

/** Says what is wrong, and what to do. */
function tell(id, ...lines) {
  at(id).classList.add("trouble");
  at(id).replaceChildren(...lines.filter(Boolean).flatMap((line) => line.split("\n")).map((line) => element("p", sentence(line))));
}

function complain(error, outcome) {
  say(outcome);
  const asked = question();
  const own = Object.hasOwn(asked.words, error.code) ? asked.words[error.code] : undefined;
  tell("trouble", ...(own?.(error) ?? [error.message, error.hint]), ...(error.notes ?? []));
  const place = ["trust", "url"].find((place) => place === error.code);
  const field = error.field ?? place ?? (asked === QUESTIONS.job ? fieldOf(error, at("given")) : undefined);
  if (field !== undefined) lead(field);
}

/** Leads the person to the field that has to be changed. */
function lead(field) {
  at(field).setAttribute("aria-invalid", "true");
  at(field).focus();
}

/** A line as a sentence. A name or an address at its beginning stays as it is. */
function sentence(words) {
  const first = /^[a-z]+(?=[ ,])/.test(words) ? words.charAt(0).toUpperCase() : words.charAt(0);
  return `${first}${words.slice(1).replace(/[.]$/, "")}.`;
}

function able(is) {
  for (const id of ["begin", "renew", "forget", "forget-receipts", "job", "theirs-log"]) at(id).disabled = !is;
  for (const choice of document.querySelectorAll("[name=question]")) choice.disabled = !is;
}

function working(is) {
  able(!is);
  at("underway").hidden = !is;
  at("progress").value = 0;
  // A button that is gone or disabled loses the focus.
  if (is) at("stop").focus();
  else if (document.activeElement === document.body) at("begin").focus();
}

/** Copies a text, or selects it where the browser does not let pages copy. */
async function copy(button) {
  const text = at(button.dataset.copies);
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2_000);
  } catch {
    getSelection().selectAllChildren(text);
  }
}

/** Compares the receipts with those in the file of the other. The result of the last run stays. */
async function compare() {
  tell("receipt-trouble");
  at("theirs-log").removeAttribute("aria-invalid");
  try {
    await compared(garblet);
  } catch ({ message, hint }) {
    tell("receipt-trouble", "Nothing was compared", message, hint);
    lead("theirs-log");
  }
}

at("renew").onclick = renew;
at("forget").onclick = forgetKey;
at("forget-receipts").onclick = forgetReceipts;
// The same file can be chosen again, for instance after a correction.
for (const [id, then] of [["job", chosen], ["theirs-log", compare]]) Object.assign(at(id), { onclick: () => (at(id).value = ""), onchange: then });
at("begin").onclick = compute;
at("stop").onclick = () => giveUp?.abort(new Error("You gave up"));
at("url").oninput = showCommand;
at("exactly").ontoggle = () => at("exactly").open && showSource();
addEventListener("beforeprint", showSource);
for (const choice of document.querySelectorAll("[name=question]")) choice.onchange = () => (forget(), show());
for (const button of document.querySelectorAll("[data-copies]")) button.onclick = () => copy(button);
addEventListener("storage", follow);
begin(false);
