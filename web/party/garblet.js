// A page as a party of two: it computes with a peer, such as `garblet run --listen ws://HOST:PORT`, in a worker. Or it is a client, and visits two servers. Beside
// it are `worker.js`, `garblet-talk.js`, `party.js` and `party_bg.wasm`.

/** An error of this package. */
export class GarbletError extends Error {
  name = "GarbletError";

  constructor(message, hint, { code, receipt, receipts, notes, memory, replies, isNeverRun } = {}) {
    super(message);
    /** Advice for the user. */
    this.hint = hint;
    /** The kind of error, for programs: a peer or a file can have chosen words of the message. */
    this.code = code;
    /** The receipt of a run that has ended without a result, if one was asked for, the log with it, and remarks on that log. */
    this.receipt = receipt;
    this.receipts = receipts;
    this.notes = notes;
    /** What to keep after a visit without an output, what each server said, and whether both prove that the inputs have had no effect. */
    this.memory = memory;
    this.replies = replies;
    this.isNeverRun = isNeverRun;
  }
}

/** An idle worker, for the next call. */
let idle;

/** The compiled module, which all workers share. */
let compiled;

/** The longest time for loading it, and for a worker to start. */
const LOADING_MS = 60_000;

/** Loads the module, from its usual place or from the given URL, so that the first call starts at once. */
export async function load(wasm = new URL("./party_bg.wasm", import.meta.url)) {
  compiled ??= fetchModule(wasm);
  return compiled;
}

async function fetchModule(wasm) {
  const what = "the module cannot be loaded";
  if (typeof Worker === "undefined" || typeof WebAssembly === "undefined") {
    throw new GarbletError("this browser has no workers or no WebAssembly", "use a current one");
  }
  try {
    const response = await fetch(wasm, { signal: AbortSignal.timeout(LOADING_MS) });
    if (!response.ok) throw new Error(`${response.url}: status ${response.status}`);
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    compiled = undefined;
    const hint = "check that party_bg.wasm is beside garblet.js, and that the browser has SIMD (all do since 2023)";
    throw new GarbletError(`${what}: ${error.message}`, hint);
  }
}

/** Compiles a source of the function language, and describes the program. */
export async function compile(source, options = {}) {
  const { signal, ...rest } = members("options", options, ["name", "constants", "panics", "effort", "function", "signal"]);
  return describe({ ...rest, source }, { signal });
}

/** Describes a program. */
export async function describe(program, options = {}) {
  const { signal } = members("options", options, ["signal"]);
  return JSON.parse(await call("describe", { program: written(program) }, { signal }));
}

/** Creates an identity. */
export function generateIdentity() {
  return call("generate", {});
}

/** The fingerprint of an identity. */
export async function fingerprint(pem) {
  return await call("fingerprint", { pem: text("pem", pem) });
}

/** The members of the options of all calls under a job, and those that only a run has. */
const AGREED = ["job", "program", "trust", "identity", "signal"];
const RUN = ["party", "inputs", "url", "protocol", "params", "session", "timeoutMs", "receipts", "onProgress"];

/** Computes with a peer. */
export async function run(options) {
  const { job, program, party, inputs = {}, identity, trust, url, signal } = members("options", options, [...AGREED, ...RUN]);
  const { protocol = "yao", params = {}, session, timeoutMs = 60_000, receipts, onProgress } = options;
  if (job !== undefined) unsaid(options, ["protocol", "params"]);
  const settings = {
    party: job !== undefined && party === undefined ? undefined : typed("number", "party", party),
    protocol: text("protocol", protocol),
    params: texts(params),
    trust: trusted(job === undefined ? trust : (trust ?? {})),
    session: optional("session", session),
    timeoutMs: typed("number", "timeoutMs", timeoutMs),
    receipts: optional("receipts", receipts ?? (job === undefined ? undefined : "")),
  };
  if (onProgress !== undefined) typed("function", "onProgress", onProgress);
  const subject = job === undefined ? { program: written(program) } : agreed(job, program);
  const odd = oddities();
  const given = json(typed("object", "inputs", inputs), "inputs", odd);
  const asked = { ...subject, ...address(url), inputs: given, fractional: [...odd.fractional], identity: text("identity", identity), settings: json(settings), timeoutMs };
  return JSON.parse(await exactly(odd, call("run", asked, { onProgress, signal })));
}

