// The friend finder's page keeps this of visits, whatever comes of them: done, not done, or not known. The client is a stub that says what
// both servers said.

import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, beforeEach } from "node:test";

/** A test that does not end is ended. */
const LIMIT = { timeout: 120_000 };

const folder = mkdtempSync(path.join(tmpdir(), "visits-"));
after(() => rmSync(folder, { recursive: true }));
copyFileSync(path.resolve(import.meta.dirname, "../../examples/friends/page/visits.js"), path.join(folder, "visits.js"));
writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
writeFileSync(
  path.join(folder, "garblet-client.js"),
  `const receipt = { version: 0n, encode: () => new Uint8Array([1]), withCounter: (counter) => (globalThis.counters.push(counter), receipt) };
  export const Receipt = { first: () => receipt, decode: () => receipt };
  export const Invitation = { parse: (text) => ({ identity: text, clientName: text, free() {} }) };
  export const Visit = {
    begin: (job, { clientName: one }, { clientName: other }) => {
      if (one !== other) throw new Error("expected one name");
      return { free() {} };
    },
  };
  const job = { clientNumber: () => 0, atVersion: () => job, free() {} };
  export const Job = { decode: () => job };
  export const bitsOf = (value, width) => new Uint8Array(width).fill(value);
  export const joinBits = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
  export const numberOf = () => 0n;
  export const toBase64 = (bytes) => Buffer.from(bytes).toString("base64");
  export const fromBase64 = (text) => new Uint8Array(Buffer.from(text, "base64"));
  const said = () => {
    if (globalThis.error !== undefined) throw globalThis.error;
    return { output: new Uint8Array(17), receipt };
  };
  export async function visit({ keep }) {
    const bytes = new Uint8Array([2]);
    await keep({ receipt: bytes, saved: bytes, toGenerator: bytes, toCloud: bytes });
    globalThis.asked.push("visit");
    return said();
  }
  export async function resume() {
    globalThis.asked.push("resume");
    return said();
  }`,
);
const stored = new Map();
globalThis.localStorage = {
  get length() {
    return stored.size;
  },
  key: (at) => [...stored.keys()][at],
  getItem: (key) => stored.get(key) ?? null,
  setItem: (key, value) => stored.set(key, value),
  removeItem: (key) => stored.delete(key),
};
/** The locks that are asked for, and their order. */
let turn = Promise.resolve();
const locks = { request: (name, options, work) => (turn = turn.then(work, work)) };
Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
const { Person, welcome } = await import(path.join(folder, "visits.js"));
copyFileSync(path.resolve(import.meta.dirname, "../../examples/friends/page/troubles.js"), path.join(folder, "troubles.js"));
const { explained } = await import(path.join(folder, "troubles.js"));

const HERE = { x: 1, y: 2 };
let person;
let town;

beforeEach(() => {
  stored.clear();
  globalThis.error = undefined;
  globalThis.asked = [];
  globalThis.counters = [];
  const invitations = { generator: "Anna", cloud: "Anna" };
  welcome("Anna", invitations);
  const job = Buffer.from("job").toString("base64");
  town = { generator: "ws://one", cloud: "ws://other", jobs: { look: [job], place: [job] } };
  person = new Person("Anna", town, invitations);
});

/** The answers of both servers, in the words of the client. */
const said = (words, more) => Object.assign(new Error(`no output: ${words}`), { hint: "what to do" }, more);
/** One server lies, or is gone: the other one has run the visit, or may have. */
const UNKNOWN = [
  said("generator and cloud differ in the output, so one of them lies"),
  said("the generator has an answer; the cloud refuses: the state has another version now"),
  said("the generator refuses: the submission was used, and there is no answer; the cloud has an answer"),
  said("the generator has an answer; the cloud has not answered"),
  said("both servers answer for version 9 of the state, the job is for version 3"),
  new Error("the page has given up"),
];

test("a visit that was done is kept no longer", LIMIT, async () => {
  await person.place(HERE);
  assert.deepEqual([person.unanswered, person.spot], [undefined, HERE]);
});

test("one that both servers prove was not done is kept no longer, and nothing has moved", LIMIT, async () => {
  globalThis.error = said("both refuse", { isNeverRun: true });
  await assert.rejects(person.place(HERE));
  assert.deepEqual([person.unanswered, person.spot], [undefined, undefined]);
});

