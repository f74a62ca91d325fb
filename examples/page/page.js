// Two questions that this page and a peer, `garblet run --listen ws://HOST:PORT`, answer together, and jobs of both. In the questions the peer is Alice, party 0;
// the page is Bob, party 1.

import { fields, link, opened, shown, values } from "./job.js";

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
/** What each question needs: the program or the job, the input, the words for a result, and what the other types. */
const QUESTIONS = {
  richer: {
    subject: () => ({ program: { source: RICHER, name: "richer" }, party: PARTY, trust: whom() }),
    source: () => RICHER,
    input: async () => ({ bob: wealth() }),
    told: ({ out0 }) => ({ Alice: "The other is richer.", Bob: "You are richer.", Neither: "You both have the same." })[out0],
    prepared: () => `cat > richer.garble.rs <<'END'\n${RICHER}END\n[ -e garblet-wealth.json ] || echo '{"alice": 3000000}' > garblet-wealth.json`,
    call: () => "richer.garble.rs --party 0 --input 0=garblet-wealth.json",
    hint: "Then they open garblet-wealth.json in an editor and put what they have in place of 3000000. A number in a command would stay in the shell's history.",
  },
  common: {
    subject: () => ({ program: { library: INTERSECTION }, party: PARTY, trust: whom() }),
    source: () => `${INTERSECTION}, a circuit of Garblet's library`,
    input: async () => ({ b: await list() }),
    told: ({ rows, in_order }) => {
      if (!in_order) throw unfit("The other's list was not in order, so nothing was compared", "ask them to run the command as it is shown, with --sum-by-key");
      return rows.length === 0 ? "You have nothing in common." : `${rows.length} in common:`;
    },
    rows: ({ rows }) => rows.map((row) => row.key ?? row),
    prepared: () => "[ -e garblet-numbers.csv ] || printf '%s\\n' a 8 3 5 > garblet-numbers.csv",
    call: () => `'${INTERSECTION}' \\\n    --party 0 --input 0=garblet-numbers.csv --sum-by-key`,
    hint: "Then they open garblet-numbers.csv in an editor and put their numbers, at most 256, below the a in place of 8, 3 and 5. Numbers in a command would stay in the shell's history.",
  },
  job: {
    subject: () => ({ job: agreed().job, program: agreed().program }),
    source: () => (agreement?.program ? new TextDecoder().decode(agreement.program.source) : (agreement?.said.program.name ?? "")),
    input: async () => values(at("given")),
    told: () => "The result of the job:",
    rows: (outputs) => Object.entries(outputs).map(([name, value]) => `${name} = ${typeof value === "object" ? JSON.stringify(value) : value}`),
    prepared: () => "",
    call: () => {
      const { job, said } = agreement ?? { job: { name: "JOB.toml" }, said: {} };
      const other = said.party === 0 ? 1 : 0;
      return `--job ${job.name} --input ${other}=FILE.json${said.protocol === "gmw" ? " --peers PEERS.toml" : ""}`;
    },
    hint: "They put what they give into FILE.json. They need the same job, and none of the options that it decides.",
  },
};

const at = (id) => document.getElementById(id);
const question = () => QUESTIONS[document.querySelector("[name=question]:checked").value];

/** The job that is open, if one is. */
let agreement;

function agreed() {
  if (agreement === undefined) throw unfit("The job is missing", "open the files that you were sent", "job");
  return agreement;
}

/** Those whom the person trusts. *Errors*: nobody. */
const whom = () => ({ other: given("trust", "The fingerprint of the other", "let them read to you what the first command prints", "trust") });

/** The package, which others put beside this page: it is loaded when the page can say that it is missing. */
let garblet;
let identity;
/** The log of receipts, and whether the browser keeps it and the identity. */
let receipts = "";
let keeps = true;

/** Has an identity, the one that is kept or a new one. Nothing begins without. */
async function begin(renew) {
  able(false);
  try {
    garblet ??= await loaded();
    identity = (renew ? undefined : await kept()) ?? (await garblet.generateIdentity());
    keeps &&= garblet.keep({ identity: identity.pem });
    at("forgetful").hidden = keeps;
    await reopen();
    at("fingerprint").textContent = identity.fingerprint;
    show();
    at("starting").hidden = true;
    at("main").hidden = false;
    able(true);
  } catch ({ message, hint }) {
    at("main").hidden = true;
    at("starting").hidden = false;
    tell("starting", message, hint);
  }
}

