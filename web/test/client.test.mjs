// The package against messages that other code has made (`vectors/outsourced_client.json`), and its visits against servers that are
// none. `cargo xtask web` runs it: node --test client.test.mjs, with PACKAGE and VECTORS in the environment.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

/** A test that does not end is ended. */
const LIMIT = { timeout: 120_000 };

const { PACKAGE, VECTORS } = process.env;
const module = (name) => import(pathToFileURL(path.join(PACKAGE, name)).href);
const { Invitation, Job, Receipt, Visit, bitsOf, fromBase64, joinBits, load, numberOf, resume, toBase64, visit } =
  await module("garblet-client.js");
const wasm = await module("garblet.js");
await load(readFileSync(path.join(PACKAGE, "garblet_bg.wasm")));
const cases = JSON.parse(readFileSync(VECTORS, "utf8")).visits;

const hex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const unpacked = (text, count) => Uint8Array.from({ length: count }, (_, at) => (hex(text)[at >> 3] >> (at & 7)) & 1);

/** The options with which a visit of a case begins. */
function given(known) {
  return {
    job: Job.decode(hex(known.job)),
    generator: Invitation.parse(known.invitation_generator),
    cloud: Invitation.parse(known.invitation_cloud),
    receipt: Receipt.decode(hex(known.receipt)),
    inputs: unpacked(known.input, known.inputs),
  };
}

function begin(known) {
  const { job, generator, cloud, receipt, inputs } = given(known);
  return Visit.begin(job, generator, cloud, receipt, inputs, hex(known.seed));
}

test("messages are those of native code, byte for byte", LIMIT, () => {
  assert.ok(cases.length > 0);
  for (const known of cases) {
    const begun = begin(known);
    assert.deepEqual(begun.toGenerator, hex(known.to_generator));
    assert.deepEqual(begun.toCloud, hex(known.to_cloud));
    assert.deepEqual(begun.receipt.encode(), hex(known.kept_receipt));
    assert.deepEqual(begun.save(), hex(known.pending));
    assert.equal(begun.hear("cloud", Uint8Array.of(1, 2)), "waiting");
    assert.equal(begun.hear("cloud", hex(known.from_cloud)), "answer");
    assert.equal(begun.hear("generator", hex(known.from_generator)), "answer");
    const outcome = begun.open();
    assert.deepEqual(outcome.output, unpacked(known.output, known.outputs));
    assert.deepEqual(outcome.receipt.encode(), hex(known.next_receipt));
    assert.throws(() => begun.open(), { message: "the visit is over", hint: "begin another one" });
  }
});

test("refusals tell the version of the state", LIMIT, () => {
  for (const known of cases) {
    const begun = begin(known);
    assert.equal(begun.hear("cloud", hex(known.refused_cloud)), "no-answer");
    assert.equal(begun.hear("generator", hex(known.refused_generator)), "no-answer");
    assert.throws(() => begun.open(), (error) => error.stateVersion === 7n && error.isNeverRun && /another version, 7/.test(error.message));
  }
});

test("what each server said is there for programs, and whether it is proven", LIMIT, () => {
  const known = cases[0];
  const replies = (...frames) => {
    const begun = begin(known);
    for (const [server, frame] of frames) begun.hear(server, frame);
    try {
      return begun.open();
    } catch (error) {
      return error.replies;
    }
  };
  const said = (code, isProven) => ({ code, isProven });
  const sealed = replies(["generator", hex(known.refused_generator)], ["cloud", hex(known.refused_cloud)]);
  assert.deepEqual(sealed, { generator: said("state-version", true), cloud: said("state-version", true) });
  // State closed, by whoever sent it.
  const closed = Uint8Array.of(1, 4, 9);
  assert.deepEqual(replies(["generator", closed], ["cloud", Uint8Array.of(1, 2)]), { generator: said("state-closed", false), cloud: said("silent", false) });
  assert.deepEqual(replies(["generator", hex(known.from_generator)], ["cloud", Uint8Array.of(9)]), { generator: said("answer", true), cloud: said("invalid", false) });
});

test("jobs and invitations say what is in them", LIMIT, () => {
  const known = cases[1];
  const { job, generator, cloud } = given(known);
  assert.equal(generator.serverName, "the generator");
  assert.equal(generator.clientName, known.name);
  assert.deepEqual(generator.identity, cloud.identity);
  assert.deepEqual(job.digest, hex(known.digest));
  assert.deepEqual(job.encode(), hex(known.job));
  assert.equal(job.label, "a label");
  assert.equal(job.clientNumber(cloud.identity), 1);
  assert.equal(job.clientNumber(new Uint8Array(32)), undefined);
  assert.deepEqual([job.state.name, job.state.version], ["ledger", 5n]);
  assert.equal(job.atVersion("ledger", 8n).state.version, 9n);
  const ports = (ports) => ports.map(({ name, type, width }) => [name, type, width]);
  assert.deepEqual(ports(job.inputsOf(generator)), [["x", `bits${known.inputs}`, known.inputs]]);
  assert.deepEqual(ports(job.outputsOf(generator)), [["y", `bits${known.outputs}`, known.outputs]]);
});

