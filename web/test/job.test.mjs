// Jobs and receipts of a page in Node, beside those of the command: node --test job.test.mjs, with PARTY (the package for npm) and GARBLET (the command) in
// the environment. `cargo xtask web` runs it.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import test, { after, before } from "node:test";

import { freePorts } from "../browser/servers.mjs";
import "./threads.mjs";

const { PARTY, GARBLET } = process.env;
const ROOT = path.resolve(import.meta.dirname, "../..");
const GOLDEN = path.join(ROOT, "vectors/golden/0.1.0");
const PROGRAM = path.join(ROOT, "examples/millionaires/millionaires.garble.rs");
const SOURCE = readFileSync(PROGRAM, "utf8");

const there = existsSync(path.join(PARTY, "party_bg.wasm"));
if (!there) console.log("the party for pages is not there\nJOBS OF PAGES WERE NOT TRIED");
const tried = (name, work) => test(name, { skip: !there, timeout: 120_000 }, work);

let garblet;
let folder;
let env;
/** The page, and the fingerprint of the command. */
let page;
let native;

before(async () => {
  if (!there) return;
  folder = mkdtempSync(path.join(tmpdir(), "jobs-"));
  env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder };
  garblet = await import(path.join(PARTY, "garblet.js"));
  page = await garblet.generateIdentity();
  command("keygen", at("own.pem"));
  native = command("id", at("own.pem")).trim();
});
after(() => folder && rmSync(folder, { recursive: true, force: true }));

const at = (name) => path.join(folder, name);
const read = (name) => readFileSync(at(name), "utf8");
const command = (...words) => execFileSync(GARBLET, words, { encoding: "utf8", env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });

/** The message and the hint of the command when it refuses. */
function refusal(...words) {
  const { status, stderr } = spawnSync(GARBLET, words, { encoding: "utf8", env, cwd: folder });
  assert.notEqual(status, 0, words.join(" "));
  return told(/^error: (.*)$/m.exec(stderr)[1], /^hint: (.*)$/m.exec(stderr)?.[1]);
}

const told = (message, hint) => ({ message, hint });
const caught = (promise) => promise.then((value) => assert.fail(`expected an error, got ${JSON.stringify(value)}`), (error) => error);
const failed = async (promise) => {
  const { message, hint } = await caught(promise);
  return told(message, hint);
};

/** The hint for a protocol that a page does not have. */
const LACKING = "the other protocols need threads or a disk: take part with the command, if it has this one";

/** Writes a job of the command and the page, and returns it as the page takes it. */
function job(name, { program = PROGRAM, protocol = "yao", parties = [native, page.fingerprint], words = [] } = {}) {
  rmSync(at(`${name}.toml`), { force: true });
  const who = ["alice", "bob"].map((name, party) => `--party=${name}=${parties[party]}`);
  command("job", "new", program, "--protocol", protocol, ...who, "--name", name, "--out", at(`${name}.toml`), ...words);
  return { name: `${name}.toml`, text: read(`${name}.toml`) };
}

