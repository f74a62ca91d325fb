// What the package for npm does around its module, for which a stub stands: numbers that it passes on, and what the browser keeps.
// `cargo xtask web` runs it: node --test party.test.mjs.

import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, beforeEach } from "node:test";

/** A test that does not end is ended. */
const LIMIT = { timeout: 120_000 };

const folder = mkdtempSync(path.join(tmpdir(), "party-"));
after(() => rmSync(folder, { recursive: true }));
for (const name of ["garblet.js", "worker.js"]) copyFileSync(path.resolve(import.meta.dirname, "../party", name), path.join(folder, name));
copyFileSync(path.resolve(import.meta.dirname, "../garblet-talk.js"), path.join(folder, "garblet-talk.js"));
writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
// A module without anything in it.
writeFileSync(path.join(folder, "party_bg.wasm"), Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
writeFileSync(
  path.join(folder, "party.js"),
  `const inputs = [{ name: "bits", type: "bits64" }, { name: "many", type: "[bits64; 2]" }, { name: "real", type: "f64" }, { name: "wide", type: "bits640" }];
  const built = { describe: () => JSON.stringify({ inputs }), free() {} };
  export default async () => {};
  export const Program = { compile: () => built, library: () => built };
  export const Identity = { fromPem: () => ({}) };
  export const Run = {
    begin() {
      throw Object.assign(new Error("begun"), { hint: "the stub goes no further" });
    },
  };
  export const runTogether = (_, inputs) => JSON.stringify([inputs, inputs]);
  export const [Job, Visitor, Wire, compareReceipts, panicForTest, readReceipts] = [];`,
);
// The worker runs beside the package, one call at a time.
let worker;
globalThis.self = { addEventListener() {}, postMessage: (data) => worker.onmessage?.({ data }) };
await import(path.join(folder, "worker.js"));
globalThis.Worker = class {
  postMessage(data) {
    worker = this;
    self.onmessage({ data });
  }

  terminate() {}
};
globalThis.fetch = async (url) => new Response(readFileSync(url));
const garblet = await import(path.join(folder, "garblet.js"));

/** The inputs as the module gets them. */
const passed = async (inputs) => JSON.parse((await garblet.runTogether({ program: { source: "" }, inputs }))[0]);

test("bits64 takes exact integers only, since 1.0 is 1 to JavaScript", LIMIT, async () => {
  const integers = { bits: 2n ** 63n, many: [0, 2 ** 53 - 1], real: [-0, 0.5, 1e300, 7], wide: 1 };
  assert.deepEqual(await passed(integers), { bits: `\u0001${2n ** 63n}`, many: [0, 2 ** 53 - 1], real: ["\u0001-0", 0.5, "\u00011e300", 7], wide: 1 });
  const doubles = new BigUint64Array(new Float64Array([0.5, -0]).buffer);
  assert.deepEqual(await passed({ many: doubles }), { many: ["\u00014602678819172646912", "\u00019223372036854775808"] });
  const run = (inputs) => garblet.run({ program: { source: "" }, party: 1, inputs, identity: "", trust: {}, url: "ws://127.0.0.1:1" });
  for (const [inputs, name] of [[{ bits: 0.25 }, "bits"], [{ bits: -0 }, "bits"], [{ many: [1, 1e300] }, "many"], [{ many: [Number.NaN, 1], real: 1 }, "many"], [{ many: [2 ** 60, 1] }, "many"]]) {
    for (const given of [passed, run]) {
      await assert.rejects(given(inputs), ({ message, hint, code }) => {
        assert.match(message, new RegExp(`^input \`${name}\`: expected integers below 2\\^53 for .*bits64.*, got another number$`));
        assert.match(hint, /BigUint64Array/);
        return code === "inputs" && !message.includes("0.25");
      });
    }
  }
  await assert.rejects(run({ bits: 1, real: 0.5 }), { message: "begun" });
});

test("a number for which JSON has none is told from a text", LIMIT, async () => {
  const given = { real: [Number.NaN, -Infinity, "NaN"], wide: 7n, text: "\u0001NaN" };
  assert.deepEqual(await passed(given), { real: ["\u0001NaN", "\u0001-inf", "NaN"], wide: 7, text: "\u0001\u0001NaN" });
});

const stored = new Map();
/** The bytes for which the browser has room, and what it refuses to read. */
let room;
let unread;
beforeEach(() => {
  stored.clear();
  [room, unread] = [Infinity, undefined];
  globalThis.localStorage = {
    getItem(key) {
      if (unread !== undefined) throw new Error(unread);
      return stored.get(key) ?? null;
    },
    setItem(key, value) {
      const others = [...stored].filter(([other]) => other !== key).map(([, other]) => other);
      if ([...others, value].join("").length > room) throw new Error("quota exceeded");
      stored.set(key, value);
    },
    removeItem: (key) => stored.delete(key),
  };
});

test("of two values both are kept, or what was kept before", LIMIT, () => {
  const [identity, receipts] = ["an old identity", "the old receipts"];
  const refused = () => assert.throws(() => garblet.keep({ identity: "new", receipts: "x".repeat(99) }), { name: "GarbletError", message: "receipts: the browser does not keep it: quota exceeded", hint: /save the log as a file/ });
  room = 40;
  garblet.keep({ identity, receipts });
  refused();
  assert.deepEqual(garblet.kept(), { identity, receipts });
  garblet.forget("identity");
  refused();
  assert.deepEqual(garblet.kept(), { identity: undefined, receipts });
  garblet.keep({ identity: "new", receipts: "y" });
  assert.deepEqual(garblet.kept(), { identity: "new", receipts: "y" });
});

test("what the browser cannot remove is not called forgotten", LIMIT, () => {
  room = 40;
  garblet.keep({ identity: "a key", receipts: "a log" });
  const { removeItem } = localStorage;
  localStorage.removeItem = (key) => {
    if (key === "garblet-receipts") throw new Error("storage is damaged");
    removeItem(key);
  };
  const unchanged = { name: "GarbletError", message: "receipts: the browser still keeps it: storage is damaged", hint: "remove what this site has stored, in the browser's settings" };
  assert.throws(() => garblet.forget(), unchanged);
  assert.deepEqual(garblet.kept(), { identity: undefined, receipts: "a log" });
  localStorage.removeItem = removeItem;
  garblet.forget("receipts");
  assert.deepEqual(garblet.kept(), { identity: undefined, receipts: undefined });
});

test("while old values are put back, the browser has the old or the new ones", LIMIT, () => {
  const old = { identity: "an old identity", receipts: "old" };
  const given = { identity: "new", receipts: "x".repeat(99) };
  room = 40;
  garblet.keep(old);
  const { setItem, removeItem } = localStorage;
  let changes = 0;
  const seen = (change) => (...words) => {
    change(...words);
    changes += 1;
    // The page may end here.
    const left = garblet.kept();
    for (const name of ["identity", "receipts"]) assert.ok([old[name], given[name]].includes(left[name]), `${name}: ${left[name]}`);
  };
  Object.assign(localStorage, { setItem: seen(setItem), removeItem: seen(removeItem) });
  assert.throws(() => garblet.keep(given), { message: "receipts: the browser does not keep it: quota exceeded" });
  assert.deepEqual([garblet.kept(), changes], [old, 2]);
});

test("what cannot be read is not called absent, unless the browser stores nothing at all", LIMIT, () => {
  garblet.keep({ receipts: "log" });
  unread = "disk error";
  assert.throws(() => garblet.kept(), { name: "GarbletError", message: "the browser cannot read what it keeps: disk error", hint: /load the page again/ });
  unread = undefined;
  assert.equal(garblet.kept().receipts, "log");
  Object.defineProperty(globalThis, "localStorage", { get: () => assert.fail("denied"), configurable: true });
  assert.deepEqual(garblet.kept(), {});
  Object.defineProperty(globalThis, "localStorage", { value: null, writable: true, configurable: true });
  assert.deepEqual(garblet.kept(), {});
});