test("errors are errors of JavaScript, with a hint", LIMIT, () => {
  const known = cases[0];
  const { job, generator, cloud, receipt, inputs } = given(known);
  const seed = hex(known.seed);
  const wrong = [
    () => Invitation.parse("hello"),
    () => Job.decode(Uint8Array.of(1, 2, 3)),
    () => Receipt.decode(Uint8Array.of(1)),
    () => job.clientNumber(Uint8Array.of(1)),
    () => Visit.begin(job, generator, cloud, receipt, inputs, seed.slice(1)),
    () => Visit.begin(job, generator, cloud, receipt, joinBits(inputs, inputs), seed),
    () => Visit.begin(job, generator, cloud, receipt, inputs.map(() => 2), seed),
    () => Visit.begin(job, cloud, generator, receipt, inputs, seed),
    () => Visit.begin(job, generator, cloud, Receipt.first("another"), inputs, seed),
    () => Visit.resume(Uint8Array.of(1), receipt, inputs, inputs, generator, cloud),
    () => Visit.resume(begin(known).save(), receipt, inputs, inputs, generator, cloud),
    () => begin(known).hear("client", Uint8Array.of(1, 2)),
    () => begin(known).open(),
  ];
  for (const call of wrong) {
    assert.throws(call, (error) => error instanceof Error && error.message.length > 0 && error.hint.length > 0);
  }
});

test("a receipt counts on from another number, and never goes back", LIMIT, () => {
  const first = Receipt.first("ledger");
  const later = first.withCounter(2n ** 40n);
  assert.deepEqual([first.counter, later.counter], [0n, 2n ** 40n]);
  assert.deepEqual(later.withCounter(7n).encode(), later.encode());
  const known = cases[1];
  const { job, generator, cloud, receipt, inputs } = given(known);
  const begun = Visit.begin(job, generator, cloud, receipt.withCounter(2n ** 40n), inputs, hex(known.seed));
  assert.equal(begun.receipt.counter, 2n ** 40n + 1n);
});

test("numbers, bits and texts go over into each other", LIMIT, () => {
  assert.deepEqual(bitsOf(5, 4), Uint8Array.of(1, 0, 1, 0));
  assert.deepEqual(bitsOf(-1n, 3), Uint8Array.of(1, 1, 1));
  assert.equal(numberOf(bitsOf(2n ** 70n + 3n, 80)), 2n ** 70n + 3n);
  assert.deepEqual(numberOf(bitsOf(255, 8)), numberOf(bitsOf(-1, 8)));
  assert.deepEqual([bitsOf(1, 1), bitsOf(-128, 8), bitsOf(-0, 1)], [Uint8Array.of(1), Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1), Uint8Array.of(0)]);
  assert.deepEqual(joinBits([1], Uint8Array.of(0, 1)), Uint8Array.of(1, 0, 1));
  const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
  assert.deepEqual(fromBase64(toBase64(bytes)), bytes);
});

test("what bits would cut off or round is refused, in words without the value", LIMIT, () => {
  const refused = [
    [() => bitsOf(300, 8), /^value: expected an integer from -2\^7 to 2\^8 - 1, got one out of range$/],
    [() => bitsOf(-129n, 8), /out of range$/],
    [() => bitsOf(2, 1), /out of range$/],
    [() => bitsOf(2 ** 53 + 2, 64), /^value: expected an exact integer, got a number of 2\^53 or more$/],
    [() => bitsOf(1.5, 8), /^value: expected an integer, got a number that is none$/],
    [() => bitsOf(Number.NaN, 8), /^value: expected an integer/],
    [() => bitsOf("5", 8), /^value: expected a number or a bigint, got a value of type string$/],
    [() => bitsOf(0, 0), /^width: /],
    [() => bitsOf(5, 1.5), /^width: /],
    [() => joinBits([0, 256]), /^bit 1: expected 0 or 1, got another value$/],
    [() => joinBits([1], [Number.NaN]), /^bit 1: /],
  ];
  for (const [call, expected] of refused) {
    assert.throws(call, ({ message, hint }) => {
      assert.match(message, expected);
      assert.doesNotMatch(`${message} ${hint}`, /300|129|256|1\.5|9007199254740994|"5"/);
      return hint.length > 0;
    });
  }
});

// Visits over WebSockets. A server is a function that gets a way to speak, and the frame that it was sent.

