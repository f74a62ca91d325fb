// A page as a party of two: it computes with a peer, such as `garblet run --listen ws://HOST:PORT`, in a worker. Beside it are `worker.js`, `party.js` and
// `party_bg.wasm`.

/** An error of this package. */
export class GarbletError extends Error {
  name = "GarbletError";

  constructor(message, hint, { receipt, receipts } = {}) {
    super(message);
    /** Advice for the user. */
    this.hint = hint;
    /** The receipt of a run that has ended without a result, if one was asked for, and the log with it. */
    this.receipt = receipt;
    this.receipts = receipts;
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
export function compile(source, { name, constants, panics, effort, function: compiled } = {}) {
  return describe({ source, name, constants, panics, effort, function: compiled });
}

/** Describes a program. */
export async function describe(program) {
  return JSON.parse(await call("describe", { program: written(program) }));
}

/** Creates an identity. */
export function generateIdentity() {
  return call("generate", {});
}

/** The fingerprint of an identity. */
export async function fingerprint(pem) {
  return await call("fingerprint", { pem: text("pem", pem) });
}

/** Computes with a peer. */
export async function run(options) {
  const { job, program, party, inputs = {}, identity, trust, url } = typed("object", "options", options);
  const { protocol = "yao", params = {}, session, timeoutMs = 60_000, receipts, onProgress, signal } = options;
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
  const subject = job === undefined ? { program: written(program) } : agreed(job, program);
  const asked = { ...subject, inputs: json(typed("object", "inputs", inputs)), identity: text("identity", identity), settings: json(settings), url: String(url), timeoutMs };
  return JSON.parse(await call("run", asked, { onProgress, signal }));
}

/** Reads a job, compiles its program, and says what a party is asked to agree to. */
export async function checkJob({ job, program, trust = {}, identity }) {
  return JSON.parse(await call("checkJob", { ...agreed(job, program), trust: json(trusted(trust)), identity: optional("identity", identity) }));
}

/** Signs a job for the party with an identity, once its program is the agreed one. */
export async function signJob({ job, program, trust = {}, identity }) {
  return JSON.parse(await call("signJob", { ...agreed(job, program), trust: json(trusted(trust)), identity: text("identity", identity) }));
}

/** Checks that all parties have signed a job, and returns its digest. */
export function verifyJob(job) {
  return call("verifyJob", agreed(job));
}

/** The receipts of a log, after checks of all its lines. */
export async function readReceipts(log, { holds = [] } = {}) {
  return JSON.parse(await call("readReceipts", { log: text("log", log), holds: json(holds) }));
}

/** Compares the logs of two parties, run by run. */
export async function compareReceipts(ours, theirs) {
  const { alike, only, differs } = JSON.parse(await call("compareReceipts", { ours: text("ours", ours), theirs: text("theirs", theirs) }));
  return { alike, onlyOurs: only[0], onlyTheirs: only[1], differs };
}

/** The keys of all that a browser keeps for the pages of one origin. */
const KEPT = { identity: "garblet-identity", receipts: "garblet-receipts" };

/** Keeps an identity or a log of receipts, and tells whether the browser does. */
export function keep(values) {
  try {
    for (const [name, value] of Object.entries(values)) localStorage.setItem(KEPT[name], text(name, value));
    return true;
  } catch (error) {
    if (error instanceof GarbletError) throw error;
    return false;
  }
}

/** Returns all that is kept. */
export function kept() {
  try {
    const found = Object.entries(KEPT).map(([name, key]) => [name, localStorage.getItem(key) ?? undefined]);
    return Object.fromEntries(found);
  } catch {
    return {};
  }
}

/** Forgets all that is kept. */
export function forget() {
  try {
    for (const key of Object.values(KEPT)) localStorage.removeItem(key);
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}

/** Computes as both parties, in this page, without a peer, for experiments. */
export async function runTogether({ program, inputs, protocol = "yao", params = {}, signal }) {
  const asked = { program: written(program), inputs: json(typed("object", "inputs", inputs)), protocol, params: json(texts(params)) };
  return JSON.parse(await call("runTogether", asked, { signal }));
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
  const { text: content, name = "job", signatures } = typeof job === "string" ? { text: job } : typed("object", "job", job);
  const { source, effort } = program === undefined ? {} : typed("object", "program", program);
  if (program !== undefined) {
    unsaid(program, ["library", "name", "constants", "panics", "function"]);
    if (!(source instanceof Uint8Array)) text("source", source);
  }
  if (effort !== undefined) typed("number", "effort", effort);
  const bytes = typeof source === "string" ? new TextEncoder().encode(source) : source;
  return { job: { name: text("name", name), text: text("job", content), signatures: optional("signatures", signatures), source: bytes, effort } };
}

/** Refuses options that a job says. */
function unsaid(options, names) {
  const said = names.find((name) => options[name] !== undefined);
  if (said !== undefined) throw new GarbletError(`${said}: the job says it, or does not allow it`, "leave it out");
}

/** A program as the worker takes it. */
function written(program) {
  const { source, library, name = "program", constants = {}, panics = true, effort, function: compiled = "main" } = typed("object", "program", program);
  if (library === undefined) text("source", source);
  else text("library", library);
  if (effort !== undefined) typed("number", "effort", effort);
  return { source, library, name: text("name", name), constants: json(constants, "constants"), panics, effort, compiled: text("function", compiled) };
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

/** JSON in which integers may be `bigint`, and arrays of numbers typed. An error names only the member: names within it may reveal its variant. */
function json(value, member = "inputs") {
  try {
    return JSON.stringify(value, function (name, part) {
      if (this === value) member = name;
      if (typeof part === "bigint") return String(part);
      if (Number.isInteger(part) && !Number.isSafeInteger(part)) {
        throw new GarbletError(`${member}: expected an exact number, got an integer of 2^53 or more`, "give a bigint, or a string of digits");
      }
      if (part instanceof DataView) throw new GarbletError(`${member}: expected numbers, got a DataView`, "give a typed array of its buffer, such as Uint8Array");
      return ArrayBuffer.isView(part) ? Array.from(part) : part;
    });
  } catch (error) {
    // For a circular object, only the name is reported.
    if (!(error instanceof TypeError)) throw error;
    throw new GarbletError(`${member}: expected plain values, got some that JSON does not have`, "see garblet.d.ts");
  }
}

/** Calls a worker. A worker that crashed or was aborted is not used again. */
async function call(name, asked, { onProgress, signal } = {}) {
  signal?.throwIfAborted();
  const module = await loaded(signal);
  // Only now, and its handlers at once: a worker that cannot be started reports that only once.
  const worker = idle ?? new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "garblet" });
  idle = undefined;
  return new Promise((resolve, reject) => {
    const unstarted = "check that worker.js and party.js are beside garblet.js";
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
      } else if (data.bug !== undefined) {
        fail(new GarbletError(data.bug, "please report it"));
      } else {
        // One worker is kept; others are not needed.
        if (idle === undefined) idle = worker;
        else worker.terminate();
        if (data.error === undefined) end(resolve, data.value);
        else end(reject, new GarbletError(data.error.message, data.error.hint, recorded(data.error)));
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

/** The receipt that an error of the worker has, as the page has it. */
function recorded({ receipt, receipts }) {
  return receipt === undefined ? undefined : { receipt: JSON.parse(receipt), receipts };
}

/** The module, unless the caller gives up before it is loaded. */
function loaded(signal) {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal?.addEventListener("abort", stop);
    load().then(resolve, reject).finally(() => signal?.removeEventListener("abort", stop));
  });
}