/** Loads the package. *Errors*: the browser cannot run it, or it is not beside the page. */
async function loaded() {
  const lacking = ["WebAssembly", "Worker", "WebSocket"].filter((name) => typeof globalThis[name] === "undefined");
  if (lacking.length > 0) {
    throw unfit(`This browser has no ${lacking.join(" and no ")}, without which this page cannot compute`, "use a current Firefox, Chrome, Edge or Safari");
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

/** The identity that the browser keeps for this page, if it keeps a whole one. Only its key is believed. */
async function kept() {
  try {
    const { identity: pem } = garblet.kept();
    return { pem, fingerprint: await garblet.fingerprint(pem) };
  } catch {
    return undefined;
  }
}

/** Forgets what the browser keeps for this page, which keeps nothing from then on. */
function forgetAll() {
  garblet.forget();
  [receipts, keeps] = ["", false];
  forget();
  return begin(true);
}

/** Adds what a run has left to the receipts, and offers them. */
function record(ended) {
  if (ended.receipts === undefined) return;
  receipts = ended.receipts;
  if (keeps) garblet.keep({ receipts });
  const saves = link("receipts.jsonl", receipts, "Save the receipts");
  saves.id = "save";
  at("save").replaceWith(saves);
  at("receipt").hidden = false;
}

/** Works, unless another tab of this page does: each run adds its receipt to the same log. */
function alone(work) {
  if (navigator.locks === undefined) return work();
  return navigator.locks.request("garblet", { ifAvailable: true }, (lock) => {
    if (lock === null) throw unfit("This page is computing in another tab", "wait until that has ended");
    return work();
  });
}

/** Opens a job. */
async function open() {
  forget();
  agreement = undefined;
  const files = [...at("job").files];
  try {
    if (files.length > 0) agreement = await opened(files, garblet, identity);
  } catch (error) {
    complain(Object.assign(error, { field: "job" }));
  }
  tellJob();
}

/** Opens the same job for another identity. */
const reopen = () => (agreement === undefined ? undefined : open());

function tellJob() {
  at("agreed").replaceChildren(...(agreement === undefined ? [] : shown(agreement, sign)));
  at("given").replaceChildren(...(agreement === undefined ? [] : fields(agreement)));
  show();
}

/** Signs the job that is open, and offers the file of signatures. */
async function sign() {
  try {
    const { job, program } = agreed();
    const { signatures } = await garblet.signJob({ job, program, identity: identity.pem });
    job.signatures = signatures;
    agreement.said = await garblet.checkJob({ job, program, identity: identity.pem });
    tellJob();
    const saves = link(`${job.name}.signatures`, signatures, "Save the signatures");
    at("agreed").append(saves);
    saves.focus();
  } catch (error) {
    complain(error);
  }
}

/** Shows what belongs to the question, and the commands for the other. */
function show() {
  const asked = question();
  for (const part of document.querySelectorAll("[data-of]")) part.hidden = !part.dataset.of.split(" ").some((name) => QUESTIONS[name] === asked);
  at("source").textContent = asked.source();
  at("theirs-why").textContent = asked.hint;
  at("prepared").textContent = asked.prepared();
  const peer = asked === QUESTIONS.job ? "" : `--peer ${identity.fingerprint} `;
  at("waits").textContent = `garblet run ${asked.call()} \\\n    ${peer}--timeout 10m \\\n    --listen ws://127.0.0.1:${port()}`;
  at("begin").textContent = asked === QUESTIONS.common ? "Find them" : asked === QUESTIONS.job ? "Compute" : "Compare";
}

/** The port at which the other waits: that of the address, unless a web server is between. */
function port() {
  const local = /^ws:\/\/(?:localhost|127\.0\.0\.1):(\d+)/.exec(at("url").value.trim());
  return local?.[1] ?? "7700";
}

const unfit = (message, hint, field) => Object.assign(new Error(message), { hint, field });

/** What somebody has written into a field. *Errors*: nothing. */
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
  return numbers(await file.text());
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
    if (!isNumber && !isHeading && line !== "") throw wrong(`Line ${number + 1}: expected a number, got "${line.slice(0, 40)}"`);
    if (isNumber && BigInt(line) > NUMBER_MAX) throw wrong(`Line ${number + 1}: expected at most ${NUMBER_MAX}, got ${line.slice(0, 40)}`);
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
  at("receipt").hidden = true;
  for (const field of document.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  say("Nothing yet.");
}

/** Computes, and shows the result beside the button. From the click on, no other run begins. */
async function compute() {
  giveUp = new AbortController();
  forget();
  const asked = question();
  working(true);
  try {
    if (asked === QUESTIONS.job) agreed();
    const inputs = await asked.input();
    const subject = asked.subject();
    const url = given("url", "The address of the other", "enter where they wait");
    if (!/^wss?:\/\//i.test(url)) throw unfit("Expected an address that begins with ws:// or wss://", "for instance ws://127.0.0.1:7700", "url");
    say("Waiting for the other …");
    const onProgress = ({ done, total }) => {
      say("Computing …");
      at("progress").value = total === 0 ? 0 : done / total;
    };
    const report = await alone(() => {
      if (keeps) receipts = garblet.kept().receipts ?? "";
      return garblet.run({ ...subject, inputs, identity: identity.pem, url, receipts, onProgress, signal: giveUp.signal });
    });
    record(report);
    say(asked.told(report.outputs));
    at("rows").replaceChildren(...(asked.rows?.(report.outputs) ?? []).map((row) => element("li", row)));
    at("costs").textContent = cost(report);
  } catch (error) {
    record(error);
    complain(error);
  } finally {
    working(false);
  }
}

function cost({ costs }) {
  const all = Object.values(costs);
  const sum = (what) => all.reduce((total, phase) => total + phase[what], 0);
  const bytes = sum("bytesSent") + sum("bytesReceived");
  return `${bytes.toLocaleString("en")} bytes were exchanged, in ${sum("seconds").toFixed(2)} seconds.`;
}

const say = (words) => (at("status").textContent = words);
const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });

/** Says what is wrong, and what to do. */
function tell(id, ...lines) {
  at(id).classList.add("trouble");
  at(id).replaceChildren(...lines.filter(Boolean).map((line) => element("p", sentence(line))));
}

/** What the package says of a peer, in words for those who have this page before them. */
const OWN_WORDS = [
  [/job: ours/, () => ["The other has another job", "compare its number with theirs: `garblet job show` prints it"]],
  [/program digest/, () => ["The other's command is for another question, or of another version", "let them copy the command that is shown above"]],
  [/^receipts:/, () => ["The receipts that this browser keeps for this page were changed", "save what you need of them, and let this page forget them"]],
  [/garblet trust add/, ({ message }) => [message, "let them end their command and copy the one that is shown above: it has your fingerprint"]],
];

function complain(error) {
  say("There is no result.");
  const [, own] = OWN_WORDS.find(([of]) => of.test(`${error.message} ${error.hint}`)) ?? [];
  tell("trouble", ...(own?.(error) ?? [error.message, error.hint]));
  const field = error.field ?? (error.message.startsWith("trust:") ? "trust" : undefined);
  if (field === undefined) return;
  at(field).setAttribute("aria-invalid", "true");
  at(field).focus();
}

/** A line as a sentence. A name or an address at its beginning stays as it is. */
function sentence(words) {
  const first = /^[a-z]+(?=[ ,])/.test(words) ? words.charAt(0).toUpperCase() : words.charAt(0);
  return `${first}${words.slice(1).replace(/[.]$/, "")}.`;
}

function able(is) {
  for (const id of ["begin", "renew", "forget", "job"]) at(id).disabled = !is;
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

at("renew").onclick = () => begin(true);
at("forget").onclick = forgetAll;
at("job").onchange = open;
at("begin").onclick = compute;
at("stop").onclick = () => giveUp?.abort(new Error("You gave up"));
at("url").oninput = show;
for (const choice of document.querySelectorAll("[name=question]")) choice.onchange = () => (forget(), show());
for (const button of document.querySelectorAll("[data-copies]")) button.onclick = () => copy(button);
begin(false);
