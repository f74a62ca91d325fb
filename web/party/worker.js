// The worker of `garblet.js`: one call at a time, the WebSocket of a run or those of a visit, and the module `party.js` that does the rest.

import { talk } from "./garblet-talk.js";
import init, { Identity, Job, Program, Run, Visitor, Wire, compareReceipts, panicForTest, readReceipts, runTogether } from "./party.js";

/** Bytes that may wait in the WebSocket before the party waits too. */
const WAITING_BYTES_MAX = 4 << 20;
/** Milliseconds between two checks whether they have left. */
const LOOK_MS = 4;

let loaded;

const calls = {
  describe: ({ program }) => using(build(program), (built) => built.describe()),
  generate: () => using(Identity.generate(), (identity) => ({ pem: identity.toPem(), fingerprint: identity.fingerprint })),
  fingerprint: ({ pem }) => using(Identity.fromPem(pem), (identity) => identity.fingerprint),
  run: converse,
  checkJob: ({ job, trust, identity }) =>
    using(read(job), (agreed) => using(agreed.program(job.source), (built) => agreed.check(built, trust, identity === undefined ? undefined : Identity.fromPem(identity)))),
  signJob: ({ job, trust, identity }) =>
    using(read(job), (agreed) => using(agreed.program(job.source), (built) => using(Identity.fromPem(identity), (own) => agreed.sign(built, trust, own)))),
  verifyJob: ({ job }) => using(read(job), (agreed) => agreed.verify()),
  checkAgreement: ({ visitor: { said, files } }) => using(Visitor.read(said, files), (client) => client.describe()),
  visit: ({ visitor: { said, files }, ...asked }) => using(Visitor.read(said, files), (client) => visited(client, asked)),
  readReceipts: ({ log, holds }) => readReceipts(log, holds),
  compareReceipts: ({ ours, theirs }) => compareReceipts(ours, theirs),
  runTogether: ({ program, inputs, fractional, protocol, params }) =>
    using(build(program), (built) => runTogether(whole(built, fractional), inputs, protocol, params)),
  panicForTest,
};

/** Goes on with a visit, once the page has kept what it needs. */
let goOn;

self.onmessage = async ({ data: { name, asked, module, kept } }) => {
  if (kept) return goOn();
  self.postMessage({ started: true });
  try {
    loaded ??= init({ module_or_path: module });
    await loaded;
    const value = await calls[name](asked);
    self.postMessage({ value });
  } catch (error) {
    if (isBug(error)) bug(error);
    else self.postMessage({ error: { message: error.message, hint: error.hint, code: error.code, recorded: error.recorded } });
  }
};

// A panic while only the event loop called the module.
self.addEventListener("error", (event) => {
  event.preventDefault();
  bug(event.error ?? event);
});
self.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  bug(event.reason);
});

/** An error that the module did not throw itself has ended it: a bug, too deep a recursion, no memory. */
function isBug(error) {
  return error?.hint === undefined || error.code === "bug";
}

function bug(error) {
  self.postMessage({ bug: String(error?.message ?? error) });
}

/** Uses an object of the module, and frees it. */
async function using(object, use) {
  try {
    return await use(object);
  } finally {
    object.free();
  }
}

function build({ source, library, name, constants, panics, effort, compiled }) {
  return library === undefined ? Program.compile(name, source, constants, panics, effort, compiled) : Program.library(library);
}

/** A program, unless it has an input of `bits64` among these, which have other numbers than exact integers. Input files have `1` for an integer there and `1.0` for the bits of a double, but to JavaScript both are one number. */
function whole(built, fractional) {
  const inputs = fractional.length === 0 ? [] : JSON.parse(built.describe()).inputs;
  const wrong = inputs.find(({ name, type }) => fractional.includes(name) && /\bbits64\b/.test(type));
  if (wrong === undefined) return built;
  const hint = "give larger integers as `bigint`s, and the bits of doubles as `new BigUint64Array(new Float64Array(numbers).buffer)`";
  throw Object.assign(new Error(`input \`${wrong.name}\`: expected integers below 2^53 for ${wrong.type}, got another number`), { hint, code: "inputs" });
}

