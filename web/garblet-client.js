// The client of outsourced runs in a page: two WebSockets, a clock, storage and randomness around the module `garblet.js`, which does
// the rest. Beside it are `garblet-talk.js`, and `garblet.js` and `garblet_bg.wasm`, which `cargo xtask web` makes.

import init, { Invitation, Job, Receipt, Visit } from "./garblet.js";
import { hinted, talk } from "./garblet-talk.js";

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
      return opened(await talk(begun, options));
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
    return opened(await talk(visit, options));
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

/** What a page gets of an outcome of the module. */
function opened(outcome) {
  const { output, receipt, hasPanicked } = outcome;
  outcome.free();
  return { output, receipt, hasPanicked };
}
