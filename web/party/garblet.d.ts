// Types of `garblet.js`.

/** The kind of an error, for programs that decide by it. Do not decide by the message: a peer, or whoever named a file, can have chosen words in it. */
export type ErrorCode =
  /** A bug in Garblet. */
  | "bug"
  /** Something that was given is wrong: an identity, the address of a peer or a server, fingerprints, inputs, a job, its program, its signatures, a log of receipts, an agreement or its programs, an invitation, what visits kept. A text that a later version wrote is not wrong, and has no code. */
  | "identity"
  | "url"
  | "trust"
  | "inputs"
  | "job"
  | "program"
  | "signatures"
  | "receipts"
  | "agreement"
  | "invitation"
  | "memory"
  /** The peer has another job, or another program, other settings or another version. */
  | "other-job"
  | "other-run"
  /** The peer is silent or too slow. */
  | "silent"
  /** The peer is not trusted. */
  | "stranger"
  /** The peer does not trust us. */
  | "untrusted";

/** An error of this package. */
export class GarbletError extends Error {
  constructor(
    message: string,
    hint: string,
    more?: { code?: ErrorCode; receipt?: Receipt; receipts?: string; notes?: string[]; memory?: string; replies?: { generator: Reply; cloud: Reply }; isNeverRun?: boolean },
  );
  /** Advice for the user. */
  hint: string;
  /** The kind of error, if it has one. */
  code?: ErrorCode;
  /** The receipt of a run that ended without a result, if it was under a job or with `receipts`. */
  receipt?: Receipt;
  /** The log with that receipt, to be kept. */
  receipts?: string;
  /** Remarks on that log, for instance that its last receipt was incomplete and is left out. */
  notes?: string[];
  /** What to keep from now on, after a visit without an output: in place of what `keep` stored. */
  memory?: string;
  /** What each server of a visit said, if not both answered. Decide by it, not by the message. */
  replies?: { generator: Reply; cloud: Reply };
  /**
   * True if both servers of a visit prove that the inputs have had no effect. If it is false, call `resumeVisit` until it has an answer. It is undefined, as is
   * `replies`, if nothing was sent or an answer has come: a panic is an answer.
   */
  isNeverRun?: boolean;
}

/** The reply of a server to a visit without an output. */
export interface Reply {
  /** What it said: `answer`, `silent`, `invalid`, or the reason why it refuses, such as `policy` or `state-closed`. */
  code: string;
  /** True if the server proves that it said so. Anybody in between can have sent any other reply, or have kept one back. */
  isProven: boolean;
}

/** An input value: a number, or a string of one; a `bigint`, required for integers of 2^53 or more (floats may be as large, and `-0`, `NaN` or infinite; `bits64` has only exact integers: give the bits of doubles as `new BigUint64Array(new Float64Array(numbers).buffer)`); a typed array; an array; an object for a record. The book's chapter on input files lists all forms. */
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

/** The outcome of a run: all that a party learned, its cost, and its security. */
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
  /** The receipt of the run, if it was under a job or with `receipts`. */
  receipt?: Receipt;
  /** The log with that receipt, to be kept. */
  receipts?: string;
  /** Remarks on that log, for instance that its last receipt was incomplete and is left out. */
  notes?: string[];
}

/** A job's file: its text, or more than that. */
export type Job =
  | string
  | {
      text: string;
      /** The file's name, for messages. Default: `job`. */
      name?: string;
      /** The text of the file of signatures beside it. */
      signatures?: string;
    };

/** The content of the program that a job names, of any kind that the command reads; none for a program of the library. */
export interface JobProgram {
  source: string | Uint8Array;
  /** The most units of work that compiling may take. Default: 200 million. */
  effort?: number;
}

/** A party of a job. */
export interface JobParty {
  name: string;
  /** `null` in a job for plain TCP. */
  fingerprint: string | null;
  signed: boolean;
  /** The fault of the party's signature, or `null`. */
  wrong: string | null;
}

/** A description of a job. */
export interface JobReport {
  name: string;
  /** The digest of all fields, which parties compare, sign and list. */
  digest: string;
  protocol: string;
  /** The adversary against which the protocol protects. */
  adversary: string;
  /** All that the digest covers, by name: `batch`, for instance, is the most rows of a run. */
  fields: Record<string, string>;
  parties: JobParty[];
  /** The number of the party with the given identity; `null` if it is not in the job, or none was given. */
  party: number | null;
  program: Program;
  /** Names that may look like others, and inputs that reach an output unchanged. */
  notes: string[];
}