/** The command, which waits for the page under a job, as party 0. */
async function waiting(job, input = { alice: 5_000_000 }, ...more) {
  writeFileSync(at("input.json"), JSON.stringify(input));
  const words = ["run", "--job", at(job.name), "--identity", at("own.pem"), "--input", `0=${at("input.json")}`, "--receipts", at("native.jsonl"), "--listen", "ws://127.0.0.1:0", "--timeout", "20s", ...more];
  const child = spawn(GARBLET, words, { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  let out = "";
  child.stdout.on("data", (text) => (out += text));
  const ended = once(child, "close").then(([status]) => ({ status, out, said }));
  const lines = createInterface({ input: child.stderr });
  const port = await new Promise((resolve, reject) => {
    lines.on("line", (line) => {
      said += `${line}\n`;
      const found = /listening on .*:(\d+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on("exit", () => reject(new Error(said)));
  });
  return { url: `ws://127.0.0.1:${port}`, ended };
}

const source = { source: SOURCE };
const under = (job, url, more) => ({ job, program: source, inputs: { bob: 3_000_000 }, identity: page.pem, url, timeoutMs: 20_000, ...more });

tried("a job says to a page what it says to the command", async () => {
  const richer = job("richer");
  const said = await garblet.checkJob({ job: richer, program: source, identity: page.pem });
  const shown = JSON.parse(command("job", "check", at("richer.toml"), "--json"));
  assert.deepEqual([said.name, said.digest, said.fields], [shown.name, shown.job, shown.fields]);
  assert.deepEqual(said.parties, shown.parties.map(({ name, fingerprint, signed }) => ({ name, fingerprint, signed, wrong: null })));
  assert.deepEqual([said.party, said.protocol, said.adversary, said.notes], [1, "yao", "semi-honest", []]);
  assert.deepEqual(said.program.inputs.map(({ name, owner }) => [name, owner]), [["alice", 0], ["bob", 1]]);
  assert.deepEqual((await garblet.checkJob({ job: richer.text, program: source })).party, null);
  // A text of any layout, and a program of the library, which needs no text.
  const library = job("sums", { program: "lib:millionaires(8)", words: ["--to", "alice_richer=1"] });
  const sums = await garblet.checkJob({ job: library.text.replace("format = 1\n", "# said\n"), identity: page.pem });
  assert.equal(sums.digest, JSON.parse(command("job", "show", at("sums.toml"), "--json")).job);
  assert.deepEqual(sums.program.outputs[0].recipients, [1]);
  // What version 0.1.0 wrote, with a program in the binary form.
  const golden = { text: readFileSync(path.join(GOLDEN, "job.toml"), "utf8"), signatures: readFileSync(path.join(GOLDEN, "job.toml.signatures"), "utf8") };
  const old = await garblet.checkJob({ job: golden, program: { source: readFileSync(path.join(GOLDEN, "program.gbc")) } });
  assert.deepEqual(old.parties.map(({ name, signed }) => [name, signed]), [["alice", true], ["bob", true]]);
  assert.equal(await garblet.verifyJob(golden), old.digest);
});

tried("what looks harmless and is not is noted", async () => {
  writeFileSync(at("leak.garble.rs"), "pub fn main(alice: u8, bob: u8) -> u8 { bob }\n");
  const leak = job("leak", { program: at("leak.garble.rs") });
  const odd = { ...leak, text: leak.text.replace('name = "bob"', 'name = "b\\u043eb"') };
  const { notes } = await garblet.checkJob({ job: odd, program: { source: read("leak.garble.rs") } });
  assert.match(notes[0], /^warning: the name `b.b` of party 1 is b\\u\{43e\}b/);
  assert.equal(notes[1], "note: bob reaches out0 unchanged; alice is not used");
});

tried("what the command refuses, a page refuses with the same words", async () => {
  const richer = job("richer");
  const changes = [
    [/name = "richer"/, "name = 5"],
    [/name = "richer"/, 'name = "rich\\u001b[2Jer"'],
    [/protocol = "yao"/, 'protocol = "yoa"'],
    [/panics = true/, "panic = true"],
    [/format = 1/, "format = 2"],
    [/digest = "../, 'digest = "zz'],
    [/name = "bob"/, 'name = "alice"'],
  ];
  for (const [from, to] of changes) {
    const text = richer.text.replace(from, to);
    assert.notEqual(text, richer.text);
    writeFileSync(at("wrong.toml"), text);
    const expected = refusal("job", "show", "wrong.toml");
    const got = await failed(garblet.checkJob({ job: { name: "wrong.toml", text }, program: source }));
    // The command has more protocols.
    const page = told("wrong.toml: protocol: a page has yao, components or gmw, not `yoa`", LACKING);
    assert.deepEqual(got, to.includes("yoa") ? page : expected);
  }
  const other = SOURCE.replace("a > b", "a < b").replace("alice > bob", "alice < bob");
  assert.notEqual(other, SOURCE);
  writeFileSync(at("other.garble.rs"), other);
  writeFileSync(at("wrong.toml"), richer.text.replace(/program = ".*"/, 'program = "other.garble.rs"'));
  const expected = refusal("job", "check", "wrong.toml");
  assert.deepEqual(await failed(garblet.checkJob({ job: { name: "wrong.toml", text: read("wrong.toml") }, program: { source: other } })), expected);
  const trust = { alice: page.fingerprint };
  const { message } = await failed(garblet.checkJob({ job: richer, program: source, trust }));
  assert.equal(message, `richer.toml: party 0: alice is trusted here as ${page.fingerprint}, but the job has ${native}`);
  const long = { ...richer, text: `${richer.text}#${" ".repeat(1 << 20)}` };
  assert.match((await caught(garblet.checkJob({ job: long, program: source }))).message, /^richer.toml: \d+ bytes, expected at most 1048576$/);
  assert.match((await caught(garblet.checkJob({ job: richer }))).message, /^richer.toml: program: the content of .*millionaires.garble.rs is missing$/);
});

tried("a page and the command sign the same job", async () => {
  const richer = job("richer");
  rmSync(at("richer.toml.signatures"), { force: true });
  assert.deepEqual(await failed(garblet.verifyJob(richer)), refusal("job", "verify", "richer.toml"));
  const signed = await garblet.signJob({ job: richer, program: source, identity: page.pem });
  assert.equal(signed.party, "bob");
  writeFileSync(at("richer.toml.signatures"), signed.signatures);
  assert.deepEqual(await failed(garblet.verifyJob({ ...richer, signatures: signed.signatures })), refusal("job", "verify", "richer.toml"));
  command("job", "sign", at("richer.toml"), "--identity", at("own.pem"));
  const both = { ...richer, signatures: read("richer.toml.signatures") };
  assert.equal(await garblet.verifyJob(both), signed.digest);
  assert.match(command("job", "verify", at("richer.toml")), /all 2 parties have signed/);
  // Signing again replaces only one's own.
  const again = await garblet.signJob({ job: both, program: source, identity: page.pem });
  assert.equal(await garblet.verifyJob({ ...richer, signatures: again.signatures }), signed.digest);
  const stranger = await garblet.generateIdentity();
  assert.match((await caught(garblet.signJob({ job: richer, program: source, identity: stranger.pem }))).message, /^richer.toml: our identity .* is not one of its parties: alice /);
  const forged = signed.signatures.replace(/signature = ".{8}/, (found) => `${found.slice(0, -8)}00000000`);
  writeFileSync(at("richer.toml.signatures"), forged);
  assert.deepEqual(await failed(garblet.verifyJob({ ...richer, signatures: forged })), refusal("job", "verify", "richer.toml"));
});

tried("runs under a job leave receipts that fit those of the command", async () => {
  rmSync(at("native.jsonl"), { force: true });
  const richer = job("richer");
  let log;
  const digests = [];
  for (const bob of [3_000_000, 7_000_000]) {
    const peer = await waiting(richer);
    const report = await garblet.run(under(richer, peer.url, { inputs: { bob }, receipts: log }));
    const { status, out, said } = await peer.ended;
    assert.equal(status, 0, said);
    assert.equal(report.outputs.out0, out.includes("true"));
    assert.equal(report.outputs.out0, bob < 5_000_000);
    assert.equal(report.closing, null);
    log = report.receipts;
    digests.push(report.receipt.digest);
    assert.deepEqual(report.receipt.ended, { ok: { closing: null } });
    assert.equal(report.receipt.peers[0].name, "alice");
    assert.equal("outputs" in report.receipt, false);
    assert.ok(Math.abs(Date.parse(report.receipt.time) - Date.now()) < 60_000, report.receipt.time);
  }
  writeFileSync(at("page.jsonl"), log);
  assert.equal(command("receipts", "verify", at("page.jsonl"), "--holds", digests[0]), `2 receipts, the last is ${digests[1]}\n`);
  const read = await garblet.readReceipts(log, { holds: digests });
  assert.deepEqual(read.notes, []);
  assert.deepEqual(read.receipts, JSON.parse(command("receipts", "show", at("page.jsonl"), "--json")).receipts);
  const shown = command("receipts", "compare", at("page.jsonl"), at("native.jsonl"));
  assert.equal(shown, "ours 1 and theirs 1: the same run; each received what the other sent\nours 2 and theirs 2: the same run; each received what the other sent\n");
  const theirs = readFileSync(at("native.jsonl"), "utf8");
  const compared = await garblet.compareReceipts(log, theirs);
  assert.deepEqual(compared.alike.map(([own, other]) => [own.number, other.number]), [[1, 1], [2, 2]]);
  assert.deepEqual([compared.onlyOurs, compared.onlyTheirs, compared.differs], [[], [], false]);
  assert.equal((await garblet.compareReceipts(log.split("\n")[0], theirs)).differs, true);
  // Nothing of what was given or learned is in a receipt.
  for (const line of log.trim().split("\n")) assert.doesNotMatch(line, /[37]000000\b|out0|PRIVATE/);
  // A log that was changed, cut at its end, or is none.
  writeFileSync(at("changed.jsonl"), log.replace('"party":1', '"party":0'));
  assert.equal((await caught(garblet.readReceipts(readFileSync(at("changed.jsonl"), "utf8")))).message.replace("the log", at("changed.jsonl")), refusal("receipts", "verify", at("changed.jsonl")).message);
  assert.match((await caught(garblet.readReceipts(log.split("\n")[0], { holds: digests }))).message, /no receipt has the digest/);
  assert.match((await caught(garblet.run(under(richer, "ws://127.0.0.1:1", { receipts: "none" })))).message, /^receipts:1: not a receipt after receipt 0/);
});

tried("with gmw too, and with keys that are texts", async () => {
  writeFileSync(at("gmw.jsonl"), "");
  const gmw = job("gmw", { protocol: "gmw" });
  const peers = ["1", "2"].map((port) => `[[party]]\naddress = "127.0.0.1:${port}"\n`).join("");
  writeFileSync(at("peers.toml"), peers);
  const peer = await waiting(gmw, undefined, "--peers", at("peers.toml"));
  const report = await garblet.run(under(gmw, peer.url));
  const { status, said } = await peer.ended;
  assert.deepEqual([status, report.outputs.out0], [0, true], said);
  const theirs = readFileSync(at("native.jsonl"), "utf8");
  assert.equal((await garblet.compareReceipts(report.receipts, theirs)).alike.length, 1);

  const common = job("common", { program: "lib:intersection(4,4,64,0,0)", words: ["--hash-keys", "email"] });
  const other = await waiting(common, { a: ["anna@example.org", "bert@example.org"] }, "--sort");
  const inputs = { b: ["Bert@example.org "] };
  const found = await garblet.run(under(common, other.url, { program: undefined, inputs }));
  const ended = await other.ended;
  assert.equal(ended.status, 0, ended.said);
  assert.equal(found.outputs.rows.length, 1);
});

tried("a run without a result has its receipt, and parties with other jobs refuse each other", async () => {
  rmSync(at("native.jsonl"), { force: true });
  const [richer, poorer] = [job("richer"), job("poorer", { words: ["--to", "out0=0"] })];
  const peer = await waiting(poorer);
  const refused = await caught(garblet.run(under(richer, peer.url)));
  const { status, said } = await peer.ended;
  assert.equal(status, 1);
  const digest = async (job) => (await garblet.checkJob({ job, program: source })).digest;
  const differs = `job: ours ${await digest(richer)}, theirs ${await digest(poorer)}`;
  assert.ok(refused.message.includes(differs), refused.message);
  assert.ok(refused.message.includes("job name: ours richer, theirs poorer"), refused.message);
  assert.match(refused.hint, /^run under the same job, the page with `job` and the peer with --job/);
  assert.match(said, /job name: ours poorer, theirs richer/);
  assert.equal(refused.receipt.ended.failed.class, "disagreement");
  assert.equal(refused.receipt.ended.failed.message, refused.message);
  assert.deepEqual(refused.receipt.peers, [{ party: 0, name: "alice", fingerprint: native }]);

  // The next one follows it in the log; nobody is met.
  const unmet = await caught(garblet.run(under(richer, "ws://127.0.0.1:1", { receipts: refused.receipts, timeoutMs: 1_000 })));
  assert.deepEqual([unmet.receipt.number, unmet.receipt.previous, unmet.receipt.peers], [2, refused.receipt.digest, []]);
  assert.equal(unmet.receipt.ended.failed.message, unmet.message);
  writeFileSync(at("page.jsonl"), unmet.receipts);
  assert.match(command("receipts", "verify", at("page.jsonl")), /^2 receipts/);
  assert.equal((await garblet.compareReceipts(unmet.receipts, read("native.jsonl"))).differs, false);

  // A peer without a job, and a page without one.
  const without = await caught(garblet.run({ ...under(undefined, (await waiting(richer)).url), party: 1, trust: { alice: native } }));
  assert.match(without.message, /job/);
  assert.deepEqual([without.receipt, without.receipts], [undefined, undefined]);
});

tried("what a job says is not said beside it", async () => {
  const richer = job("richer");
  const given = under(richer, "ws://127.0.0.1:1");
  for (const [more, name] of [[{ protocol: "yao" }, "protocol"], [{ params: {} }, "params"], [{ program: { ...source, panics: false } }, "panics"], [{ program: { library: "lib:aes128" } }, "library"]]) {
    assert.equal((await caught(garblet.run({ ...given, ...more }))).message, `${name}: the job says it, or does not allow it`);
  }
  const said = async (more) => (await caught(garblet.run({ ...given, ...more }))).message;
  const stranger = await garblet.generateIdentity();
  assert.match(await said({ identity: stranger.pem }), /^richer.toml: our identity .* is not one of its parties: alice .*, bob /);
  assert.equal(await said({ party: 0 }), `party 0: our identity ${page.fingerprint} is party 1 of richer.toml, bob`);
  assert.equal(await said({ job: 5 }), "job: expected an object, got a value of type number");
  assert.equal(await said({ job: {} }), "job: expected a string, got a value of type undefined");
  assert.equal(await said({ receipts: 5 }), "receipts: expected a string, got a value of type number");
  const three = `${richer.text}\n[[party]]\nname = "carol"\nfingerprint = "${stranger.fingerprint}"\n`;
  assert.equal(await said({ job: three }), "job: the job has 3 parties, expected 2");
});

tried("a job is refused when it is read if no run under it can begin", async () => {
  const checked = async (text, program = source) => (await failed(garblet.checkJob({ job: { name: "job.toml", text }, program, identity: page.pem }))).message;
  const stranger = await garblet.generateIdentity();
  const three = `${job("richer").text}\n[[party]]\nname = "carol"\nfingerprint = "${stranger.fingerprint}"\n`;
  assert.equal(await checked(three), "the job has 3 parties: expected 2, the number for yao");
  // By a protocol that has any number of parties, but not in a page.
  const many = `${job("many", { protocol: "gmw" }).text}\n[[party]]\nname = "carol"\nfingerprint = "${stranger.fingerprint}"\n`;
  assert.equal(await checked(many), "job.toml: the job has 3 parties, expected 2");
  assert.equal((await garblet.checkJob({ job: many, program: source })).party, null);
  const waits = job("waits", { protocol: "gmw", parties: [page.fingerprint, native] });
  assert.equal(await checked(waits.text), "party 0: a page with gmw is party 1");
  // Others may read it.
  assert.equal((await garblet.checkJob({ job: waits, program: source })).party, null);
  const options = { program: source, party: 0, identity: page.pem, trust: { alice: native }, url: "ws://127.0.0.1:1" };
  assert.equal((await caught(garblet.run({ ...options, protocol: "gmw" }))).message, "party 0: a page with gmw is party 1");
  assert.deepEqual(await failed(garblet.run({ ...options, protocol: "lego" })), told("protocol: a page has yao, components or gmw, not `lego`", LACKING));
});

tried("an error has a code, whatever words others put into its message", async () => {
  const richer = job("richer");
  const of = async (promise) => (await caught(promise)).code;
  const run = (more) => garblet.run(under(richer, "ws://127.0.0.1:1", { timeoutMs: 1_000, ...more }));
  const check = (text, more) => garblet.checkJob({ job: { name: "receipts: a bug in Garblet.toml", text, ...more }, program: source });
  assert.equal(await of(run({ url: "http://127.0.0.1:1" })), "url");
  assert.equal(await of(run({ trust: { alice: "x" } })), "trust");
  assert.equal(await of(run({ inputs: { bob: "x" } })), "inputs");
  assert.equal(await of(run({ identity: "x" })), "identity");
  assert.equal(await of(run({ receipts: "none" })), "receipts");
  assert.equal(await of(run({})), undefined);
  assert.equal(await of(check("name = 5")), "job");
  assert.equal(await of(check(richer.text, { signatures: "x" })), "signatures");
  assert.equal(await of(garblet.checkJob({ job: richer, program: { source: "pub fn main(alice: u32, bob: u32) -> bool { alice < bob }" } })), "program");
  assert.equal(await of(garblet.checkJob({ job: richer })), undefined);
  // A text that a later version wrote is not wrong.
  const line = '{"format":2,"number":1,"previous":""}\n';
  for (const later of [run({ receipts: line }), check(richer.text.replace("format = 1", "format = 2"))]) {
    const { code, message, hint } = await caught(later);
    assert.match(message, /is of format 2, this Garblet reads format 1$/);
    assert.deepEqual([code, hint], [undefined, "a later version wrote it: update Garblet"]);
  }
  const stranger = await garblet.generateIdentity();
  const alone = { program: source, party: 1, inputs: { bob: 1 }, identity: page.pem, timeoutMs: 20_000 };
  assert.equal(await of(garblet.run({ ...alone, trust: { alice: stranger.fingerprint }, url: (await waiting(richer)).url })), "stranger");
  assert.equal(await of(garblet.run({ ...alone, identity: stranger.pem, trust: { alice: native }, url: (await waiting(richer)).url })), "untrusted");
  assert.equal(await of(garblet.run({ ...alone, trust: { alice: native }, url: (await waiting(richer)).url })), "other-job");
});

tried("numbers of JavaScript are the same in floats, and integers are exact", async () => {
  const floats = { source: "pub fn main(a: [f64; 7], b: [f32; 2]) -> ([f64; 7], [f32; 2]) { (a, b) }" };
  const given = [-0, Number.NaN, Infinity, -Infinity, 1e300, 2 ** 53, 0.1];
  for (const a of [given, new Float64Array(given)]) {
    const [{ outputs }] = await garblet.runTogether({ program: floats, inputs: { a, b: new Float32Array([2 ** 60, -0]) } });
    const got = Object.values(outputs).flat(3).flatMap((part) => (typeof part === "object" ? Object.values(part).flat(3) : [part]));
    const expected = [-0, "NaN", "inf", "-inf", 1e300, 2 ** 53, 0.1, 2 ** 60, -0];
    assert.equal(got.length, expected.length, JSON.stringify(outputs));
    // Results have as few digits as read back the same in their type.
    got.forEach((value, at) => assert.ok(Object.is(at < 7 ? value : Math.fround(value), expected[at]), `${value} is not ${expected[at]}`));
  }
  const integers = { source: "pub fn main(a: [u64; 2], b: u8) -> u64 { a[0] }" };
  const refused = await failed(garblet.runTogether({ program: integers, inputs: { a: [1, 2 ** 60], b: 1 } }));
  assert.deepEqual(refused, told("a: expected an exact number, got an integer of 2^53 or more", "give a bigint, or a string of digits"));
  const [{ outputs }] = await garblet.runTogether({ program: integers, inputs: { a: [2n ** 60n, -0], b: 1 } });
  assert.deepEqual(Object.values(outputs), [String(2n ** 60n)]);
  assert.equal((await caught(garblet.describe({ source: "pub fn main(a: u8, b: u8) -> bool { a > b }", constants: { N: 2 ** 53 } }))).message, "N: expected an exact number, got an integer of 2^53 or more");
});

tried("a number is no text, where bytes may be one", async () => {
  const program = { source: "pub struct Who { at: f64, name: [u8; 3] }\npub fn main(a: [u8; 3], b: Who) -> ([u8; 3], Who) { (a, b) }" };
  const together = (a, b) => garblet.runTogether({ program, inputs: { a, b } });
  const who = { at: Number.NaN, name: "NaN" };
  const [{ outputs }] = await together("NaN", who);
  assert.deepEqual(JSON.stringify((await together(Uint8Array.of(78, 97, 78), who))[0].outputs), JSON.stringify(outputs));
  const hint = "give a text or the name of a variant as a string, and bytes as a Uint8Array or an array of integers";
  for (const number of [Number.NaN, Infinity, -Infinity, -0, 2 ** 60, 2n ** 63n]) {
    const first = await caught(together(number, who));
    assert.deepEqual([first.message, first.hint, first.code], ["input `a`: expected [u8; 3], got a number in place of a text", hint, "inputs"]);
    assert.match((await caught(together("abc", { at: 1, name: number }))).message, /^input `b`: expected \{at: f64, name: \[u8; 3\]\}, got a number in place of a text$/);
  }
  for (const number of [123, 123n, 0.5]) assert.match((await caught(together(number, who))).message, /^input `a`: expected \[u8; 3\], got a number/);
});

tried("options that the package does not have are refused by name", async () => {
  const richer = job("richer");
  const said = async (promise) => (await caught(promise)).message;
  assert.match(await said(garblet.verifyJob({ job: richer })), /^job: expected text, name, signatures, got "job"$/);
  assert.match(await said(garblet.checkJob({ job: { ...richer, signature: "" }, program: source })), /^job: .* got "signature"$/);
  assert.match(await said(garblet.checkJob({ job: richer, program: source, identify: page.pem })), /^options: .* got "identify"$/);
  assert.match(await said(garblet.run(under(richer, "ws://127.0.0.1:1", { timeout: 5 }))), /^options: .* got "timeout"$/);
  assert.match(await said(garblet.checkJob({ job: richer, program: source, identity: "" })), /^no identity: /);
  assert.match(await said(garblet.verifyJob(5)), /^job: expected an object, got a value of type number$/);
  assert.match(await said(garblet.compile("", { panic: false })), /^options: .* got "panic"$/);
  assert.match(await said(garblet.describe({ library: "lib:aes128" }, { signal: {} })), /^signal: expected an AbortSignal/);
  assert.match(await said(garblet.readReceipts("", { hold: [] })), /^options: expected holds, got "hold"$/);
  const wrong = new Error("not any more");
  const given = garblet.checkJob({ job: richer, program: source, signal: AbortSignal.abort(wrong) });
  assert.equal(await caught(given), wrong);
});

tried("an address is checked before the run, and no more of it than the host is in a message or a receipt", async () => {
  const richer = job("richer");
  for (const [url, expected] of [
    ["", "url: expected an address that begins with ws:// or wss://"],
    ["127.0.0.1:7700", "url: expected an address that begins with ws:// or wss://"],
    ["https://127.0.0.1/", "url: expected an address that begins with ws:// or wss://, got one that begins with https:"],
    ["ws://127.0.0.1/#token", "url: a WebSocket has no part behind a #"],
    [undefined, "url: expected a string, got a value of type undefined"],
  ]) {
    const refused = await caught(garblet.run(under(richer, url)));
    assert.deepEqual([refused.message, refused.receipt], [expected, undefined]);
  }
  const secret = "hunter2";
  for (const url of [`ws://127.0.0.1:1/${secret}?token=${secret}`, new URL(`ws://${secret}:${secret}@127.0.0.1:1/`)]) {
    const unmet = await caught(garblet.run(under(richer, url, { timeoutMs: 1_000 })));
    assert.match(unmet.message, /^ws:\/\/127\.0\.0\.1:1: /);
    assert.equal(unmet.receipts.includes(secret), false, unmet.receipts);
    assert.equal(`${unmet.message} ${unmet.hint}`.includes(secret), false);
  }
});

tried("a log with an incomplete receipt at its end is taken, and said to be", async () => {
  const richer = job("richer");
  const nobody = async (receipts) => caught(garblet.run(under(richer, "ws://127.0.0.1:1", { receipts, timeoutMs: 1_000 })));
  const whole = await nobody("");
  assert.deepEqual(whole.notes, []);
  const torn = `${whole.receipts}{"format":1,`;
  const next = await nobody(torn);
  assert.equal(next.notes.length, 1);
  assert.match(next.notes[0], /^receipts: \d+ bytes after receipt 1 are an incomplete receipt$/);
  const { receipts, notes } = await garblet.readReceipts(torn);
  assert.deepEqual([receipts.length, notes.length], [1, 1]);
  const compared = await garblet.compareReceipts(next.receipts, torn);
  assert.match(compared.notes[0], /^theirs: .* incomplete receipt$/);
  assert.equal((await garblet.readReceipts(next.receipts)).receipts.length, 2);
});

tried("a browser keeps what is named, or the caller is told", async () => {
  const stored = new Map();
  let isFull = false;
  const setItem = (key, value) => {
    if (isFull) throw new Error("quota exceeded");
    stored.set(key, value);
  };
  globalThis.localStorage = { setItem, getItem: (key) => stored.get(key) ?? null, removeItem: (key) => stored.delete(key) };
  try {
    garblet.keep({ identity: "a", receipts: "b" });
    assert.deepEqual(garblet.kept(), { identity: "a", receipts: "b" });
    for (const [values, expected] of [[{ receipt: "c" }, /^values: expected identity, receipts, got "receipt"$/], [{ identity: "c", receipts: undefined }, /^receipts: expected a string/]]) {
      assert.throws(() => garblet.keep(values), { name: "GarbletError", message: expected });
    }
    isFull = true;
    assert.throws(() => garblet.keep({ receipts: "c" }), { name: "GarbletError", message: "receipts: the browser does not keep it: quota exceeded", hint: /save the log as a file/ });
    assert.deepEqual(garblet.kept(), { identity: "a", receipts: "b" }, "nothing was changed");
    garblet.forget("identity");
    assert.deepEqual(garblet.kept(), { identity: undefined, receipts: "b" });
    assert.throws(() => garblet.forget("receipt"), { message: 'forget: expected identity or receipts, got "receipt"' });
    garblet.forget();
    assert.deepEqual(garblet.kept(), { identity: undefined, receipts: undefined });
  } finally {
    delete globalThis.localStorage;
  }
  assert.throws(() => garblet.keep({ identity: "a" }), { name: "GarbletError" });
});

/** The examples of a page of documentation, as modules that call the package and meet peers at this port. */
async function examples(name, port) {
  const blocks = readFileSync(path.join(ROOT, name), "utf8").matchAll(/^```js\n([^]*?)^```$/gm);
  const modules = Array.from(blocks, async ([, text], number) => {
    const module = at(`example-${path.basename(name)}-${number}-${port}.mjs`);
    writeFileSync(module, text.replace(/"(\.\/garblet\.js|garblet)"/, JSON.stringify(path.join(PARTY, "garblet.js"))).replace(":7700", `:${port}`));
    return () => import(module);
  });
  return Promise.all(modules);
}

tried("the examples of the book and of the package run as they are written", async () => {
  const stored = new Map();
  let isFull = false;
  const setItem = (key, value) => {
    if (isFull) throw new Error("quota exceeded");
    stored.set(key, value);
  };
  const locked = new Set();
  globalThis.localStorage = { setItem, getItem: (key) => stored.get(key) ?? null };
  globalThis.confirm = (said) => said.includes('"protocol": "yao"');
  Object.defineProperty(globalThis, "navigator", { value: { locks: { request: (name, work) => (locked.add(name), work()) } }, configurable: true });
  const log = console.log;
  console.log = () => {};
  try {
    for (const name of ["docs/src/pages.md", "web/party/README.md"]) {
      const peer = await prompted(name);
      assert.equal(peer.status, 0, peer.said);
      assert.equal(peer.out.trim(), "out0 = true");
    }
    const richer = job("richer");
    const files = [new File([richer.text], "richer.toml"), new File([SOURCE], "richer.garble.rs")];
    const url = async () => (await waiting(richer)).url.split(":").at(-1);
    const [, agreeing, receipts] = await examples("docs/src/pages.md", await url());
    const { read, agree, compute } = await agreeing();
    const agreed = await read(...files);
    assert.equal(agreed.job.name, "richer.toml");
    assert.match(await agree(agreed, page.pem), /party = "bob"/);
    assert.equal((await compute(agreed, { bob: 3_000_000 }, page.pem)).outputs.out0, true);
    const { recorded, different } = await receipts();
    rmSync(at("native.jsonl"), { force: true });
    const options = { ...agreed, inputs: { bob: 3_000_000 }, identity: page.pem };
    const peer = await waiting(richer);
    assert.equal((await recorded({ ...options, url: peer.url })).outputs.out0, true);
    await peer.ended;
    await assert.rejects(recorded({ ...options, url: "ws://127.0.0.1:1", timeoutMs: 1_000 }), { name: "GarbletError" });
    assert.equal((await garblet.readReceipts(garblet.kept().receipts)).receipts.length, 2);
    assert.deepEqual(await different(readFileSync(at("native.jsonl"), "utf8")), []);
    // Without room the result and the log are there all the same.
    isFull = true;
    const next = await waiting(richer);
    const unkept = await recorded({ ...options, url: next.url });
    await next.ended;
    assert.equal(unkept.outputs.out0, true);
    assert.match(unkept.unkept.message, /^receipts: the browser does not keep it/);
    assert.equal((await garblet.readReceipts(unkept.receipts)).receipts.length, 3);
    assert.equal((await garblet.readReceipts(garblet.kept().receipts)).receipts.length, 2);
    isFull = false;
    assert.deepEqual([...locked], ["garblet-receipts"]);
    const [, taking] = await examples("web/party/README.md", await url());
    const { take } = await taking();
    assert.equal((await take(...files, { bob: 7_000_000 }, page.pem)).outputs.out0, false);
  } finally {
    console.log = log;
    for (const name of ["localStorage", "confirm", "prompt", "navigator"]) delete globalThis[name];
  }
});

/** Runs the first example of a page of documentation. Its prompt starts the peer, whose end is returned. */
async function prompted(name) {
  const [port] = await freePorts(1);
  let ended;
  writeFileSync(at("input.json"), '{"alice": 5000000}');
  globalThis.prompt = (text) => {
    const own = /--peer (\S+),/.exec(text)[1];
    const words = ["run", PROGRAM, "--party", "0", "--input", `0=${at("input.json")}`, "--identity", at("own.pem"), "--peer", own, "--listen", `ws://127.0.0.1:${port}`, "--timeout", "20s"];
    const child = spawn(GARBLET, words, { env, cwd: folder, stdio: ["ignore", ...["out", "said"].map((name) => openSync(at(name), "w"))] });
    ended = once(child, "close").then(([status]) => ({ status, out: read("out"), said: read("said") }));
    // A prompt returns once the person has done what it says.
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let left = 500; !read("said").includes("listening on") && left > 0; left -= 1) Atomics.wait(pause, 0, 0, 20);
    return native;
  };
  const [first] = await examples(name, port);
  await first();
  return ended;
}
