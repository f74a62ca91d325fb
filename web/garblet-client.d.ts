// Types of `garblet-client.js`.

import type { InitInput } from "./garblet.js";
import { Invitation, Job, Receipt, Visit } from "./garblet.js";

export { Invitation, Job, Receipt, Visit };

/** An error of this package. */
export interface GarbletError extends Error {
  /** Advice for a person. */
  hint: string;
  /** The version that the job's state has now, if both servers refuse for that reason and say the same. */
  stateVersion?: bigint;
  /** True if both servers prove that the input has had no effect. After any other error what was kept is still needed, for `resume`. */
  isNeverRun?: boolean;
}

/** A server, and what it gave the client. */
export interface Server {
  /** The address, `wss://HOST:PORT/`. */
  url: string;
  invitation: Invitation;
}

/** What is to be stored before anything is sent. `saved` is secret: who has it and both answers reads the output. */
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
  /** The longest wait for a sign of life of a server: a minute, unless said otherwise. */
  timeoutMs?: number;
  /** The longest wait for the other server when one has no answer: five seconds, unless said otherwise. */
  graceMs?: number;
  /** The longest wait for a server that only says that it is there: 15 minutes, unless said otherwise. */
  limitMs?: number;
  /** Gives up. */
  signal?: AbortSignal;
  /** The class of WebSockets, where it is not global. */
  WebSocket?: typeof globalThis.WebSocket;
}

export interface ResumeOptions extends Connection {
  /** The current receipt, not the one that was stored with the visit: later visits may have ended before. */
  receipt: Receipt;
}

export interface VisitOptions extends Connection {
  job: Job;
  /** The receipt of the last visit, or `Receipt.first(state)`. */
  receipt: Receipt;
  /** A 0 or 1 for each bit of all inputs of the client, in the program's order. */
  inputs: Uint8Array;
  /** Stores what it is given. Nothing is sent before it is done. */
  keep(kept: Kept): Promise<void> | void;
  /** How often the input is dealt if the state moves on meanwhile: three times, unless said otherwise. */
  attempts?: number;
}

export interface Outcome {
  /** A 0 or 1 for each bit of all outputs of the client, in the program's order. */
  output: Uint8Array;
  /** To be kept for the next visit. */
  receipt: Receipt;
  /** Whether a run that was to keep a state has panicked: it has no result, and the state stays as it was. */
  hasPanicked: boolean;
}

/** Loads the module, from where it lies or from the given bytes or response. Once is enough. */
export function load(wasm?: InitInput | Promise<InitInput>): Promise<void>;

/** Deals an input to both servers, and returns what they computed. Rejects with a `GarbletError`. */
export function visit(options: VisitOptions): Promise<Outcome>;

/** Goes on with a visit that was stored. Rejects with a `GarbletError`. */
export function resume(kept: Kept, options: ResumeOptions): Promise<Outcome>;

/** The bits of a number, the least first. */
export function bitsOf(value: bigint | number, width: number): Uint8Array;

/** The number without a sign that bits stand for. */
export function numberOf(bits: Uint8Array): bigint;

/** Bits one after another. */
export function joinBits(...parts: Uint8Array[]): Uint8Array;

/** Bytes as text. */
export function toBase64(bytes: Uint8Array): string;

/** Bytes of text that `toBase64` made. */
export function fromBase64(text: string): Uint8Array;
