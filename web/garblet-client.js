// The client of outsourced runs in a page: two WebSockets, a clock, storage and randomness around the module `garblet.js`, which does
// the rest. Beside it are `garblet.js` and `garblet_bg.wasm`, which `cargo xtask web` makes.

import init, { Invitation, Job, Receipt, Visit } from "./garblet.js";

export { Invitation, Job, Receipt, Visit };

/** Loads the module, from its usual place or from the given bytes or response. Call it once. */
export async function load(wasm) {
  await init(wasm === undefined ? undefined : { module_or_path: wasm });
}

/**
 * Deals an input to both servers, and returns the output and the receipt for the next visit. A run that was to keep a state and `hasPanicked` has no
 * result, and the state is unchanged.
 *
 * Before anything is sent, `keep` is called and awaited with everything to store: the receipt, and what `resume` needs if the page
 * is closed. If both servers report the same other version of the job's state, the input is dealt again for that version. After any
 * other error the visit may have run, or may still run: resume it, unless the error has `isNeverRun`.
 */
export async function visit(options) {
  const { generator, cloud, inputs, keep, attempts = 3 } = options;
  let { job, receipt } = options;
  for (let left = attempts; ; left -= 1) {
    const seed = crypto.getRandomValues(new Uint8Array(32));
    const begun = Visit.begin(job, generator.invitation, cloud.invitation, receipt, inputs, seed);
    seed.fill(0);
    try {
      receipt = begun.receipt;
      await keep({
        receipt: receipt.encode(),
        saved: begun.save(),
        toGenerator: begun.toGenerator,
        toCloud: begun.toCloud,
      });
      return await talk(begun, options);
    } catch (error) {
      let next;
      try {
        next = left > 1 ? atVersion(job, receipt, error.stateVersion) : undefined;
      } catch {
        // A version that no job can have; the servers' replies say more.
      }
      if (next === undefined) throw error;
      job = next;
    } finally {
      begun.free();
    }
  }
}

/**
 * Resumes a visit that `keep` has stored: sends the same frames again, and opens the answers. `receipt` is the current one, which
 * covers any later visits: the returned receipt is never older.
 */
export async function resume(kept, options) {
  const { generator, cloud, receipt } = options;
  const { saved, toGenerator, toCloud } = kept;
  const visit = Visit.resume(saved, receipt, toGenerator, toCloud, generator.invitation, cloud.invitation);
  try {
    return await talk(visit, options);
  } finally {
    visit.free();
  }
}

/** The bits of a number, least significant first, as for inputs. *Errors*: it is not exactly an integer, or has no room in that many bits. */
export function bitsOf(value, width) {
  if (!Number.isSafeInteger(width) || width < 1) throw hinted("width: expected a number of bits from 1 on, got another value", "give the width of the input's type");
  const number = BigInt.asUintN(width, whole(value, width));
  return Uint8Array.from({ length: width }, (_, at) => Number((number >> BigInt(at)) & 1n));
}

/** A number as an integer of that many bits, signed or unsigned. */
function whole(value, width) {
  if (typeof value !== "bigint" && typeof value !== "number") throw hinted(`value: expected a number or a bigint, got a value of type ${typeof value}`, "give one of these");
  if (typeof value === "number" && !Number.isInteger(value)) throw hinted("value: expected an integer, got a number that is none", "round or scale it as the program expects");
  if (typeof value === "number" && !Number.isSafeInteger(value)) throw hinted("value: expected an exact integer, got a number of 2^53 or more", "give a bigint");
  const number = BigInt(value);
  const fits = number >= -(1n << BigInt(width - 1)) && number < 1n << BigInt(width);
  if (!fits) throw hinted(`value: expected an integer from -2^${width - 1} to 2^${width} - 1, got one out of range`, "give the width of the input's type, or another value");
  return number;
}

/** The unsigned number that bits represent, least significant first. */
export function numberOf(bits) {
  return bits.reduceRight((number, bit) => number * 2n + BigInt(bit), 0n);
}

/** Concatenates bits, for a client with several inputs. *Errors*: one of them is neither 0 nor 1. */
export function joinBits(...parts) {
  const bits = parts.flatMap((part) => [...part]);
  const wrong = bits.findIndex((bit) => bit !== 0 && bit !== 1);
  if (wrong >= 0) throw hinted(`bit ${wrong}: expected 0 or 1, got another value`, "make the bits of a number with `bitsOf`");
  return Uint8Array.from(bits);
}

