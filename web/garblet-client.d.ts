// Types of `garblet-client.js`.

import type { InitInput } from "./garblet.js";
import { Invitation, Job, Receipt, Visit } from "./garblet.js";

export { Invitation, Job, Receipt, Visit };

/** An error of this package. */
export interface GarbletError extends Error {
  /** Advice for the user. */
  hint: string;
  /** The current version of the job's state, if both servers refuse for that reason and agree on it. */
  stateVersion?: bigint;
  /** True if both servers prove that the input has had no effect. After any other error, keep what `keep` stored, for `resume`. */
  isNeverRun?: boolean;
  /** What each server said, if not both answered. Decide by it, not by the message. */
  replies?: { generator: Reply; cloud: Reply };
}

/** The reply of a server to a visit without an output. */
export interface Reply {
  code: ReplyCode;
  /** True if the server proves that it said so. Anybody in between can have sent any other reply, or have kept one back. */
  isProven: boolean;
}

/** What a server said: that it has an answer, nothing, something that is no reply to this visit, or the reason why it refuses. */
export type ReplyCode =
  | "answer"
  | "silent"
  | "invalid"
  | "unreadable"
  | "other-job"
  | "old-counter"
  | "policy"
  | "wrong-hash"
  | "wrong-challenge"
  | "state-version"
  | "state-busy"
  | "state-closed"
  | "interrupted"
  | "stopped"
  | "used"
  | "unended";

/** A server, and its invitation to the client. */
export interface Server {
  /** The address, `wss://HOST:PORT/`. Messages name only this part of it: the rest may be a token. */
  url: string;
  invitation: Invitation;
}

/** Store this before anything is sent. `saved` is secret: together with both answers it reveals the output. */
export interface Kept {
  /** `Receipt.encode()`, with the counter that is now used. */
  receipt: Uint8Array;
  saved: Uint8Array;
  toGenerator: Uint8Array;
  toCloud: Uint8Array;
}

export interface Connection {
  generator: Server;
  cloud: Server;
  /** The longest wait for any sign of life from a server. Default: one minute. */
  timeoutMs?: number;
  /** The longest wait for the other server when one has no answer. Default: five seconds. */
  graceMs?: number;
  /** The longest wait for a server that only reports that it is alive. Default: 15 minutes. */
  limitMs?: number;
  /** Aborts the visit. */
  signal?: AbortSignal;
  /** The WebSocket class, if it is not global. */
  WebSocket?: typeof globalThis.WebSocket;
}

export interface ResumeOptions extends Connection {
  /** The current receipt, not the one that was stored with the visit: later visits may have ended earlier. */
  receipt: Receipt;
}

export interface VisitOptions extends Connection {
  job: Job;
  /** The receipt of the last visit, or `Receipt.first(state)`. */
  receipt: Receipt;
  /** A 0 or 1 for each bit of all inputs of the client, in the program's order. */
  inputs: Uint8Array;
  /** Stores its argument. Nothing is sent before it has finished. */
  keep(kept: Kept): Promise<void> | void;
  /** The number of times to deal the input if the state moves on meanwhile. Default: three. */
  attempts?: number;
}

export interface Outcome {
  /** A 0 or 1 for each bit of all outputs of the client, in the program's order. */
  output: Uint8Array;
  /** Keep it for the next visit. */
  receipt: Receipt;
  /** True if a run that was to keep a state panicked: it has no result, and the state is unchanged. */
  hasPanicked: boolean;
}

/** Loads the module, from its usual place or from the given bytes or response. Call it once. */
export function load(wasm?: InitInput | Promise<InitInput>): Promise<void>;

/** Deals an input to both servers, and returns what they computed. Rejects with a `GarbletError`. */
export function visit(options: VisitOptions): Promise<Outcome>;

/** Resumes a stored visit. Rejects with a `GarbletError`. */
export function resume(kept: Kept, options: ResumeOptions): Promise<Outcome>;

/** The bits of an integer from `-2 ** (width - 1)` to `2 ** width - 1`, least significant first. Throws a `GarbletError` for any other value, and for numbers of 2^53 or more, which JavaScript may have rounded: give these as a `bigint`. */
export function bitsOf(value: bigint | number, width: number): Uint8Array;

/** The unsigned number that bits represent. */
export function numberOf(bits: Uint8Array): bigint;

/** Concatenates bits. Throws a `GarbletError` if one is neither 0 nor 1. */
export function joinBits(...parts: Uint8Array[]): Uint8Array;

/** Encodes bytes as base64 text. */
export function toBase64(bytes: Uint8Array): string;

/** Decodes text that `toBase64` returned. */
export function fromBase64(text: string): Uint8Array;
