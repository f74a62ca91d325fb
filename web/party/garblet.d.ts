// Types of `garblet.js`.

/** An error of this package. */
export class GarbletError extends Error {
  constructor(message: string, hint: string);
  /** Advice for a person. */
  hint: string;
}

/** A value of an input: numbers, or strings of them; `bigint`, also for integers of 2^53 or more; typed arrays; arrays; objects for records. The book's chapter on input files has all forms. */
export type Value = number | bigint | boolean | string | Numbers | Value[] | { [name: string]: Value };

/** Typed arrays. */
export type Numbers =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/** A value of an output: integers of up to 53 bits are numbers, wider ones decimal strings; byte strings are `{ hex }`. */
export type Output = number | boolean | string | Output[] | { [name: string]: Output };

/** A source of the function language, or a program of the library, `lib:NAME`. */
export type ProgramSource =
  | {
      source: string;
      name?: string;
      constants?: Record<string, number | bigint | boolean>;
      panics?: boolean;
      /** The most units of work that compiling may take, 200 million unless more are given. */
      effort?: number;
    }
  | { library: string };

export interface Port {
  name: string;
  /** The type, as the language writes it. */
  type: string;
  /** The number of bits. */
  width: number;
}

/** What a program says of itself. */
export interface Program {
  name: string;
  /** What both parties must have alike, in hexadecimal. */
  digest: string;
  inputs: (Port & { owner: number })[];
  /** `recipients` is null where all learn the output. */
  outputs: (Port & { recipients: number[] | null })[];
  andGates: number;
  andDepth: number;
}

export type Protocol = "yao" | "components" | "gmw";

export type Phase = "setup" | "prepare" | "build" | "online";

export interface PhaseCost {
  /** Waiting included. */
  seconds: number;
  /** Payload. */
  bytesSent: number;
  bytesReceived: number;
  rounds: number;
}

/** What a party learned, what it cost, and how secure it was. */
export interface Report {
  outputs: Record<string, Output>;
  party: 0 | 1;
  role: string;
  protocol: Protocol;
  adversary: string;
  costs: Record<Phase, PhaseCost>;
  security: Record<string, unknown>;
  /** The reason why the peer did not part in order, if it did not; the result is final all the same. */
  closing: string | null;
}

export interface RunOptions {
  program: ProgramSource;
  /** The party that the page is. The peer that listens has the lower number with `gmw`, which the page then is not: it is party 1. */
  party: 0 | 1;
  inputs?: Record<string, Value>;
  /** The page's identity, in PEM. Secret. */
  identity: string;
  /** Fingerprints of those whom the peer may be, by names for messages. */
  trust: Record<string, string>;
  /** The address of the peer, or of what passes bytes on to it: `ws://HOST:PORT` or `wss://HOST:PORT`. */
  url: string;
  /** `yao`, unless said otherwise. */
  protocol?: Protocol;
  /** Parameters of the protocol, as `--params` has them. */
  params?: Record<string, string | number>;
  /** The name of the session, as `--session` has it. */
  session?: string;
  /** The longest wait for the peer without a byte moving: a minute, unless said otherwise. */
  timeoutMs?: number;
  /** Hears how far it is, ten times a second at most: AND gates done, of all. */
  onProgress?: (progress: { phase: Phase; done: number; total: number }) => void;
  /** Gives up: the promise is rejected with the signal's reason, and the peer sees a connection that ends. */
  signal?: AbortSignal;
}

export interface TogetherOptions {
  program: ProgramSource;
  /** The inputs of both parties. */
  inputs: Record<string, Value>;
  protocol?: Protocol;
  params?: Record<string, string | number>;
  signal?: AbortSignal;
}

/** Loads the module, from where it lies or from the given URL, so that the first call begins at once. */
export function load(wasm?: string | URL): Promise<WebAssembly.Module>;

/** Compiles a source of the function language, and says what the program is. */
export function compile(
  source: string,
  options?: { name?: string; constants?: Record<string, number | bigint | boolean>; panics?: boolean; effort?: number },
): Promise<Program>;

/** Says what a program is. */
export function describe(program: ProgramSource): Promise<Program>;

/** A new identity. `pem` is secret, and is to be kept; the peer trusts the fingerprint. */
export function generateIdentity(): Promise<{ pem: string; fingerprint: string }>;

/** The fingerprint of an identity. */
export function fingerprint(pem: string): Promise<string>;

/** Computes with a peer. */
export function run(options: RunOptions): Promise<Report>;

/** Computes as both parties, in this page, without a peer: for trying things. It protects nothing. */
export function runTogether(options: TogetherOptions): Promise<[Report, Report]>;

/** Fails as a bug would, so that a page can try what it does then. */
export function panicForTest(): Promise<never>;
