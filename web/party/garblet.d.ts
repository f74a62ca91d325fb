// Types of `garblet.js`.

/** An error of this package. */
export class GarbletError extends Error {
  constructor(message: string, hint: string);
  /** Advice for the user. */
  hint: string;
}

/** An input value: a number, or a string of one; a `bigint`, required for integers of 2^53 or more; a typed array; an array; an object for a record. The book's chapter on input files lists all forms. */
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

/** An output value: integers of up to 53 bits are numbers, wider ones decimal strings; byte strings are `{ hex }`. */
export type Output = number | boolean | string | Output[] | { [name: string]: Output };

/** A source of the function language, or a library program, `lib:NAME`. */
export type ProgramSource =
  | {
      source: string;
      name?: string;
      constants?: Record<string, number | bigint | boolean>;
      panics?: boolean;
      /** The most units of work that compiling may take. Default: 200 million. */
      effort?: number;
      /** The public function to compile. Default: `main`. */
      function?: string;
    }
  | { library: string };

export interface Port {
  name: string;
  /** The type, as the language writes it. */
  type: string;
  /** The number of bits. */
  width: number;
}

/** A description of a program. */
export interface Program {
  name: string;
  /** The digest that both parties must have in common, in hexadecimal. */
  digest: string;
  inputs: (Port & { owner: number })[];
  /** `recipients` is null if all parties learn the output. */
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
  /** The parameters that the link decided, with their values. */
  decided: Record<string, string>;
  costs: Record<Phase, PhaseCost>;
  security: Record<string, unknown>;
  /** The reason why the peer did not close the session in order, if it did not; the result is final all the same. */
  closing: string | null;
}

export interface RunOptions {
  program: ProgramSource;
  /** The page's party number. With `gmw` the listening peer has the lower number, so the page is party 1. */
  party: 0 | 1;
  inputs?: Record<string, Value>;
  /** The page's identity, in PEM. Secret. */
  identity: string;
  /** Fingerprints of the acceptable peers, by name; messages use the names. */
  trust: Record<string, string>;
  /** The address of the peer, or of a relay to it: `ws://HOST:PORT` or `wss://HOST:PORT`. */
  url: string;
  /** Default: `yao`. */
  protocol?: Protocol;
  /** Parameters of the protocol, as for `--params`. */
  params?: Record<string, string | number>;
  /** The name of the session, as for `--session`. */
  session?: string;
  /** The longest time without traffic from or to the peer. Default: one minute. */
  timeoutMs?: number;
  /** Called with the progress, at most ten times a second: AND gates done, and in total. */
  onProgress?: (progress: { phase: Phase; done: number; total: number }) => void;
  /** Aborts the run: the promise rejects with the signal's reason, and the peer sees the connection end. */
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

/** Loads the module, from its usual place or from the given URL, so that the first call starts at once. */
export function load(wasm?: string | URL): Promise<WebAssembly.Module>;

/** Compiles a source of the function language, and describes the program. */
export function compile(
  source: string,
  options?: { name?: string; constants?: Record<string, number | bigint | boolean>; panics?: boolean; effort?: number; function?: string },
): Promise<Program>;

/** Describes a program. */
export function describe(program: ProgramSource): Promise<Program>;

/** Creates an identity. Keep `pem`, and keep it secret; give the peer the fingerprint to trust. */
export function generateIdentity(): Promise<{ pem: string; fingerprint: string }>;

/** The fingerprint of an identity. */
export function fingerprint(pem: string): Promise<string>;

/** Computes with a peer. */
export function run(options: RunOptions): Promise<Report>;

/** Computes as both parties, in this page, without a peer, for experiments. It protects nothing. */
export function runTogether(options: TogetherOptions): Promise<[Report, Report]>;

/** Fails as a bug would, so that a page can test how it reacts. */
export function panicForTest(): Promise<never>;
