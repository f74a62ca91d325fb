// A person's visits to both servers, and what this device keeps of them: invitations, the receipt, the visit that is not answered yet.

import { Invitation, Job, Receipt, Visit, bitsOf, fromBase64, joinBits, numberOf, resume, toBase64, visit } from "./garblet-client.js";

const PREFIX = "garblet-friends/";
const STATE = "map";
/** The bits of a coordinate. */
const COORDINATE = 8;
/** The most times that an input is dealt, if friends are faster. */
const ATTEMPTS = 8;

/** The invitations in a link's fragment, as texts; none if there are none. */
export function invitationsOf(fragment) {
  const found = {};
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const [name, value = ""] = part.split("=");
    if (name === "generator" || name === "cloud") found[name] = decoded(value);
  }
  return found.generator && found.cloud ? found : undefined;
}

/** A part of a link; one that is damaged stays as it is, for whoever reads it to say so. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The names of those who have used a link on this device. */
export function people() {
  const keys = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at));
  return keys.filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length)).sort();
}

/** The name in invitations, and whether this device keeps others under it. */
export function lookUp(invitations) {
  const invited = Invitation.parse(invitations.generator);
  const name = invited.clientName;
  invited.free();
  const kept = read(name);
  const same = kept?.generator === invitations.generator && kept?.cloud === invitations.cloud;
  return { name, isKnown: kept !== undefined, isOther: kept !== undefined && !same };
}

/** Keeps the invitations of a person of whom nothing else is known yet. */
export function welcome(name, { generator, cloud }) {
  write(name, { generator, cloud });
}

function read(name) {
  const text = localStorage.getItem(PREFIX + name);
  return text === null ? undefined : JSON.parse(text);
}

function write(name, kept) {
  localStorage.setItem(PREFIX + name, JSON.stringify(kept));
}

/** A person, with servers and programs from `friends.json`, and the invitations that are kept, or new ones. *Errors*: the invitations do not go together, or are not for this map. */
export class Person {
  constructor(name, town, { generator, cloud } = read(name)) {
    this.name = name;
    this.town = town;
    this.ends = {
      generator: { url: town.generator, invitation: Invitation.parse(generator) },
      cloud: { url: town.cloud, invitation: Invitation.parse(cloud) },
    };
    const { identity } = this.ends.generator.invitation;
    const jobs = town.jobs.look.map((text) => Job.decode(fromBase64(text)));
    try {
      this.number = jobs.findIndex((job) => job.clientNumber(identity) !== undefined);
      if (this.number < 0) {
        const hint = "ask the people who invited you for a link to this map";
        throw Object.assign(new Error(`this map has no place for ${name}`), { hint });
      }
      this.check(jobs[this.number]);
    } finally {
      jobs.forEach((job) => job.free());
    }
  }

  /** Checks that both invitations have one name and are from the servers of a job: a visit with them could begin. Nothing is sent. */
  check(job) {
    const { generator, cloud } = this.ends;
    const [receipt, seed] = [Receipt.first(STATE), crypto.getRandomValues(new Uint8Array(32))];
    Visit.begin(job, generator.invitation, cloud.invitation, receipt, bitsOf(0, 1), seed).free();
  }

  /** The place of the person, as far as this device knows: `{x, y}`, `null` for nowhere, `undefined` for unknown. */
  get spot() {
    return read(this.name)?.spot;
  }

  /** The visit that was begun and is not answered yet: `place` or `look`. */
  get unanswered() {
    return read(this.name)?.begun?.program;
  }

  /** Puts the person somewhere, or with `null` nowhere. */
  place(spot, more) {
    return this.alone(() => this.run("place", spot, more), more);
  }

  /** Looks for friends: for each `{x, y}`, or `null` for those who are not near. The own place is the one on the map. */
  look(more) {
    return this.alone(() => this.run("look", undefined, more), more);
  }

  /** Leaves the map for good: `left` once both servers have answered, `stays` if that was not done for certain, `unknown` if it may have been, or may be yet, or if this device does not know of a place. */
  async leave(more) {
    try {
      await this.place(null, more);
      return "left";
    } catch {
      // Where this device knows of no place, another one may have put the person somewhere.
      return this.unanswered === "place" || !this.spot ? "unknown" : "stays";
    }
  }

