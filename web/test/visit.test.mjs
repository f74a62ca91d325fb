// Visits of a page by the file of an agreement, in Node, to two servers of the command: node --test visit.test.mjs, with PARTY (the package for npm) and GARBLET
// (the command) in the environment. `cargo xtask web` runs it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import test, { after, before } from "node:test";

import { stop } from "../browser/driver.mjs";
import { Office, freePorts, heading, hears } from "../browser/servers.mjs";
import "./threads.mjs";

const { PARTY, GARBLET } = process.env;
const ROOT = path.resolve(import.meta.dirname, "../..");
const there = existsSync(path.join(PARTY, "party_bg.wasm"));
if (!there) console.log("the party for pages is not there\nVISITS OF PAGES WERE NOT TRIED");
const tried = (name, work) => test(name, { skip: !there, timeout: 120_000 }, work);

const SOURCE = "pub fn main(a: u8, b: u8) -> u8 { a / b }\n";
/** A state that grows, and a program with a source that may panic. */
const PROGRAMS = `
[state.total]
retries = 3

[[program]]
name = "begin"
source = "lib:add(8)"
owner = { a = 1, b = 1 }
to = { sum = "nobody" }
keep = "total"
first = true

[[program]]
name = "add"
source = "lib:add(8)"
owner = { b = 1 }
to = { sum = "nobody" }
read = ["a=total"]
keep = "total"

[[program]]
name = "show"
source = "lib:add(8)"
owner = { b = 1 }
to = { sum = 1 }
read = ["a=total"]

[[program]]
name = "divide"
source = "divide.garble.rs"
owner = { a = 1, b = 1 }
to = { out0 = 1 }
`;

let garblet;
let office;
let file;
let agreement;
let ports;
let servers;

before(async () => {
  if (!there) return;
  garblet = await import(path.join(PARTY, "garblet.js"));
  office = new Office(GARBLET);
  office.file("divide.garble.rs", SOURCE);
  file = office.file("ledger.toml", heading(office.keys, ["anna", "bert"]) + PROGRAMS);
  agreement = { name: "ledger.toml", text: readFileSync(file, "utf8"), files: { "divide.garble.rs": SOURCE } };
  const [meeting, ...others] = await freePorts(3);
  ports = others;
  servers = [0, 1].map((at) => office.serve(file, at, [meeting, ports[at]]));
  await Promise.all(servers.map((server, at) => hears(server, ports[at])));
});
after(async () => {
  await Promise.all((servers ?? []).map(stop));
  office?.close();
});

/** A client whose page keeps what it is given. */
class Person {
  constructor(name, at = ports) {
    const [generator, cloud] = office.invitations(name).map((invitation, server) => ({ invitation, url: `ws://127.0.0.1:${at[server]}` }));
    this.options = { agreement, generator, cloud };
    this.stored = [];
  }

  async visit(program, inputs, more = {}) {
    const keep = (memory) => void this.stored.push(memory);
    return this.#kept(garblet.visit({ ...this.options, program, inputs, keep, memory: this.stored.at(-1), ...more }));
  }

  async resume(program, more = {}) {
    return this.#kept(garblet.resumeVisit({ ...this.options, program, memory: this.stored.at(-1), ...more }));
  }

  #kept(visited) {
    const store = ({ memory }) => memory !== undefined && this.stored.push(memory);
    return visited.then((report) => (store(report), report), (error) => {
      store(error);
      throw error;
    });
  }
}

const refused = (promise) => promise.then((value) => assert.fail(`expected an error, got ${JSON.stringify(value)}`), (error) => error);

tried("a page visits two servers by the file of their agreement", async () => {
  const anna = new Person("anna");
  const { memory, ...begun } = await anna.visit("begin", { a: 3, b: 4n });
  assert.deepEqual(begun, { program: "begin", outputs: {}, serversLearn: { generator: [], cloud: [], panics: { generator: null, cloud: null } }, state: "total", version: 1, attempts: 1 });
  assert.equal(memory, anna.stored.at(-1));
  const [unanswered, answered] = anna.stored.map((text) => JSON.parse(text));
  assert.deepEqual([unanswered.counter, unanswered.unfinished.offer, answered.counter, answered.unfinished], [1, "begin", 1, null]);
  // Somebody else was faster, of whom this page has not heard.
  const bert = new Person("bert");
  assert.equal((await bert.visit("add", { b: 5 })).version, 2);
  const { attempts, version } = await anna.visit("add", { b: 6 });
  assert.deepEqual([attempts, version], [2, 3]);
  assert.deepEqual((await anna.visit("show", { b: 0 })).outputs, { sum: 18 });
  // The command goes on with what the page has kept.
  office.file("anna.show.receipts", anna.stored.at(-1));
  const said = execFileSync(GARBLET, office.visit(file, "anna", "show", { b: 1 }, ports, "20s"), { encoding: "utf8", env: office.environment, stdio: ["ignore", "pipe", "ignore"] });
  assert.equal(said, "sum = 19\n");
});