/** Reads a job, compiles its program, and says what a party is asked to agree to. */
export async function checkJob(options) {
  const { job, program, trust = {}, identity, signal } = members("options", options, AGREED);
  const asked = { ...agreed(job, program), trust: json(trusted(trust)), identity: optional("identity", identity) };
  return JSON.parse(await call("checkJob", asked, { signal }));
}

/** Signs a job for the party with an identity, once its program is the agreed one. */
export async function signJob(options) {
  const { job, program, trust = {}, identity, signal } = members("options", options, AGREED);
  const asked = { ...agreed(job, program), trust: json(trusted(trust)), identity: text("identity", identity) };
  return JSON.parse(await call("signJob", asked, { signal }));
}

/** Checks that all parties have signed a job, and returns its digest. */
export async function verifyJob(job) {
  return await call("verifyJob", agreed(job));
}

/** The receipts of a log, after checks of all its lines, and remarks on the log. */
export async function readReceipts(log, options = {}) {
  const { holds = [] } = members("options", options, ["holds"]);
  return JSON.parse(await call("readReceipts", { log: text("log", log), holds: json(typed("object", "holds", holds), "holds") }));
}

/** Compares the logs of two parties, run by run. */
export async function compareReceipts(ours, theirs) {
  const { only, ...compared } = JSON.parse(await call("compareReceipts", { ours: text("ours", ours), theirs: text("theirs", theirs) }));
  return { ...compared, onlyOurs: only[0], onlyTheirs: only[1] };
}

/** The members of the options of all calls about a visit, and those of all calls that visit. */
const VISITOR = ["agreement", "program", "generator", "cloud", "clients", "label", "signal"];
const CALLED = ["memory", "timeoutMs"];

/** Reads an agreement of two servers, compiles its programs, and says what a client gives and learns, and what the servers learn. */
export async function checkAgreement(options) {
  const { signal } = members("options", options, VISITOR);
  return JSON.parse(await call("checkAgreement", { visitor: visitor(options) }, { signal }));
}

/** Shares a client's inputs between the two servers of an agreement, which compute on the shares, and returns the output. */
export async function visit(options) {
  const { inputs = {}, keep, signal } = members("options", options, [...VISITOR, ...CALLED, "inputs", "keep", "forget"]);
  typed("function", "keep", keep);
  const odd = oddities();
  const given = json(typed("object", "inputs", inputs), "inputs", odd);
  const asked = { visitor: visitor(options), inputs: given, fractional: [...odd.fractional], ...ends(options) };
  return JSON.parse(await exactly(odd, call("visit", asked, { keep, signal })));
}

/** Asks again for the answers to the last visit, which did not arrive. */
export async function resumeVisit(options) {
  const { signal } = members("options", options, [...VISITOR, ...CALLED]);
  text("memory", options.memory);
  return JSON.parse(await call("visit", { visitor: visitor(options), ...ends(options) }, { signal }));
}

/** The keys of all that a browser keeps for the pages of one origin. */
const KEPT = { identity: "garblet-identity", receipts: "garblet-receipts" };

/** Advice for a value that a browser does not keep. */
const UNKEPT = {
  identity: "let the person save it, or make another one at the next visit",
  receipts: "let the person save the log as a file, and then make room: `forget(\"receipts\")`",
};

/** Keeps an identity or a log of receipts. *Errors*: the browser does not; it still has what it kept before. */
export function keep(values) {
  const all = Object.entries(members("values", values, Object.keys(KEPT))).map(([name, value]) => [name, text(name, value)]);
  const before = [];
  for (const [name, value] of all) {
    const key = KEPT[name];
    try {
      const old = localStorage.getItem(key);
      localStorage.setItem(key, value);
      before.push([key, value, old]);
    } catch (error) {
      putBack(before);
      throw new GarbletError(`${name}: the browser does not keep it: ${error.message}`, UNKEPT[name]);
    }
  }
}

/** Stores old values in place of new ones, each in one step: whenever the page ends, one of the two is there. Those that take least room come first: there was
 * room for all new values and for all old ones, so there is for each mixture in this order. */