  /** Hears the answers to what was begun before. What came out is as of `place` or `look`, with the name of the program. */
  finish(more) {
    return this.alone(() => this.settle(more), more);
  }

  /** Waits no longer for the answers to what was begun: whether it was done stays unknown, and so does the place if that was to change. */
  letGo() {
    return this.alone(() => this.keep({ begun: undefined, ...(this.unanswered === "place" ? { spot: undefined } : {}) }));
  }

  /** Deletes all that this device keeps of the person. */
  forget() {
    localStorage.removeItem(PREFIX + this.name);
  }

  /** One visit at a time, in all windows of this device. */
  alone(work, { signal } = {}) {
    return navigator.locks.request(PREFIX + this.name, signal === undefined ? {} : { signal }, work);
  }

  async run(program, spot, more) {
    // Two visits of one person would be in each other's way. What came of the last one makes none of this one needless, even of the same move:
    // another device of the person may have moved it since.
    await this.settle(more);
    const inputs = program === "place" ? spotBits(spot) : bitsOf(0, 1);
    // Other devices of the person have counted too. A clock before 1970 counts for nothing.
    const receipt = this.receipt().withCounter(BigInt(Math.max(0, Date.now())));
    const written = Job.decode(fromBase64(this.town.jobs[program][this.number]));
    // The version that was seen last; before the first the servers tell it.
    const job = receipt.version > 0n ? written.atVersion(STATE, receipt.version) : written;
    const keep = (kept) => this.keep({ receipt: toBase64(kept.receipt), begun: { program, spot, ...texts(kept) } });
    return this.ended(program, spot, visit({ ...this.ends, job, receipt, inputs, keep, attempts: ATTEMPTS, ...more }));
  }

  async settle(more) {
    const { begun } = read(this.name) ?? {};
    if (begun === undefined) return undefined;
    const { program, spot } = begun;
    try {
      return await this.ended(program, spot, resume(bytes(begun), { ...this.ends, receipt: this.receipt(), ...more }));
    } catch (error) {
      if (error.isNeverRun) return undefined;
      throw error;
    }
  }

  /** The outcome of a visit, which is then no longer waited for. */
  async ended(program, spot, visiting) {
    try {
      const { output, receipt } = await visiting;
      const result = program === "look" ? sights(output, this.number) : { spot };
      this.keep({ receipt: toBase64(receipt.encode()), begun: undefined, spot: result.spot });
      return { program, ...result };
    } catch (error) {
      // Both servers prove that it was not done. Of any other error it may have been, or may be yet: it stays, to be asked about again.
      if (error.isNeverRun) this.keep({ begun: undefined });
      throw error;
    }
  }

  receipt() {
    const { receipt } = read(this.name) ?? {};
    return receipt === undefined ? Receipt.first(STATE) : Receipt.decode(fromBase64(receipt));
  }

  keep(news) {
    const kept = read(this.name);
    // Somebody has said `Forget me` meanwhile.
    if (kept === undefined) throw Object.assign(new Error("this device has deleted your invitations"), { hint: "open your link again" });
    write(this.name, { ...kept, ...news });
  }
}

const FRAMES = ["saved", "toGenerator", "toCloud"];
const texts = (kept) => Object.fromEntries(FRAMES.map((name) => [name, toBase64(kept[name])]));
const bytes = (begun) => Object.fromEntries(FRAMES.map((name) => [name, fromBase64(begun[name])]));

/** The input of `place`: whether the person is there, and where. */
function spotBits(spot) {
  const { x, y } = spot ?? { x: 0, y: 0 };
  return joinBits(bitsOf(spot === null ? 0 : 1, 1), bitsOf(x, COORDINATE), bitsOf(y, COORDINATE));
}

/** The output of `look`: for each friend whether it is near, and where. The own entry is the own place. */
function sights(output, number) {
  const size = 1 + 2 * COORDINATE;
  const friends = Array.from({ length: output.length / size }, (_, at) => {
    const bits = output.subarray(at * size, (at + 1) * size);
    const [x, y] = [bits.subarray(1, 1 + COORDINATE), bits.subarray(1 + COORDINATE)].map((part) => Number(numberOf(part)));
    return bits[0] === 1 ? { x, y } : null;
  });
  return { spot: friends[number], friends };
}