tried("a visit by a program of a file says where it panics, and is then over", async () => {
  const anna = new Person("anna");
  // The servers have seen counters of this client.
  anna.stored.push(JSON.stringify({ format: 1, counter: 100, receipts: {}, unfinished: null }));
  assert.deepEqual((await anna.visit("divide", { a: 7, b: 2 })).outputs, { out0: 3 });
  const panicked = await refused(anna.visit("divide", { a: 7, b: 0 }));
  assert.match(panicked.message, /divi.* by zero/);
  assert.equal(JSON.parse(anna.stored.at(-1)).unfinished, null);
  const { client, inputs, outputs, serversLearn } = await garblet.checkAgreement({ ...anna.options, program: "divide" });
  assert.deepEqual([client, inputs.map(({ name, type }) => `${name}: ${type}`), outputs.map(({ name }) => name)], ["anna", ["a: u8", "b: u8"], ["out0"]]);
  assert.deepEqual(serversLearn, { generator: [], cloud: [], panics: { generator: null, cloud: null } });
});

tried("what is wrong is said before anything is sent or kept", async () => {
  const anna = new Person("anna");
  const visit = (program, inputs, more) => refused(anna.visit(program, inputs, more));
  const line = agreement.text.split("\n").indexOf('name = "divide"');
  for (const [error, code, expected] of [
    [await visit("none", {}), undefined, "the agreement has no program `none` for `anna`"],
    [await visit("divide", { a: 7 }), "inputs", /`b`/],
    [await visit("divide", { a: 7, b: 256 }), "inputs", "input `b`: expected u8, got a number out of range"],
    [await visit("divide", { a: 7, b: 0.5 }), "inputs", /^input `b`: expected /],
    [await visit("divide", { a: 1, b: 1 }, { agreement: agreement.text }), "agreement", `agreement:${line}: program \`divide\`: source: the content of divide.garble.rs is missing`],
    [await visit("divide", { a: 1, b: 1 }, { agreement: "clients = 1" }), "agreement", /^agreement/],
    [await visit("divide", { a: 1, b: 1 }, { generator: { ...anna.options.generator, invitation: "hello" } }), "invitation", /^the invitation of the generator: /],
    [await visit("divide", { a: 1, b: 1 }, { generator: anna.options.cloud, cloud: anna.options.generator }), undefined, /^the job's generator is .*, the invitation is from `cloud`/],
    [await visit("divide", { a: 1, b: 1 }, { memory: "{}" }), "memory", /^cannot read the client's receipts: memory: /],
    [await visit("divide", { a: 1, b: 1 }, { clients: ["bert"] }), undefined, "clients: the invited client `anna` is not among bert"],
    [await visit("divide", { a: 1, b: 1 }, { cloud: { ...anna.options.cloud, url: "http://a/" } }), "url", /^url: expected an address that begins with ws:/],
    [await visit("divide", { a: 1, b: 1 }, { keep: undefined }), undefined, "keep: expected a function, got a value of type undefined"],
    [await refused(anna.resume("divide", { memory: JSON.stringify({ format: 1, counter: 1, receipts: {}, unfinished: null }) })), undefined, "resumeVisit: no visit is waiting for answers"],
  ]) {
    assert.ok(error instanceof garblet.GarbletError, String(error));
    assert[expected instanceof RegExp ? "match" : "equal"](error.message, expected);
    assert.equal(error.code, code, error.message);
    assert.ok(error.hint.length > 4, error.message);
  }
  assert.deepEqual(anna.stored, []);
});

tried("a visit that is not answered is taken up again, and none is made beside it", async () => {
  const bert = new Person("bert");
  bert.stored.push(JSON.stringify({ format: 1, counter: 100, receipts: {}, unfinished: null }));
  const unkept = await refused(bert.visit("add", { b: 1 }, { keep: () => Promise.reject(new Error("no room")) }));
  assert.equal(unkept.message, "no room");
  const nobody = (await freePorts(2)).map((port) => ({ url: `ws://127.0.0.1:${port}` }));
  const lost = { generator: { ...bert.options.generator, ...nobody[0] }, cloud: { ...bert.options.cloud, ...nobody[1] } };
  const before = (await bert.visit("show", { b: 0 })).outputs.sum;
  const failed = await refused(bert.visit("add", { b: 1 }, lost));
  assert.match(failed.message, /^no output: the generator has not answered; the cloud has not answered; (generator|cloud), ws:/);
  assert.match(failed.hint, /^ask for its answers with resumeVisit$/);
  assert.deepEqual([failed.isNeverRun, failed.replies.cloud], [false, { code: "silent", isProven: false }]);
  const second = await refused(bert.visit("add", { b: 1 }));
  assert.equal(second.message, "the last visit, for `add`, was not answered, and may have changed the state");
  const other = await refused(bert.resume("show"));
  assert.equal(other.message, "resumeVisit: the last visit is for `add`, got `show`");
  assert.equal((await bert.resume("add")).state, "total");
  assert.equal((await bert.visit("show", { b: 0 })).outputs.sum, before + 1);
});

tried("a client that has lost its memory counts from the clock on", async () => {
  const anna = new Person("anna");
  const refused = await anna.visit("show", { b: 0 }).then(() => assert.fail("refused"), (error) => error);
  assert.match(refused.message, /the counter was used before/);
  assert.match(refused.hint, /, forget counts from the clock on, [^]*it counts twice$/);
  assert.deepEqual([refused.isNeverRun, Object.values(refused.replies).some(({ code, isProven }) => code === "old-counter" && isProven)], [false, true]);
  const before = Date.now();
  await anna.visit("show", { b: 0 }, { forget: true });
  assert.ok(JSON.parse(anna.stored.at(-1)).counter > before);
  await anna.visit("show", { b: 0 });
});

/** An example of a page of documentation that visits, as a module. */
function example(name) {
  const blocks = readFileSync(path.join(ROOT, name), "utf8").matchAll(/^```js\n([^]*?)^```$/gm);
  const [, text] = [...blocks].find(([, text]) => text.includes("wss://one.example:7100"));
  const local = text.replace("wss://one.example:7100", `ws://127.0.0.1:${ports[0]}`).replace("wss://other.example:7100", `ws://127.0.0.1:${ports[1]}`);
  const from = local.replace(/"(\.\/garblet\.js|garblet)"/, JSON.stringify(path.join(PARTY, "garblet.js")));
  return import(office.file(`${path.basename(name)}.mjs`, from));
}

tried("the examples of the book and of the package visit as they are written", async () => {
  const stored = new Map([["my-visits", JSON.stringify({ format: 1, counter: Date.now(), receipts: {}, unfinished: null })]]);
  globalThis.localStorage = { setItem: (key, value) => stored.set(key, value), getItem: (key) => stored.get(key) ?? null };
  globalThis.confirm = () => true;
  Object.defineProperty(globalThis, "navigator", { value: { locks: { request: (_, work) => work() } }, configurable: true });
  try {
    const { asks, visits } = await example("docs/src/pages.md");
    const programs = [new File([SOURCE], "divide.garble.rs")];
    const ledger = new File([agreement.text], "ledger.toml");
    const invitations = office.invitations("anna");
    const { sum } = await visits(await asks(ledger, programs, "show", invitations), { b: 0 });
    const divided = await asks(ledger, programs, "divide", invitations);
    assert.deepEqual(await visits(divided, { a: 9, b: 4 }), { out0: 2 });
    await assert.rejects(visits(divided, { a: 9, b: 0 }), { name: "GarbletError", message: /by zero/ });
    const { add } = await example("web/party/README.md");
    const small = new File([agreement.text.slice(0, agreement.text.indexOf('[[program]]\nname = "divide"'))], "ledger.toml");
    const kept = [];
    assert.deepEqual(await add(small, invitations, stored.get("my-visits"), (text) => kept.push(text)), {});
    stored.set("my-visits", kept.at(-1));
    assert.deepEqual(await visits(await asks(ledger, programs, "show", invitations), { b: 0 }), { sum: sum + 5 });
  } finally {
    for (const name of ["localStorage", "confirm", "navigator"]) delete globalThis[name];
  }
});