/** A class of WebSockets that lead to these functions, by address. */
function sockets(servers) {
  return class {
    constructor(url) {
      this.url = url;
      setTimeout(() => this.onopen?.({}));
    }
    send(frame) {
      const speak = (bytes) => setTimeout(() => this.onmessage?.({ data: bytes.buffer ?? bytes }));
      const leave = (code) => setTimeout(() => this.onclose?.({ code }));
      servers[this.url]?.({ speak, leave }, Uint8Array.from(frame));
    }
    close() {}
  };
}

/** Options of a visit of a case; everything that is kept is pushed to a list. */
function options(known, servers, more) {
  const { job, generator, cloud, receipt, inputs } = given(known);
  const ends = { generator: { url: "wss://g/", invitation: generator }, cloud: { url: "wss://c/", invitation: cloud } };
  const stored = [];
  const keep = async (kept) => void stored.push(kept);
  return { ...ends, job, receipt, inputs, keep, stored, WebSocket: sockets(servers), graceMs: 30, ...more };
}

/** Lets the page draw the seed of a case. */
function drawing(known) {
  const getRandomValues = (bytes) => (bytes.set(hex(known.seed)), bytes);
  Object.defineProperty(globalThis, "crypto", { value: { getRandomValues }, configurable: true });
}

const WAITING = Uint8Array.of(1, 2);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Servers that answer as in a case, after signs of life. */
function honest(known, life = 0) {
  const server = (expected, answer) => async ({ speak }, frame) => {
    assert.deepEqual(frame, hex(expected));
    for (let signs = 0; signs < life; signs += 1) {
      await pause(25);
      speak(WAITING);
    }
    speak(hex(answer));
  };
  return { "wss://g/": server(known.to_generator, known.from_generator), "wss://c/": server(known.to_cloud, known.from_cloud) };
}

test("a visit ends in its output, and everything was kept before", LIMIT, async () => {
  for (const known of cases) {
    drawing(known);
    const given = options(known, honest(known));
    const { output, receipt } = await visit(given);
    assert.deepEqual(output, unpacked(known.output, known.outputs));
    assert.deepEqual(receipt.encode(), hex(known.next_receipt));
    assert.equal(given.stored.length, 1);
    const kept = given.stored[0];
    assert.deepEqual(kept.receipt, hex(known.kept_receipt));
    // The page was closed, and goes on.
    const again = await resume(kept, options(known, honest(known)));
    assert.deepEqual(again.output, output);
  }
});

test("nothing is sent if it cannot be kept", LIMIT, async () => {
  drawing(cases[0]);
  const server = () => assert.fail("something was sent");
  const keep = () => Promise.reject(new Error("no room"));
  await assert.rejects(visit(options(cases[0], { "wss://g/": server, "wss://c/": server }, { keep })), /no room/);
});

test("signs of life begin the time anew, and silence ends it", LIMIT, async () => {
  const known = cases[0];
  drawing(known);
  const patient = options(known, honest(known, 50), { timeoutMs: 1_000 });
  assert.deepEqual((await visit(patient)).output, unpacked(known.output, known.outputs));
  const silent = { ...honest(known), "wss://c/": () => {} };
  await assert.rejects(visit(options(known, silent, { timeoutMs: 60 })), (error) => {
    assert.equal(error.message, "no output: the generator has an answer; the cloud has not answered");
    assert.equal(error.cause.message, "cloud, wss://c: nothing was heard for 0.06 s");
    return error.hint.length > 0 && error.cause.hint.length > 0;
  });
});

test("a server that only says that it is there is given up in the end", LIMIT, async () => {
  const known = cases[0];
  drawing(known);
  let ends = false;
  const cloud = async ({ speak }) => {
    for (; !ends; await pause(50)) speak(WAITING);
  };
  const given = options(known, { ...honest(known), "wss://c/": cloud }, { timeoutMs: 2_000, limitMs: 400 });
  const late = assert.rejects(visit(given), (error) => {
    assert.match(error.message, /the cloud has not answered/);
    assert.equal(error.cause.message, "cloud, wss://c: it had no answer within 0.4 s");
    return error.cause.hint.length > 0;
  });
  const first = await Promise.race([late.then(() => "given up"), pause(3_000).then(() => "still there")]);
  ends = true;
  assert.equal(first, "given up");
});