test("of whatever else one lying server says it is not known, and it is asked about again", LIMIT, async () => {
  for (const error of UNKNOWN) {
    globalThis.error = error;
    await assert.rejects(person.place(HERE), (told) => told === error);
    assert.equal(person.unanswered, "place", error.message);
    await assert.rejects(person.finish(), (told) => told === error);
    assert.equal(person.unanswered, "place", error.message);
    globalThis.error = undefined;
    assert.deepEqual(await person.finish(), { program: "place", spot: HERE });
    assert.deepEqual([person.unanswered, person.spot], [undefined, HERE]);
  }
});

test("nothing new is dealt before it is known, unless the person waits no longer", LIMIT, async () => {
  [globalThis.error] = UNKNOWN;
  await assert.rejects(person.place(HERE));
  await assert.rejects(person.place({ x: 3, y: 3 }));
  assert.deepEqual(globalThis.asked, ["visit", "resume"]);
  await person.letGo();
  globalThis.error = undefined;
  await person.place({ x: 3, y: 3 });
  assert.deepEqual(globalThis.asked, ["visit", "resume", "visit"]);
  assert.deepEqual(person.spot, { x: 3, y: 3 });
});

test("the same move that is asked for again is made again: another device may have moved the person since", LIMIT, async () => {
  [globalThis.error] = UNKNOWN;
  await assert.rejects(person.place(HERE));
  globalThis.error = undefined;
  assert.deepEqual(await person.place({ ...HERE }), { program: "place", spot: HERE });
  assert.deepEqual(globalThis.asked, ["visit", "resume", "visit"]);
  assert.deepEqual([person.unanswered, person.spot], [undefined, HERE]);
});

test("where a person is stays unknown if it waits no longer for a move, until it moves or looks", LIMIT, async () => {
  await person.place(HERE);
  [globalThis.error] = UNKNOWN;
  await assert.rejects(person.place({ x: 3, y: 3 }));
  await person.letGo();
  assert.deepEqual([person.unanswered, person.spot], [undefined, undefined]);
  globalThis.error = undefined;
  await person.place(HERE);
  assert.deepEqual(person.spot, HERE);
});

test("whoever waits no longer for a look is where it was", LIMIT, async () => {
  await person.place(HERE);
  [globalThis.error] = UNKNOWN;
  await assert.rejects(person.look());
  await person.letGo();
  assert.deepEqual([person.unanswered, person.spot], [undefined, HERE]);
});

test("who leaves hears whether that was done, was not done, or is not known", LIMIT, async () => {
  await person.place(HERE);
  globalThis.error = said("both refuse", { isNeverRun: true });
  assert.deepEqual([await person.leave(), person.spot], ["stays", HERE]);
  for (globalThis.error of UNKNOWN) {
    assert.equal(await person.leave(), "unknown", globalThis.error.message);
    // Nor is it known when a new attempt never begins, because of the last one.
    assert.equal(await person.leave(), "unknown", globalThis.error.message);
    await person.letGo();
  }
  globalThis.error = undefined;
  assert.deepEqual([await person.leave(), person.spot], ["left", null]);
});

test("who leaves after a look without an answer is still on the map", LIMIT, async () => {
  await person.place(HERE);
  [globalThis.error] = UNKNOWN;
  await assert.rejects(person.look());
  assert.deepEqual([await person.leave(), person.unanswered], ["stays", "look"]);
});

test("nobody hears that they have left before both servers have answered, whatever this device knows of their place", LIMIT, async () => {
  globalThis.error = said("both refuse", { isNeverRun: true });
  assert.equal(await person.leave(), "unknown", "no place was ever known");
  globalThis.error = undefined;
  await person.place(null);
  assert.equal(person.spot, null);
  // Another device may have put the person somewhere since.
  globalThis.error = said("both refuse", { isNeverRun: true });
  assert.equal(await person.leave(), "unknown");
  [globalThis.error] = UNKNOWN;
  await assert.rejects(person.place(null));
  await person.letGo();
  await assert.rejects(person.look());
  assert.deepEqual([await person.leave(), person.unanswered], ["unknown", "look"]);
});