function putBack(before) {
  const grows = ([, value, old]) => (old ?? "").length - value.length;
  for (const [key, , old] of before.sort((one, other) => grows(one) - grows(other))) {
    try {
      if (old === null) localStorage.removeItem(key);
      else localStorage.setItem(key, old);
    } catch {
      // Another page has taken the room meanwhile: the new value stays.
    }
  }
}

/** Returns all that is kept: nothing in a browser that stores nothing for the page. *Errors*: it cannot be read. */
export function kept() {
  const storage = stored();
  if (storage === undefined) return {};
  try {
    const found = Object.entries(KEPT).map(([name, key]) => [name, storage.getItem(key) ?? undefined]);
    return Object.fromEntries(found);
  } catch (error) {
    throw new GarbletError(`the browser cannot read what it keeps: ${error.message}`, "load the page again, and change nothing until it can be read");
  }
}

/** The storage of this page, if the browser lets it have one. */
function stored() {
  try {
    return localStorage ?? undefined;
  } catch {
    return undefined;
  }
}

/** Forgets what is kept under these names, or all. *Errors*: the browser still keeps it. */
export function forget(...names) {
  const known = Object.keys(KEPT);
  const other = names.find((name) => !known.includes(name));
  if (other !== undefined) throw new GarbletError(`forget: expected ${known.join(" or ")}, got ${JSON.stringify(other)}`, "see garblet.d.ts");
  const storage = stored();
  // A browser that stores nothing for the page has nothing to forget.
  if (storage === undefined) return;
  for (const name of names.length === 0 ? known : names) {
    try {
      storage.removeItem(KEPT[name]);
    } catch (error) {
      throw new GarbletError(`${name}: the browser still keeps it: ${error.message}`, "remove what this site has stored, in the browser's settings");
    }
  }
}

/** Computes as both parties, in this page, without a peer, for experiments. */
export async function runTogether(options) {
  const { program, inputs, protocol = "yao", params = {}, signal } = members("options", options, ["program", "inputs", "protocol", "params", "signal"]);
  const odd = oddities();
  const given = json(typed("object", "inputs", inputs), "inputs", odd);
  const asked = { program: written(program), inputs: given, fractional: [...odd.fractional], protocol: text("protocol", protocol), params: json(texts(params)) };
  return JSON.parse(await exactly(odd, call("runTogether", asked, { signal })));
}

/** Fails as a bug would. */
export function panicForTest() {
  return call("panicForTest", {});
}

function texts(params) {
  return Object.fromEntries(Object.entries(typed("object", "params", params)).map(([name, value]) => [name, String(value)]));
}

/** Fingerprints by name. */
function trusted(trust) {
  const named = Object.entries(typed("object", "trust", trust));
  return Object.fromEntries(named.map(([name, fingerprint]) => [name, text(`trust: ${name}`, fingerprint)]));
}

/** A job with the text of its program, as the worker takes them. */
function agreed(job, program) {
  const { text: content, name = "job", signatures } = typeof job === "string" ? { text: job } : members("job", job, ["text", "name", "signatures"]);
  const { source, effort } = program === undefined ? {} : typed("object", "program", program);
  if (program !== undefined) {
    unsaid(program, PROGRAM.filter((name) => name !== "source" && name !== "effort"));
    members("program", program, PROGRAM);
    if (!(source instanceof Uint8Array)) text("source", source);
  }
  if (effort !== undefined) typed("number", "effort", effort);
  const bytes = typeof source === "string" ? new TextEncoder().encode(source) : source;
  return { job: { name: text("name", name), text: text("job", content), signatures: optional("signatures", signatures), source: bytes, effort } };
}

/** A client with the agreement of two servers, as the worker takes it. */
function visitor({ agreement, program, generator, cloud, clients = [], label = "", memory, forget = false }) {
  const { text: content, name = "agreement", files = {} } = typeof agreement === "string" ? { text: agreement } : members("agreement", agreement, ["text", "name", "files"]);
  const bytes = ([file, source]) => [file, source instanceof Uint8Array ? source : new TextEncoder().encode(text(`files: ${file}`, source))];
  const invitation = ([server, given]) => text(`${server}: invitation`, members(server, given, ["url", "invitation"]).invitation);
  if (!Array.isArray(clients)) throw new GarbletError("clients: expected an array of names, got another value", "see garblet.d.ts");
  const said = {
    name: text("name", name),
    text: text("agreement", content),
    program: text("program", program),
    invitations: Object.entries({ generator, cloud }).map(invitation),
    clients: clients.map((client) => text("clients", client)),
    label: text("label", label),
    memory: optional("memory", memory),
    forget: typed("boolean", "forget", forget),
  };
  return { said: JSON.stringify(said), files: Object.entries(typed("object", "files", files)).map(bytes) };
}

