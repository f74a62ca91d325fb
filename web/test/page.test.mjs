// The page of `examples/page` without a browser: its log of receipts when storage fails, and the values that a person enters. Elements are
// stubs. `cargo xtask web` runs it: node --test page.test.mjs.

import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, beforeEach } from "node:test";

/** A test that does not end is ended. */
const LIMIT = { timeout: 120_000 };

const folder = mkdtempSync(path.join(tmpdir(), "page-"));
after(() => rmSync(folder, { recursive: true }));
for (const name of ["receipts.js", "job.js", "words.js"]) copyFileSync(path.resolve(import.meta.dirname, "../../examples/page", name), path.join(folder, name));
writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');

/** An element, of which only this page's uses are there. */
class Element {
  children = [];
  href = "";
  isConnected = true;

  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join("");
  }

  set textContent(text) {
    this.children = [text];
  }

  replaceChildren(...children) {
    this.children = children;
  }

  replaceWith(other) {
    this.isConnected = false;
    page.set(other.id, other);
  }

  focus() {
    focused = this;
  }
}

/** The elements by name, and the one that has the focus. */
const page = new Map();
let focused;
let leaving;
const at = (id) => page.get(id) ?? page.set(id, new Element()).get(id);
globalThis.document = { getElementById: at, createElement: () => new Element() };
globalThis.addEventListener = (_, listener) => (leaving = listener);
// Nobody waits for the end of a link.
const { setTimeout } = globalThis;
globalThis.setTimeout = (...timer) => setTimeout(...timer).unref();
const { begun, ended, forgotten, taken } = await import(path.join(folder, "receipts.js"));
const { value, values } = await import(path.join(folder, "job.js"));

/** A browser that keeps a log, unless it is full, and lets it be read, unless it cannot. */
let log;
let isFull;
let isUnread;
globalThis.localStorage = { length: 1, setItem() {}, removeItem() {} };
const garblet = {
  kept() {
    if (isUnread) throw new Error("the browser cannot read what it keeps");
    return { receipts: log };
  },
  keep({ receipts }) {
    if (isFull) throw new Error("full");
    log = receipts;
  },
  forget: () => (log = undefined),
  readReceipts: async (text) => ({ receipts: [...text].map((digest) => ({ digest })), notes: [] }),
};
/** A run that adds a receipt of one letter. */
const run = async (letter) => ended(garblet, { receipts: begun(garblet) + letter });
const isWarned = () => {
  let isAsked = false;
  leaving({ preventDefault: () => (isAsked = true) });
  assert.equal(at("unsaved").textContent !== "", isAsked);
  return isAsked;
};

beforeEach(async () => {
  [log, isFull, isUnread] = [undefined, false, false];
  await forgotten(garblet);
});

test("receipts that cannot be read for once are not forgotten, nor is the warning", LIMIT, async () => {
  await run("1");
  isFull = true;
  await run("2");
  assert.deepEqual([log, isWarned()], ["1", true]);
  isUnread = true;
  await taken(garblet);
  assert.deepEqual([isWarned(), at("receipt").hidden], [true, false]);
  assert.throws(() => begun(garblet), { message: "The browser cannot read the receipts that it keeps, so nothing was computed" });
  [isFull, isUnread] = [false, false];
  await run("3");
  assert.deepEqual([log, isWarned()], ["123", false]);
  // It cannot be read when a run has ended: nothing is written over it.
  const next = begun(garblet);
  isUnread = true;
  await ended(garblet, { receipts: `${next}4` });
  assert.match(at("unsaved").textContent, /does not keep its receipt: it cannot read those that it keeps\.Save the receipts now, [^]*then load it again\.$/);
  isUnread = false;
  assert.deepEqual([log, begun(garblet)], ["123", "1234"]);
});

test("a log that was removed is followed", LIMIT, async () => {
  await run("1");
  isFull = true;
  await run("2");
  log = undefined;
  await taken(garblet);
  assert.deepEqual([begun(garblet), isWarned()], ["", false]);
});

test("the warning ends once the person has said that the receipts are saved", LIMIT, async () => {
  await run("1");
  at("save").onclick();
  assert.equal(at("saving").textContent, "", "nobody is asked about receipts that are kept");
  isFull = true;
  await run("2");
  at("save").onclick();
  assert.equal(isWarned(), true);
  assert.match(at("saving").textContent, /^Did your browser save the receipts\?/);
  // Another receipt is not saved by a click that was before it.
  await run("3");
  assert.deepEqual([isWarned(), at("saving").textContent], [true, ""]);
  at("save").onclick();
  at("saving").children.at(-1).onclick();
  assert.deepEqual([isWarned(), at("saving").textContent, focused], [false, "", at("save")]);
});

test("a link that was replaced saves for a while", LIMIT, async (t) => {
  const revoked = [];
  t.mock.method(URL, "revokeObjectURL", (href) => revoked.push(href));
  await run("1");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { href } = at("save");
  await run("2");
  t.mock.timers.tick(60_000);
  assert.deepEqual(revoked, []);
  t.mock.timers.tick(600_000);
  assert.deepEqual(revoked, [href]);
});

test("a number that would become a text is refused where the type has texts", LIMIT, () => {
  const type = "{at: f64, name: [u8; 20]}";
  const refused = { message: "has a number that JavaScript would write otherwise, where a text may stand", hint: /in quotes$/ };
  for (const words of ['{"at": 1, "name": 12345678901234567890}', '{"at": 1.50, "name": "a"}']) assert.throws(() => value(words, type), refused);
  assert.deepEqual(value('{"at": 1.5, "name": "12345678901234567890"}', type), { at: 1.5, name: "12345678901234567890" });
  assert.deepEqual(value("[1.50, 12345678901234567890]", "[f64; 2]"), ["1.50", "12345678901234567890"]);
});

test("a record with a field twice is refused, and its name is not told", LIMIT, () => {
  for (const words of ['{"age": 4, "age": 40}', '[{"a": {"b": 1}}, {"a": {"b": 1, "c": 2, "b" : 3}}]', '{"age": 4, "\\u0061ge": 40}', '{"{": 1, "a": [2], "{": 3}']) {
    assert.throws(() => value(words), { message: "has a record with a field twice", hint: "write each field once" });
  }
  assert.deepEqual(value('[{"a": 1, "b": {"a": 2}}, {"a": "a"}, "a:"]'), [{ a: 1, b: { a: 2 } }, { a: "a" }, "a:"]);
  assert.throws(() => value('{"a": 1, "a": 2'), SyntaxError);
  const field = (text) => ({ querySelectorAll: () => [{ id: "given-0", value: text, dataset: { input: "who" } }] });
  assert.throws(() => values(field('{"age": 4, "age": 40}')), { message: "What you give as who has a record with a field twice", field: "given-0" });
  assert.throws(() => values(field("[1,")), { message: "What you give as who is not JSON" });
});
