// Two computations with a peer, `garblet run --listen ws://HOST:PORT`, of which this page is the other party.

const MILLIONAIRES = `// Whether Alice is richer than Bob.

pub fn main(alice: u32, bob: u32) -> bool {
    alice > bob
}
`;
const ROWS_MAX = 256;
const INTERSECTION = `lib:intersection(${ROWS_MAX},${ROWS_MAX},64,0,0)`;
/** Where the identity is kept, so that peers know this page again. */
const KEPT = "garblet-identity";

const at = (id) => document.getElementById(id);

/** The package, which others put beside this page: it is loaded when the page can say that it is missing. */
let garblet;
let identity;

/** Has an identity, the one that is kept or a new one. Nothing begins without. */
async function begin(renew) {
  able(false);
  try {
    garblet ??= await loaded();
    const kept = renew ? null : JSON.parse(localStorage.getItem(KEPT));
    identity = kept ?? (await garblet.generateIdentity());
    localStorage.setItem(KEPT, JSON.stringify(identity));
    at("fingerprint").textContent = identity.fingerprint;
  } catch (error) {
    complain(error, error.hint);
  }
  able(identity !== undefined);
}

/** Loads the package. *Errors*: it is not beside the page. */
async function loaded() {
  try {
    return await import("./garblet.js");
  } catch (error) {
    const hint = "ask those who serve this page to put the package for npm beside it, as its README says";
    throw Object.assign(new Error(`a part of this page is missing: ${error.message}`), { hint });
  }
}

/** What the person has given for the peer. */
function peer() {
  const party = Number(at("party").value);
  return { party, url: at("url").value, trust: { peer: at("trust").value.trim() }, identity: identity.pem };
}

async function compare() {
  const with_ = peer();
  const name = with_.party === 0 ? "alice" : "bob";
  const options = { ...with_, program: { source: MILLIONAIRES, name: "millionaires" }, inputs: { [name]: at("wealth").value } };
  await attempt(async () => options, ({ outputs }) => (outputs.out0 ? "Party 0 is richer." : "Party 0 is not richer."));
}

async function intersect() {
  const with_ = peer();
  const [file] = at("file").files;
  if (file === undefined) return complain(new Error("There is no file"), "choose one");
  const name = with_.party === 0 ? "a" : "b";
  const options = async () => ({ ...with_, program: { library: INTERSECTION }, inputs: { [name]: read(await file.text()) } });
  await attempt(options, ({ outputs }) => {
    const { rows } = outputs;
    at("rows").replaceChildren(...rows.map((row) => Object.assign(document.createElement("li"), { textContent: row.key ?? row })));
    return `${rows.length} in common.`;
  });
}

/** The numbers of a file in order, each once, as the circuit needs them. */
function read(text) {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const numbers = new Set();
  lines.forEach((line, number) => {
    if (/^\d+$/.test(line)) numbers.add(BigInt(line));
    // The first line may be a heading.
    else if (line !== "" && number > 0) throw unfit(`Line ${number + 1}: expected a number, got "${line.slice(0, 40)}"`);
  });
  if (numbers.size > ROWS_MAX) throw unfit(`The file has ${numbers.size} numbers, the most is ${ROWS_MAX}`);
  return [...numbers].sort((one, other) => (one < other ? -1 : 1));
}

const unfit = (message) => Object.assign(new Error(message), { hint: "have a number in each line" });

let giveUp;

/** Runs with the options that a function gives, and shows what `tell` makes of the report. From the click on, no other run begins. */
async function attempt(options, tell) {
  giveUp = new AbortController();
  for (const id of ["trouble", "rows", "costs"]) at(id).replaceChildren();
  working(true);
  at("status").textContent = "Waiting for the other …";
  const onProgress = ({ done, total }) => {
    at("status").textContent = "Computing …";
    at("progress").value = total === 0 ? 0 : done / total;
  };
  try {
    const report = await garblet.run({ ...(await options()), onProgress, signal: giveUp.signal });
    at("status").textContent = tell(report);
    const all = Object.values(report.costs);
    const sum = (what) => all.reduce((total, cost) => total + cost[what], 0);
    const bytes = sum("bytesSent") + sum("bytesReceived");
    at("costs").textContent = `${bytes.toLocaleString("en")} bytes, ${sum("seconds").toFixed(2)} seconds, against ${report.adversary} parties.`;
  } catch (error) {
    complain(error, error.hint);
  } finally {
    working(false);
  }
}

function complain(error, hint) {
  at("status").textContent = "There is no result.";
  const lines = [error.message, hint].filter(Boolean);
  at("trouble").replaceChildren(...lines.map((line) => Object.assign(document.createElement("p"), { textContent: line })));
}

function able(is) {
  for (const id of ["compare", "intersect", "renew"]) at(id).disabled = !is;
}

function working(is) {
  able(!is);
  for (const id of ["progress", "stop"]) at(id).hidden = !is;
  at("progress").value = 0;
}

at("renew").onclick = () => begin(true);
at("compare").onclick = compare;
at("intersect").onclick = intersect;
at("stop").onclick = () => giveUp?.abort(new Error("Given up"));
begin(false);