test("servers that send something else, too much or nothing are named", LIMIT, async () => {
  const known = cases[0];
  const wrong = [
    [({ speak }) => speak("text"), /has not answered/, /cloud, wss:\/\/c: it sent text/],
    [({ speak }) => speak(new Uint8Array(10_000)), /has not answered/, /it sent too much/],
    [({ leave }) => leave(1006), /has not answered/, /it closed the connection \(1006\)/],
    [({ speak }) => speak(Uint8Array.of(9)), /the cloud sent no answer: frame of a server, byte 0/, undefined],
    [({ speak }) => speak(Uint8Array.of(1, 4, 4)), /the cloud refuses, unless somebody in between sent this: the policy/, undefined],
    [({ speak }) => speak(hex(known.from_generator)), /the cloud sent no answer: sealed message/, undefined],
  ];
  for (const [cloud, message, cause] of wrong) {
    drawing(known);
    await assert.rejects(visit(options(known, { ...honest(known), "wss://c/": cloud })), (error) => {
      assert.match(error.message, message);
      if (cause === undefined) assert.equal(error.cause, undefined);
      else assert.match(error.cause.message, cause);
      return error.hint.length > 0;
    });
  }
});

test("no time that a page gives is too long for a timer", LIMIT, async () => {
  const known = cases[0];
  for (const ms of [Infinity, 2 ** 31]) {
    drawing(known);
    const given = options(known, honest(known, 3), { timeoutMs: ms, limitMs: ms });
    assert.deepEqual((await visit(given)).output, unpacked(known.output, known.outputs));
    // The other server comes later than the refusal, but within the grace.
    drawing(known);
    const late = { ...honest(known, 3), "wss://g/": ({ speak }) => speak(Uint8Array.of(1, 4, 4)) };
    await assert.rejects(visit(options(known, late, { timeoutMs: ms, limitMs: ms, graceMs: ms })), /the cloud has an answer/);
  }
});

test("messages name the host of an address and no more of it", LIMIT, async () => {
  const known = cases[0];
  const secret = "hunter2";
  // A browser that calls only one of the two.
  const choosy = class extends sockets(honest(known)) {
    constructor(url) {
      if (url !== "wss://g/") throw new SyntaxError(`the address '${url}' is invalid`);
      super(url);
    }
  };
  for (const [url, WebSocket, expected] of [
    [`wss://c.example:7/${secret}?token=${secret}`, sockets(honest(known)), "cloud, wss://c.example:7: nothing was heard for 0.06 s"],
    [`wss://${secret}:${secret}@c.example/`, choosy, "cloud, wss://c.example: the browser does not call this address: SyntaxError"],
    [secret, choosy, "cloud, an address that cannot be read: the browser does not call this address: SyntaxError"],
  ]) {
    drawing(known);
    const given = options(known, {}, { timeoutMs: 60, WebSocket });
    await assert.rejects(visit({ ...given, cloud: { ...given.cloud, url } }), ({ message, hint, cause }) => {
      assert.equal(cause.message, expected);
      return cause.hint.length > 0 && !`${message} ${hint} ${cause.hint}`.includes(secret);
    });
  }
});

test("who waits for a server is not held up when the other has none", LIMIT, async () => {
  const known = cases[0];
  drawing(known);
  const cloud = async ({ speak }) => {
    for (let signs = 0; signs < 100; signs += 1) {
      speak(WAITING);
      await pause(10);
    }
  };
  const generator = ({ speak }) => speak(Uint8Array.of(1, 4, 2));
  const begin = Date.now();
  await assert.rejects(visit(options(known, { "wss://g/": generator, "wss://c/": cloud })), /the cloud has not answered/);
  assert.ok(Date.now() - begin < 900);
});

test("a page that gives up is given up", LIMIT, async () => {
  drawing(cases[0]);
  const given = options(cases[0], {}, { signal: AbortSignal.timeout(20) });
  await assert.rejects(visit(given), { name: "TimeoutError" });
});

test("an input is dealt again for the version that servers tell", LIMIT, async () => {
  const known = cases[1];
  drawing(known);
  const jobs = [];
  const server = (first) => ({ speak }, frame) => {
    const length = new DataView(frame.buffer).getUint32(34, true);
    jobs.push(Job.decode(frame.slice(38, 38 + length)).state.version);
    // The second time, in the clear, for another reason.
    speak(jobs.length <= 2 ? hex(first) : Uint8Array.of(1, 4, 4));
  };
  const servers = { "wss://g/": server(known.refused_generator), "wss://c/": server(known.refused_cloud) };
  const given = options(known, servers);
  await assert.rejects(visit(given), /the policy does not allow it/);
  assert.deepEqual(jobs, [5n, 5n, 8n, 8n]);
  const counters = given.stored.map(({ receipt }) => Receipt.decode(receipt).counter);
  assert.equal(counters[1], counters[0] + 1n);
  // Once is enough for who says so.
  jobs.length = 0;
  await assert.rejects(visit(options(known, servers, { attempts: 1 })), (error) => error.stateVersion === 7n);
});

// The last one: after a bug the module is not to be used.
test("a bug is an error and holds nobody", LIMIT, async () => {
  const caught = (async () => wasm.panicForTest())();
  await assert.rejects(caught, (error) => /a bug in Garblet: .*on purpose/s.test(error.message) && error.hint.length > 0);
});