/** The addresses of both servers, and how long to wait for them. */
function ends({ generator, cloud, timeoutMs = 60_000 }) {
  const [one, other] = [generator, cloud].map(({ url }) => ({ url: address(url).url }));
  return { ends: { generator: one, cloud: other, timeoutMs: typed("number", "timeoutMs", timeoutMs) } };
}

/** Refuses options that a job says. */
function unsaid(options, names) {
  const said = names.find((name) => options[name] !== undefined);
  if (said !== undefined) throw new GarbletError(`${said}: the job says it, or does not allow it`, "leave it out");
}

/** The members of a program. */
const PROGRAM = ["source", "library", "name", "constants", "panics", "effort", "function"];

/** A program as the worker takes it. */
function written(program) {
  const { source, library, name = "program", constants = {}, panics = true, effort, function: compiled = "main" } = members("program", program, PROGRAM);
  if (library === undefined) text("source", source);
  else text("library", library);
  if (effort !== undefined) typed("number", "effort", effort);
  return { source, library, name: text("name", name), constants: json(typed("object", "constants", constants), "constants"), panics: typed("boolean", "panics", panics), effort, compiled: text("function", compiled) };
}

/** The address of a peer, and the part of it that messages name: the rest may be a token, and messages are in receipts. */
function address(url) {
  const wrong = (what) => new GarbletError(`url: ${what}`, "give ws://HOST:PORT, or the wss:// address of a relay to the peer", { code: "url" });
  let read;
  try {
    read = new URL(url instanceof URL ? url : text("url", url).trim());
  } catch (error) {
    throw error instanceof GarbletError ? error : wrong("expected an address that begins with ws:// or wss://");
  }
  const { protocol, host, hash, href } = read;
  if (!["ws:", "wss:"].includes(protocol)) throw wrong(`expected an address that begins with ws:// or wss://, got one that begins with ${protocol}`);
  if (hash !== "") throw wrong("a WebSocket has no part behind a #");
  return { url: href, place: `${protocol}//${host}` };
}

/** An object of options. *Errors*: it has another member than these. */
function members(what, object, names) {
  const other = Object.keys(typed("object", what, object)).find((name) => !names.includes(name));
  if (other !== undefined) throw new GarbletError(`${what}: expected ${names.join(", ")}, got ${JSON.stringify(other)}`, "see garblet.d.ts");
  return object;
}

function optional(what, value) {
  return value === undefined ? undefined : text(what, value);
}

function text(what, value) {
  return typed("string", what, value);
}

/** A value, whose type is checked here by name. */
function typed(type, what, value) {
  if (typeof value === type && value !== null) return value;
  const got = value === null ? "null" : `a value of type ${typeof value}`;
  throw new GarbletError(`${what}: expected ${type === "object" ? "an" : "a"} ${type}, got ${got}`, "see garblet.d.ts");
}

/** JSON in which integers may be `bigint`, and arrays of numbers typed. An error names only the member: names within it may reveal its variant. Numbers that not every type has are noted in `odd`; without that, integers among them are refused. */
function json(value, member = "inputs", odd = undefined) {
  try {
    return JSON.stringify(value, function (name, part) {
      if (this === value) member = name;
      if (typeof part === "bigint" || typeof part === "number") return number(part, member, odd);
      if (typeof part === "string" && odd !== undefined && part.startsWith(MARK)) return `${MARK}${part}`;
      if (part instanceof DataView) throw new GarbletError(`${member}: expected numbers, got a DataView`, "give a typed array of its buffer, such as Uint8Array");
      return ArrayBuffer.isView(part) ? Array.from(part) : part;
    });
  } catch (error) {
    // For a circular object, only the name is reported.
    if (!(error instanceof TypeError)) throw error;
    throw new GarbletError(`${member}: expected plain values, got some that JSON does not have`, "see garblet.d.ts");
  }
}