test("visits count by the clock, which is never below zero", LIMIT, async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 5_000 });
  await person.look();
  t.mock.method(Date, "now", () => -1);
  await person.look();
  assert.deepEqual(globalThis.counters, [5_000n, 0n]);
});

test("two windows of one person have one visit at a time", LIMIT, async () => {
  await Promise.all([person.place(HERE), person.look(), person.place(null)]);
  assert.deepEqual(globalThis.asked, ["visit", "visit", "visit"], "none was resumed, as one that is under way would be");
});

test("invitations that do not go together make no person, and what is kept stays", LIMIT, () => {
  const before = stored.get("garblet-friends/Anna");
  assert.throws(() => new Person("Anna", town, { generator: "Anna", cloud: "Bert" }), /expected one name/);
  assert.equal(stored.get("garblet-friends/Anna"), before);
});

/** What the page says to the replies of both servers: a code each, with `?` if somebody in between can have sent it. */
function told(generator, cloud) {
  const reply = (code) => ({ code: code.replace("?", ""), isProven: !code.endsWith("?") });
  return explained(said("the words of both", { replies: { generator: reply(generator), cloud: reply(cloud) } }));
}

test("a map is called closed or locked only if both servers prove it", LIMIT, () => {
  assert.equal(told("state-closed", "state-closed").text, "This map has been closed for good.");
  assert.equal(told("unended", "unended").text, "This map is locked for now: too many visits to it were cut off.");
  for (const code of ["state-closed", "unended"]) {
    for (const [generator, cloud] of [[code, `${code}?`], [`${code}?`, `${code}?`], [code, "silent"], ["answer", code], [code, "policy"]]) {
      assert.doesNotMatch(told(generator, cloud).text, /^This map/, `${generator}, ${cloud}`);
    }
  }
  // Words decide nothing.
  assert.doesNotMatch(explained(said("the cloud refuses: the state is closed")).text, /^This map/);
});

test("a refusal is named before a silence, with who proves it", LIMIT, () => {
  assert.equal(told("policy", "silent").text, "One of the servers, the generator, refuses: its rules do not allow this. The other one, the cloud, has not answered.");
  assert.equal(told("silent", "policy").text, "One of the servers, the cloud, refuses: its rules do not allow this. The other one, the generator, has not answered.");
  assert.equal(told("state-closed?", "policy").text, "One of the servers, the cloud, refuses: its rules do not allow this.");
  assert.equal(told("silent", "policy?").text, "It seems that one of the servers, the cloud, refuses: its rules do not allow this. The other one, the generator, has not answered.");
  assert.equal(told("state-closed?", "state-closed?").text, "It seems that both servers refuse: the map is closed for good.");
  assert.match(told("silent", "policy?").hint, /^This is not proven: somebody in between can have sent it\./);
  assert.equal(told("silent", "silent").text, "The servers do not answer.");
  assert.equal(told("answer", "silent").text, "One of the servers, the cloud, does not answer.");
  assert.equal(told("answer", "invalid?").text, "No output: the words of both.");
});

test("a counter that was refused leads to the clock", LIMIT, () => {
  for (const [generator, cloud] of [["old-counter", "old-counter"], ["old-counter", "interrupted"], ["interrupted", "old-counter"], ["old-counter", "silent"]]) {
    const { text, hint } = told(generator, cloud);
    assert.match(text, /later (one|request) of yours/);
    assert.match(hint, /^Look at the clock of this device\. [^]*ask the people who run the servers\.$/);
  }
});

test("the page has words for every reason, and for errors without replies", LIMIT, () => {
  const types = readFileSync(path.resolve(import.meta.dirname, "../garblet-client.d.ts"), "utf8");
  const [, list] = /export type ReplyCode =([^;]*);/.exec(types);
  const codes = [...list.matchAll(/"(.*?)"/g)].map(([, code]) => code);
  assert.equal(codes.length, 16);
  for (const code of codes) assert.doesNotMatch(told(code, "answer").text, /undefined/, code);
  assert.deepEqual(explained(new Error("odd")), { text: "Odd.", hint: "Reload the page; nothing that it stored is lost.", detail: "odd" });
});