/** Encodes bytes as base64 text, for storage that has no bytes. */
export function toBase64(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Decodes text that `toBase64` returned. */
export function fromBase64(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** The job at the version that the servers report, unless it has that already, or the version is older than the client has seen. */
function atVersion(job, receipt, version) {
  const state = job.state;
  if (version === undefined || state === undefined || version < receipt.version) return undefined;
  const next = job.atVersion(state.name, version);
  return toBase64(next.digest) === toBase64(job.digest) ? undefined : next;
}

/** An error with advice for the user. */
function hinted(message, hint) {
  return Object.assign(new Error(message), { hint });
}

/** Works later. A timer with more milliseconds than this ends at once; these are 24 days. */
function later(work, ms) {
  return setTimeout(work, Math.min(ms, 2 ** 31 - 1));
}

/** The part of an address that messages name: the rest may be a token. */
function placeOf(url) {
  try {
    const { protocol, host } = new URL(url, globalThis.location?.href);
    return `${protocol}//${host}`;
  } catch {
    return "an address that cannot be read";
  }
}

/** A WebSocket that is not open yet. *Errors*: the browser does not call this address. */
function called(WebSocket, url, name) {
  try {
    return new WebSocket(url);
  } catch (error) {
    throw hinted(`${name}: the browser does not call this address: ${error.name}`, "give wss://HOST:PORT/, or ws:// from a page that was not loaded over https://");
  }
}

/** Sends both frames, waits for both servers, and opens the output. */
async function talk(visit, options) {
  const { timeoutMs = 60_000, graceMs = 5_000, limitMs = 15 * 60_000 } = options;
  const hopeless = new AbortController();
  let grace;
  const ends = [
    ["generator", options.generator.url, visit.toGenerator],
    ["cloud", options.cloud.url, visit.toCloud],
  ];
  const hearings = ends.map(async ([server, url, frame]) => {
    let heard;
    try {
      heard = await converse(visit, server, url, frame, { ...options, timeoutMs, limitMs, hopeless: hopeless.signal });
    } finally {
      // Without this answer there is no output: the other server may still say why, but we do not wait for it long.
      if (heard !== "answer") grace ??= later(() => hopeless.abort(), graceMs);
    }
  });
  const failures = (await Promise.allSettled(hearings)).filter((hearing) => hearing.status === "rejected");
  clearTimeout(grace);
  if (options.signal?.aborted) throw options.signal.reason;
  try {
    const outcome = visit.open();
    const { output, receipt, hasPanicked } = outcome;
    outcome.free();
    return { output, receipt, hasPanicked };
  } catch (error) {
    // The error has the replies of both servers; its cause is what went wrong on the connections.
    if (failures.length > 0) error.cause = failures[0].reason;
    throw error;
  }
}

/** One server: sends its frame, and waits for its reply. A sign of life restarts the time-out, but not the overall limit. */
function converse(visit, server, url, frame, { timeoutMs, limitMs, signal, hopeless, WebSocket = globalThis.WebSocket }) {
  return new Promise((resolve, reject) => {
    const name = `${server}, ${placeOf(url)}`;
    const socket = called(WebSocket, url, name);
    socket.binaryType = "arraybuffer";
    let timer;
    let limit;
    const end = (settle, value) => {
      clearTimeout(timer);
      clearTimeout(limit);
      for (const each of [signal, hopeless]) each?.removeEventListener("abort", stop);
      socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
      socket.close();
      settle(value);
    };
    const fail = (what, hint) => end(reject, hinted(`${name}: ${what}`, hint));
    const stop = () => fail("given up", "the other server has no answer, or the page has given up");
    const wait = () => {
      clearTimeout(timer);
      const what = `nothing was heard for ${timeoutMs / 1000} s`;
      timer = later(() => fail(what, "try again with what was kept; the server may be busy or gone"), timeoutMs);
    };
    for (const each of [signal, hopeless]) {
      if (each?.aborted) return stop();
      each?.addEventListener("abort", stop);
    }
    const late = `it had no answer within ${limitMs / 1000} s`;
    limit = later(() => fail(late, "try again later with what was kept"), limitMs);
    wait();
    socket.onopen = () => {
      socket.send(frame);
      wait();
    };
    socket.onmessage = ({ data }) => {
      try {
        if (!(data instanceof ArrayBuffer)) return fail("it sent text", "compare the versions of Garblet");
        if (data.byteLength > visit.frameBytesMax) return fail("it sent too much", "compare the versions of Garblet");
        const heard = visit.hear(server, new Uint8Array(data));
        if (heard === "waiting") wait();
        else end(resolve, heard);
      } catch (error) {
        end(reject, error);
      }
    };
    socket.onerror = () => fail("the connection failed", "compare address and certificate, and try again with what was kept");
    socket.onclose = ({ code }) => fail(`it closed the connection (${code})`, "try again with what was kept");
  });
}