/** A job, as it is given to the module. */
function read({ name, text, signatures, effort }) {
  return Job.read(name, text, signatures, effort);
}

/** Visits both servers, with inputs or to resume the last visit. Shares the inputs again if other clients were faster. Before anything is sent, the page keeps
 * what a resumed visit needs. */
async function visited(client, { inputs, fractional, ends }) {
  if (inputs === undefined) client.resume();
  else whole(client, fractional).give(inputs);
  for (;;) {
    if (inputs !== undefined) {
      client.ask();
      const kept = new Promise((resolve) => (goOn = resolve));
      self.postMessage({ keep: client.memory });
      await kept;
    }
    try {
      return await talk(client, ends);
    } catch (error) {
      if (error.isMoved) continue;
      if (error.cause !== undefined) error.message += `; ${error.cause.message}`;
      throw error;
    }
  }
}

/** Computes with the peer at `url`, which messages call `place`. Reports every mistake in the options before it connects. */
async function converse({ program, job, inputs, fractional, identity, settings, url, place, timeoutMs }) {
  const agreed = job && read(job);
  const begin = (built) => Run.begin(whole(built, fractional), agreed, inputs, Identity.fromPem(identity), settings);
  const begun = await using(job ? agreed.program(job.source) : build(program), begin);
  const { wire, socket } = await opened(request(url, place, begun), place, timeoutMs, begun).catch((error) => {
    throw isBug(error) ? error : begun.unmet(error.message, error.hint);
  });
  try {
    return await begun.meet(wire, (...progress) => self.postMessage({ progress }));
  } finally {
    socket.onmessage = socket.onclose = null;
    socket.close();
    wire.free();
  }
}

/** The WebSocket of a run, which is not open yet. *Errors*: the browser does not call this address, which is no run without a result. */
function request(url, place, begun) {
  try {
    return new WebSocket(url);
  } catch (error) {
    begun.free();
    throw Object.assign(new Error(`${place}: the browser does not call this address: ${error.name}`), { hint: "give wss://HOST:PORT, or ws:// to this machine" });
  }
}

/** A WebSocket once it is open, and the party's end of it. */
function opened(socket, place, timeoutMs, { waitingMax, messageMax }) {
  return new Promise((resolve, reject) => {
    const refuse = (what, hint) => reject(Object.assign(new Error(`${place}: ${what}`), { hint }));
    socket.binaryType = "arraybuffer";
    const timer = setTimeout(() => {
      socket.onclose = null;
      socket.close();
      refuse(`no connection within ${timeoutMs / 1000} s`, "check that the peer is started and listens there");
    }, Math.min(timeoutMs, 2 ** 31 - 1));
    socket.onopen = () => {
      clearTimeout(timer);
      const wire = new Wire((bytes) => {
        socket.send(bytes);
        const room = () => socket.bufferedAmount < WAITING_BYTES_MAX;
        if (room()) return true;
        const look = setInterval(() => {
          if (!room() && socket.readyState === WebSocket.OPEN) return;
          clearInterval(look);
          if (socket.onmessage !== null) wire.drained();
        }, LOOK_MS);
        return false;
      }, waitingMax);
      socket.onmessage = ({ data }) => {
        const bytes = typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data);
        const fits = bytes.length <= messageMax;
        if (fits && wire.heard(bytes)) return;
        const what = fits
          ? "the peer sends more than this run needs"
          : `a WebSocket message too large: expected at most ${messageMax} bytes, got ${bytes.length}`;
        wire.fail(`${place}: ${what}`, "check that a party of Garblet listens there, and what is in between");
        socket.close();
      };
      socket.onclose = () => wire.ended();
      resolve({ wire, socket });
    };
    socket.onclose = () => {
      clearTimeout(timer);
      const hint = "check that the peer is started and listens there with ws://; a page from https:// needs wss://";
      refuse("no WebSocket could be opened", hint);
    };
  });
}