/** Members of inputs that have numbers for some types only: integers that only a float has exactly, and all that are not exact integers. */
const oddities = () => ({ large: new Set(), fractional: new Set() });

/** The mark before a number that JSON has not, and before a text that begins with it. */
const MARK = "\u0001";

/** A number that the module reads as exactly this one: what JSON has not is a text, with a mark among inputs. With an exponent it is for floats only. */
function number(value, member, odd) {
  const marked = (text) => (odd === undefined ? text : `${MARK}${text}`);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : marked(String(value));
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) odd?.fractional.add(member);
  if (Number.isNaN(value)) return marked("NaN");
  if (!Number.isFinite(value)) return marked(value > 0 ? "inf" : "-inf");
  if (Object.is(value, -0)) return marked("-0");
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  if (odd === undefined) throw inexact(member);
  odd.large.add(member);
  return marked(value.toExponential().replace("e+", "e"));
}

const inexact = (member) => new GarbletError(`${member}: expected an exact number, got an integer of 2^53 or more`, "give a bigint, or a string of digits");

/** The value of a call, or its error, in which a large number that was meant for an integer is called one. */
function exactly({ large }, called) {
  return called.catch((error) => {
    const [, name, got] = /^input `([^`]+)`.*, got (.*)$/.exec(error?.code === "inputs" ? error.message : "") ?? [];
    throw large.has(name) && got === "a string" ? inexact(name) : error;
  });
}

/** Calls a worker. A worker that crashed or was aborted is not used again. */
async function call(name, asked, { onProgress, keep, signal } = {}) {
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new GarbletError("signal: expected an AbortSignal, got another value", "give the `signal` of an AbortController");
  signal?.throwIfAborted();
  const module = await loaded(signal);
  // Only now, and its handlers at once: a worker that cannot be started reports that only once.
  const worker = idle ?? new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "garblet" });
  idle = undefined;
  return new Promise((resolve, reject) => {
    const unstarted = "check that worker.js, garblet-talk.js and party.js are beside garblet.js";
    const late = setTimeout(() => fail(new GarbletError(`the worker has not started within ${LOADING_MS / 1000} s`, unstarted)), LOADING_MS);
    const end = (settle, value) => {
      clearTimeout(late);
      signal?.removeEventListener("abort", stop);
      worker.onmessage = worker.onerror = worker.onmessageerror = null;
      settle(value);
    };
    const fail = (error) => {
      worker.terminate();
      end(reject, error);
    };
    const stop = () => fail(signal.reason);
    signal?.addEventListener("abort", stop);
    worker.onmessage = ({ data }) => {
      if (data.started) {
        clearTimeout(late);
      } else if (data.progress !== undefined) {
        const [phase, done, total] = data.progress;
        try {
          onProgress?.({ phase, done, total });
        } catch (error) {
          fail(error);
        }
      } else if (data.keep !== undefined) {
        // Without this the worker sends nothing.
        Promise.resolve(data.keep).then(keep).then(() => worker.postMessage({ kept: true }), fail);
      } else if (data.bug !== undefined) {
        fail(new GarbletError(data.bug, "please report it", { code: "bug" }));
      } else {
        // One worker is kept; others are not needed.
        if (idle === undefined) idle = worker;
        else worker.terminate();
        if (data.error === undefined) end(resolve, data.value);
        else end(reject, failure(data.error));
      }
    };
    worker.onerror = (event) => {
      event.preventDefault();
      fail(new GarbletError(event.message ?? "the worker cannot be started", unstarted));
    };
    worker.onmessageerror = () => fail(new GarbletError("the worker's answer cannot be read", "please report it"));
    if (signal?.aborted) return stop();
    try {
      worker.postMessage({ name, asked, module });
    } catch (error) {
      fail(new GarbletError(error.message, "give texts, numbers, arrays and plain objects"));
    }
  });
}

/** The error of a call, as the worker tells it. */
function failure({ message, hint, code, recorded = "{}" }) {
  return new GarbletError(message, hint, { ...JSON.parse(recorded), code });
}

/** The module, unless the caller gives up before it is loaded. */
function loaded(signal) {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal?.addEventListener("abort", stop);
    load().then(resolve, reject).finally(() => signal?.removeEventListener("abort", stop));
  });
}