export interface JobOptions {
  job: Job;
  program?: JobProgram;
  /** Fingerprints of known peers, by name: a job that has one of these names for another peer is refused. */
  trust?: Record<string, string>;
  /** Aborts the call: the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** The record of a run, with the names of the command's log `receipts.jsonl`. It has no input and no output. */
export interface Receipt {
  /** The place in the log, from 1. */
  number: number;
  /** The digest over this receipt and all before it. */
  digest: string;
  /** The digest of the one before it. */
  previous: string;
  format: number;
  /** The time at which the run ended: RFC 3339, UTC. */
  time: string;
  party: number;
  parties: number;
  identity: string | null;
  peers: { party: number; name: string | null; fingerprint: string | null }[];
  /** The digest of the job, if there was one. */
  job: string | null;
  /** The digest of the program. */
  program: string;
  version: string;
  wire_version: number;
  protocol: string;
  adversary: string;
  parameters: Record<string, unknown>;
  security: Record<string, unknown> | null;
  bytes_sent: number;
  bytes_received: number;
  ended: { ok: { closing: string | null } } | { failed: { class: string; message: string } };
  /** The digests of all that was sent to and received from the peer. */
  transcripts: { party: number; sent: string; received: string }[];
}

/** The runs of two logs. Runs that met no peer are left out. */
export interface Comparison {
  /** Ours and theirs of the same run: each party received what the other sent. */
  alike: [Receipt, Receipt][];
  /** Receipts that the other log lacks, or has with other contents. */
  onlyOurs: Receipt[];
  onlyTheirs: Receipt[];
  /** Set if a run with a result that was closed in order is among these. */
  differs: boolean;
  /** Remarks on the logs, for instance that a last receipt is incomplete. */
  notes: string[];
}

/** A run under a job. Everything that was agreed is in the job. */
export interface JobRunOptions extends JobOptions, Connection {
  /** For a job without identities: the page's party number. */
  party?: 0 | 1;
  protocol?: undefined;
  params?: undefined;
}

/** A run of which the options say everything. */
export interface RunOptions extends Connection {
  job?: undefined;
  program: ProgramSource;
  /** The page's party number. With `gmw` the page is party 1, since party 0 waits for the other. */
  party: 0 | 1;
  /** Fingerprints of the acceptable peers, by name; messages use the names. */
  trust: Record<string, string>;
  /** Default: `yao`. */
  protocol?: Protocol;
  /** Parameters of the protocol, as for `--params`. */
  params?: Record<string, string | number>;
}

/** The options of all runs. */
export interface Connection {
  inputs?: Record<string, Value>;
  /** The page's identity, in PEM. Secret. */
  identity: string;
  /** The address of the peer, or of a relay to it: `ws://HOST:PORT` or `wss://HOST:PORT`. Messages and receipts name only this part of it; the rest may be a token for the relay. */
  url: string | URL;
  /** The log of earlier receipts, as it was last returned, or an empty text: the run's receipt is added. Default: an empty one under a job, otherwise none. */
  receipts?: string;
  /** The name of the session, as for `--session`. */
  session?: string;
  /** The longest time without traffic from or to the peer. Default: one minute. */
  timeoutMs?: number;
  /** Called with the progress, at most ten times a second: AND gates done, and in total. */
  onProgress?: (progress: { phase: Phase; done: number; total: number }) => void;
  /** Aborts the run: the promise rejects with the signal's reason, and the peer sees the connection end. */
  signal?: AbortSignal;
}

/** The file of an agreement of two servers: its text, or more than that. */
export type Agreement =
  | string
  | {
      text: string;
      /** The file's name, for messages. Default: `agreement`. */
      name?: string;
      /** The content of each program that the agreement names, by this name. Programs of the library have none. */
      files?: Record<string, string | Uint8Array>;
    };

/** A server of an agreement. */
export interface Server {
  /** The line that the server's operator has made for this client (`garblet keygen --client`). Secret. */
  invitation: string;
}

/** Where a server lets clients in: `wss://HOST:PORT`, or `ws://` on this machine. */
export interface CalledServer extends Server {
  url: string | URL;
}

/** What a client asks two servers. */
export interface AgreementOptions {
  agreement: Agreement;
  /** The program's name in the agreement; for a program per client, without the client's name. */
  program: string;
  generator: Server;
  cloud: Server;
  /** The names of all clients of the run, in the program's order, if there are several. */
  clients?: string[];
  /** Distinguishes this run from the clients' other runs. */
  label?: string;
  /** Aborts the call: the promise rejects with the signal's reason. A visit may have run all the same: `resumeVisit` asks for its answers. */
  signal?: AbortSignal;
}

/** What the servers learn of a visit: the names of outputs, and whether or where it panics. */
export interface ServersLearn {
  generator: string[];
  cloud: string[];
  panics: Record<"generator" | "cloud", "whether" | "where" | null>;
}

/** A description of a program of an agreement. */
export interface AgreementReport extends Program {
  /** The client's name. */
  client: string;
  serversLearn: ServersLearn;
}

/** The options of calls to both servers. */
export interface CallOptions extends AgreementOptions {
  generator: CalledServer;
  cloud: CalledServer;
  /** The longest wait for a sign of life from a server. Default: one minute. */
  timeoutMs?: number;
}

export interface VisitOptions extends CallOptions {
  inputs?: Record<string, Value>;
  /** What was last kept of this client's visits of these servers; none before the first. */
  memory?: string;
  /** Stores what `resumeVisit` needs, and later visits. Nothing is sent before it has ended, and nothing if it fails. The text is secret until the visit has an answer. */
  keep(memory: string): Promise<void> | void;
  /** Set to give up the last visit, if that was not answered, and to count from the clock on, where the servers know a higher counter than `memory`: if the visit ran after all, an input that you give again counts twice. */
  forget?: boolean;
}

export interface ResumeOptions extends CallOptions {
  memory: string;
}

/** What a client learned from a visit. */
export interface VisitReport {
  outputs: Record<string, Output>;
  /** The name of the program in the agreement. */
  program: string;
  /** The state that the run read or kept, and its version after the run. */
  state: string | null;
  version: number | null;
  /** How often the inputs were shared, since other clients were faster. */
  attempts: number;
  serversLearn: ServersLearn;
  /** What to keep from now on, once the outputs are safe: in place of what `keep` stored. With that, `resumeVisit` asks for the outputs again. */
  memory: string;
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
  options?: { name?: string; constants?: Record<string, number | bigint | boolean>; panics?: boolean; effort?: number; function?: string; signal?: AbortSignal },
): Promise<Program>;

/** Describes a program. */
export function describe(program: ProgramSource, options?: { signal?: AbortSignal }): Promise<Program>;

/** Creates an identity. Keep `pem`, and keep it secret; give the peer the fingerprint to trust. */
export function generateIdentity(): Promise<{ pem: string; fingerprint: string }>;

/** The fingerprint of an identity. */
export function fingerprint(pem: string): Promise<string>;

/** Computes with a peer. Rejects with a `GarbletError`. */
export function run(options: RunOptions | JobRunOptions): Promise<Report>;

/** Reads a job, compiles its program, and says what a party is asked to agree to. `identity` finds out which party the page is. */
export function checkJob(options: JobOptions & { identity?: string }): Promise<JobReport>;

/** Signs a job for the party with this identity, once its program is the agreed one. `signatures` is the new text of the file of signatures. */
export function signJob(options: JobOptions & { identity: string }): Promise<{ party: string; signatures: string; digest: string }>;

/** Checks that all parties have signed a job, and returns its digest. */
export function verifyJob(job: Job): Promise<string>;

/** Reads the agreement of two servers, compiles its programs, and says what this client gives and learns, and what the servers learn. */
export function checkAgreement(options: AgreementOptions): Promise<AgreementReport>;

/** Shares this client's inputs between two servers, which compute on the shares, and returns the output. Rejects with a `GarbletError`; its `memory` is then what to keep. Calls of one client wait for each other, since each needs the `memory` of the one before: hold a lock of `navigator.locks`. */
export function visit(options: VisitOptions): Promise<VisitReport>;

/** Asks again for the answers to the last visit, which did not arrive. It must have been one of this program. */
export function resumeVisit(options: ResumeOptions): Promise<VisitReport>;

/** The receipts of a log, after checks of all its lines, and remarks on it, for instance that the last one is incomplete. If it still has the digests in `holds`, nothing before them was cut off. */
export function readReceipts(log: string, options?: { holds?: string[] }): Promise<{ receipts: Receipt[]; notes: string[] }>;

/** Compares the logs of two parties, run by run. */
export function compareReceipts(ours: string, theirs: string): Promise<Comparison>;

/** All that a browser keeps for the pages of an origin, in `localStorage`. */
export interface Kept {
  /** Under `garblet-identity`. Secret. */
  identity?: string;
  /** Under `garblet-receipts`: a log. */
  receipts?: string;
}

/** Keeps an identity or a log of receipts. Throws a `GarbletError` if the browser does not, for instance because it has no more room; it then still has what it kept before. Whoever changes the log holds the lock `garblet-receipts` of `navigator.locks` from reading it on. Nothing else of this package stores anything. */
export function keep(values: Kept): void;

/** Returns all that is kept, which is nothing where the browser stores nothing for the page. Any page of this origin can have changed it. Throws a `GarbletError` if the browser cannot read it: it may be there all the same, so change nothing then. */
export function kept(): Kept;

/** Forgets what is kept under these names, or all if there are none. Throws a `GarbletError` if the browser still keeps it. */
export function forget(...names: (keyof Kept)[]): void;

/** Computes as both parties, in this page, without a peer, for experiments. It protects nothing. */
export function runTogether(options: TogetherOptions): Promise<[Report, Report]>;

/** Fails as a bug would, so that a page can test how it reacts. */
export function panicForTest(): Promise<never>;
