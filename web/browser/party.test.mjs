// A page as a party, in headless Chromium, against `garblet run --listen ws://`. `cargo xtask web` runs it: node --test party.test.mjs, with PARTY (the
// package for npm) and GARBLET (the command) in the environment.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";

import { stop } from "./driver.mjs";
import { FOLDERS, ROOT, browser, children, empty, file, office, own, tried } from "./meeting.mjs";
import { site } from "./servers.mjs";

const { GARBLET } = process.env;
const MILLIONAIRES = path.join(ROOT, "examples/millionaires/millionaires.garble.rs");
const SOURCE = readFileSync(MILLIONAIRES, "utf8");
/** FIPS 197, appendix C.1. */
const AES = { key: "000102030405060708090a0b0c0d0e0f", block: "00112233445566778899aabbccddeeff", ciphertext: "69c4e0d86a7b0430d8cdb78070b4c55a" };

/** The native party: waits for the page. `report` is its report, with `error` if there is no result. */
async function native(program, { party, page, inputs, args = [], at = "ws://127.0.0.1:0", peer }) {
  const given = file(`input-${children.length}`, typeof inputs === "string" ? inputs : JSON.stringify(inputs));
  const who = peer ?? ["--peer", page];
  const all = ["run", program, "--party", String(party), "--input", `${party}=${given}`, "--listen", at, "--identity", file("own.pem"), ...who, "--json", "--timeout", "20s", ...args];
  const child = spawn(GARBLET, all, { env: office.env, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let out = "";
  let said = "";
  child.stdout.on("data", (text) => (out += text));
  const lines = createInterface({ input: child.stderr });
  const port = await new Promise((resolve, reject) => {
    lines.on("line", (line) => {
      said += `${line}\n`;
      const port = /listening on .*:(\d+)/.exec(line)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.on("exit", () => reject(new Error(said)));
  });
  const report = once(child, "close").then(() => (out === "" ? said : JSON.parse(out)));
  return { url: `ws://127.0.0.1:${port}`, port, child, report };
}

/** Calls a function of the package in the page; an error is returned as `{ message, hint, code }`. */
function call(page, name, ...args) {
  const work = async (name, args) => {
    const package_ = await import("../garblet.js");
    try {
      return await package_[name](...args);
    } catch (error) {
      return { message: error.message, hint: error.hint, name: error.name, code: error.code };
    }
  };
  return page.run(work, name, args);
}

/** The options of a run of the page. */
async function options(page, url, more) {
  const pem = await page.run(() => localStorage.getItem("garblet-identity"));
  return { party: 1, inputs: {}, identity: pem, trust: { native: office.fingerprint }, url, timeoutMs: 20_000, ...more };
}

/** A server that answers requests for WebSockets, and is no party. */
async function nobody(opened) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (request) => {
      const key = /sec-websocket-key: (.*)\r/i.exec(request.toString())[1];
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
      opened(socket);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `ws://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

tried("AES by every protocol that a page has", async () => {
  const page = await browser();
  const print = await own(page);
  for (const protocol of ["yao", "components", "gmw"]) {
    const peers = `[[party]]\naddress = "127.0.0.1:1"\nfingerprint = "${office.fingerprint}"\n[[party]]\naddress = "127.0.0.1:2"\nfingerprint = "${print}"\n`;
    const peer = protocol === "gmw" ? ["--peers", file("peers.toml", peers)] : undefined;
    const seconds = [];
    // The first pays for the worker and the module; both are there for the next ones.
    for (let turn = 0; turn < 4; turn += 1) {
      const args = ["--protocol", protocol, "--session", `aes-${turn}`];
      const peering = await native("lib:aes128", { party: 0, page: print, inputs: { key: { hex: AES.key } }, args, peer });
      const given = await options(page, peering.url, { program: { library: "lib:aes128" }, inputs: { block: { hex: AES.block } }, protocol, session: `aes-${turn}` });
      const begin = performance.now();
      const report = await call(page, "run", given);
      seconds.push((performance.now() - begin) / 1000);
      assert.deepEqual(report.outputs, { ciphertext: { hex: AES.ciphertext } }, `${protocol}: ${JSON.stringify(report)} ${JSON.stringify(await peering.report)}`);
      assert.equal(report.closing, null);
      const theirs = await peering.report;
      assert.equal(theirs.outputs.ciphertext.value.hex, AES.ciphertext);
      assert.equal(theirs.protocol, report.protocol);
      const sent = Object.values(report.costs).reduce((sum, cost) => sum + cost.bytesSent, 0);
      const heard = Object.values(theirs.per_party[0].phases).reduce((sum, cost) => sum + cost.bytes_received, 0);
      assert.equal(sent, heard);
    }
    console.log(`MEASURED ${protocol}: AES-128 with a native peer, from the call to the report: first ${ms(seconds[0])}, then ${ms(Math.min(...seconds.slice(1)))}`);
  }
  assert.deepEqual(await page.complaints(), []);
});

const ms = (seconds) => `${(seconds * 1000).toFixed(0)} ms`;

tried("AND gates a second", async () => {
  const page = await browser();
  const print = await own(page);
  const chain = "lib:aes128-chain(100)";
  const ands = 640_000;
  for (const party of [0, 1]) {
    const inputs = [{ key: { hex: AES.key } }, { block: { hex: AES.block } }];
    const peer = await native(chain, { party: 1 - party, page: print, inputs: inputs[1 - party] });
    const report = await call(page, "run", await options(page, peer.url, { program: { library: chain }, party, inputs: inputs[party] }));
    assert.deepEqual(report.outputs.ciphertext.hex, (await peer.report).outputs?.ciphertext.value.hex, JSON.stringify([report, await peer.report]));
    const { seconds } = report.costs.online;
    console.log(`MEASURED yao: the page ${report.role}, ${ands} AND gates in ${seconds.toFixed(2)} s, ${(ands / seconds / 1e6).toFixed(2)} M a second`);
  }
  const both = await call(page, "runTogether", { program: { library: chain }, inputs: { key: { hex: AES.key }, block: { hex: AES.block } } });
  const { seconds } = both[0].costs.online;
  console.log(`MEASURED yao: both in the page, ${(ands / seconds / 1e6).toFixed(2)} M AND gates a second garbled and evaluated`);
});

tried("both parties in the page, and values as JavaScript has them", async () => {
  const page = await browser();
  const source = "pub fn main(a: [u64; 3], b: i16) -> (u64, i16) { (a[0] + a[1] + a[2], b - 1i16) }";
  const work = async (source) => {
    const { compile, runTogether } = await import("../garblet.js");
    const program = { source, name: "sums", constants: {} };
    const inputs = { a: new BigUint64Array([1n, 2n, 2n ** 63n]), b: -5 };
    const [left, right] = await runTogether({ program, inputs });
    const gmw = await runTogether({ program, inputs, protocol: "gmw" });
    return [await compile(source, { name: "sums", constants: {} }), left.outputs, right.outputs, gmw[0].outputs];
  };
  const [said, ...outputs] = await page.run(work, source);
  assert.deepEqual(said.inputs.map(({ name, type, width, owner }) => [name, type, width, owner]), [["a", "[u64; 3]", 192, 0], ["b", "i16", 16, 1]]);
  for (const output of outputs) assert.deepEqual(Object.values(output).flat(), ["9223372036854775811", -6]);
});

tried("what is wrong is said, with a hint, and the next call works", async () => {
  const page = await browser();
  const source = { source: SOURCE, name: "millionaires" };
  const wrong = async (more, url = "ws://127.0.0.1:9") => call(page, "run", await options(page, url, { program: source, inputs: { bob: 1 }, ...more }));
  const cases = [
    [await call(page, "compile", "pub fn main(a: u8) -> u8 {\n a +\n}", { name: "bad" }), /bad\.garble\.rs:3:1: /],
    [await call(page, "describe", { library: "lib:nothing" }), /nothing/],
    [await call(page, "describe", { library: "/etc/passwd" }), /not a program of the library/],
    [await call(page, "describe", { source: SOURCE, constants: { N: "x y" } }), /constant/],
    [await wrong({ inputs: { bob: "x" } }), /input `bob`: expected u32/],
    [await wrong({ inputs: { eve: 1 } }), /eve/],
    [await wrong({ party: 2 }), /expected 0 or 1/],
    [await wrong({ protocol: "lego" }), /a page has yao, components or gmw, not `lego`/],
    [await wrong({ params: { scheme: "x" } }), /scheme/],
    [await wrong({ trust: {} }), /nobody is trusted/],
    [await wrong({ trust: { native: "x" } }), /trust: native: /],
    [await wrong({ session: "NO" }), /session: /],
    [await wrong({ identity: "x" }), /no identity/],
    [await wrong({ url: "ftp://x" }), /ftp/],
  ];
  for (const [error, expected] of cases) {
    assert.match(error.message ?? JSON.stringify(error), expected);
    assert.equal(error.name, "GarbletError");
    assert.ok(error.hint.length > 3, error.message);
  }
  assert.deepEqual(await page.complaints(), []);
  // The browser itself says that nobody is there.
  assert.match((await wrong({})).message, /no WebSocket could be opened/);
  assert.equal((await call(page, "compile", SOURCE)).andGates, 32);
});

tried("a peer that is another, disagrees or ends is named, and is told nothing else", async () => {
  const page = await browser();
  const print = await own(page);
  const source = { source: SOURCE, name: "millionaires" };
  const meet = async (theirs, more, during) => {
    const peer = await native(MILLIONAIRES, { party: 0, page: print, inputs: { alice: 1 }, ...theirs });
    const error = call(page, "run", await options(page, peer.url, { program: source, inputs: { bob: 1 }, ...more }));
    await during?.(peer);
    const ended = await error;
    if (peer.child.exitCode === null) await stop(peer.child);
    return [ended, await peer.report];
  };
  const [stranger] = await meet({}, { trust: { native: (await call(page, "generateIdentity")).fingerprint } });
  assert.match(stranger.message, /the peer is unknown/);
  const [rejected] = await meet({ page: (await call(page, "generateIdentity")).fingerprint }, {});
  assert.match(rejected.message, /the peer does not trust us/);
  const [session] = await meet({ args: ["--session", "one"] }, { session: "two", timeoutMs: 2_000 });
  assert.ok(session.message.length > 5 && session.hint.length > 5);
  const [program, theirs] = await meet({}, { program: { source: SOURCE.replace("alice > bob", "alice < bob"), name: "millionaires" } });
  assert.match(program.message, /program digest/);
  assert.match(theirs.error.message, /program digest/);
  const [protocol] = await meet({}, { protocol: "components" });
  assert.match(protocol.message, /protocol/);
});

tried("whoever passes bytes on learns nothing and changes nothing unnoticed", async () => {
  const page = await browser();
  const print = await own(page);
  const wealth = 0x41424344;
  for (const flip of [false, true]) {
    const seen = [];
    let left = 5_000;
    const bridge = createServer((near) => {
      const far = connect(peer.port, "127.0.0.1");
      near.on("data", (bytes) => {
        seen.push(bytes);
        far.write(bytes);
      });
      far.on("data", (bytes) => {
        left -= bytes.length;
        if (flip && left < 0) bytes[bytes.length - 1] ^= 1;
        near.write(bytes);
      });
      for (const [one, two] of [[near, far], [far, near]]) one.on("error", () => two.destroy()).on("close", () => two.destroy());
    }).listen(0, "127.0.0.1");
    await once(bridge, "listening");
    const peer = await native(MILLIONAIRES, { party: 0, page: print, inputs: { alice: wealth } });
    const url = `ws://127.0.0.1:${bridge.address().port}`;
    const report = await call(page, "run", await options(page, url, { program: { source: SOURCE, name: "millionaires" }, inputs: { bob: 7 } }));
    bridge.close();
    if (flip) assert.match(report.message, /TLS|changed|closed|malformed/, JSON.stringify(report));
    else assert.equal(report.outputs?.out0, true, JSON.stringify(report));
    const text = Buffer.concat(seen).toString("latin1");
    assert.ok(!text.includes("millionaires") && !text.includes("yao"), "the bridge reads the hello");
    await stop(peer.child);
  }
});

tried("every promise settles: a peer that dies, a page that gives up, a bug", async () => {
  const page = await browser();
  const print = await own(page);
  const long = "lib:aes128-chain(2000)";
  const begin = async () => {
    const peer = await native(long, { party: 0, page: print, inputs: { key: { hex: AES.key } } });
    return [peer, await options(page, peer.url, { program: { library: long }, inputs: { block: { hex: AES.block } } })];
  };
  const during = (given) =>
    page.run((given) => {
      window.how = "going";
      window.stop = new AbortController();
      window.over = import("../garblet.js").then(({ run }) => {
        const onProgress = ({ done }) => (window.how = done > 0 ? "far" : window.how);
        return run({ ...given, onProgress, signal: window.stop.signal }).then(() => "a result", (error) => `${error.message} / ${error.hint}`);
      });
    }, given);
  const far = () => page.until(() => window.how === "far");

  const [dies, given] = await begin();
  await during(given);
  await far();
  dies.child.kill("SIGKILL");
  assert.match(await page.run(() => window.over), /closed the connection/);

  const [left, again] = await begin();
  await during(again);
  await far();
  await page.run(() => window.stop.abort(new Error("enough")));
  assert.match(await page.run(() => window.over), /^enough/);
  assert.match((await left.report).error.message, /closed the connection/);

  // Who opens a WebSocket and says nothing more, as long as the clock of JavaScript goes.
  const silent = await nobody(() => {});
  const { message, code } = await call(page, "run", { ...given, url: silent.url, timeoutMs: 700 });
  assert.match(message, /no byte moved for 0\.7 s while we waited for the TLS handshake/);
  assert.equal(code, "silent");
  // A time-out that is longer than timers of JavaScript go is not over at once.
  await during({ ...given, url: silent.url, timeoutMs: 2 ** 31 + 1_000 });
  const first = await page.run(() => Promise.race([window.over, new Promise((done) => setTimeout(done, 1_500, "waits"))]));
  assert.equal(first, "waits");
  await page.run(() => window.stop.abort(new Error("enough")));
  assert.match(await page.run(() => window.over), /^enough/);
  silent.close();

  const bug = await call(page, "panicForTest");
  assert.match(bug.message, /a bug in Garblet: [^]*on purpose/);
  assert.equal(bug.code, "bug");
  assert.equal((await call(page, "compile", SOURCE)).andGates, 32);
});

tried("a message larger than any of a peer ends the run, and is not kept", async () => {
  const page = await browser();
  const large = 17 << 20;
  const flood = await nobody((socket) => {
    const head = Buffer.alloc(10);
    head.writeUInt16BE(0x827f);
    head.writeBigUInt64BE(BigInt(large), 2);
    socket.write(Buffer.concat([head, Buffer.alloc(large, 0x16)]));
  });
  const given = await options(page, flood.url, { program: { source: SOURCE, name: "millionaires" }, inputs: { bob: 1 } });
  const { message, hint } = await call(page, "run", given);
  assert.match(message, new RegExp(`a WebSocket message too large: expected at most ${16 << 20} bytes, got ${large}`));
  assert.ok(hint.length > 5);
  flood.close();
  assert.equal((await call(page, "compile", SOURCE)).andGates, 32);
});

tried("no more waits to be read than belongs to a run", async () => {
  const page = await browser();
  const taken = await page.run(async () => {
    const { default: init, Wire } = await import("../party.js");
    await init();
    const wire = new Wire(() => true, 1_000);
    return [600, 0, 600, 200].map((length) => wire.heard(new Uint8Array(length)));
  });
  assert.deepEqual(taken, [true, true, false, true]);
});

tried("options of another type are told, and not repeated", async () => {
  const page = await browser();
  const given = await options(page, "ws://127.0.0.1:1", { program: { source: SOURCE, name: "millionaires" }, inputs: { bob: 1 } });
  const said = async (changed) => (await call(page, "run", { ...given, ...changed })).message;
  assert.equal(await said({ identity: { pem: given.identity } }), "identity: expected a string, got a value of type object");
  assert.equal(await said({ identity: null }), "identity: expected a string, got null");
  assert.equal(await said({ program: { source: 5 } }), "source: expected a string, got a value of type number");
  assert.equal(await said({ trust: given.identity }), "trust: expected an object, got a value of type string");
  assert.equal(await said({ trust: { bob: 7 } }), "trust: bob: expected a string, got a value of type number");
  assert.equal(await said({ party: "1" }), "party: expected a number, got a value of type string");
  assert.equal(await said({ party: 1.5 }), "options: expected the documented names and types, got others");
  assert.equal(await said({ inputs: 3_000_123 }), "inputs: expected an object, got a value of type number");
  assert.equal(await said({ inputs: null }), "inputs: expected an object, got null");
  assert.equal(await said({ inputs: [1] }), "inputs: expected an object, got an array");
  assert.equal(await said({ params: null }), "params: expected an object, got null");
  assert.equal(await said({ program: null }), "program: expected an object, got null");
  assert.equal(await said({ session: 0 }), "session: expected a string, got a value of type number");
  assert.equal(await said({ inputs: { bob: 2 ** 53 } }), "bob: expected an exact number, got an integer of 2^53 or more");
  assert.equal(await said({ inputs: { bob: 5_000_000_123 } }), "input `bob`: expected u32, got a number out of range");
  const odd = await page.run(async (given) => {
    const { run } = await import("../garblet.js");
    const circle = {};
    circle.Offer = circle;
    const inputs = [new DataView(new ArrayBuffer(4)), circle].map((offer) => ({ bob: { Offer: offer } }));
    return Promise.all(inputs.map((inputs) => run({ ...given, inputs }).catch((error) => error.message)));
  }, given);
  assert.deepEqual(odd, [
    "bob: expected numbers, got a DataView",
    "bob: expected plain values, got some that JSON does not have",
  ]);
});

tried("a worker that is given up is ended, and the next call has another", async () => {
  const page = await browser();
  const silent = await nobody(() => {});
  const given = await options(page, silent.url, { program: { source: SOURCE, name: "millionaires" }, inputs: { bob: 1 } });
  const count = await page.run(async (given) => {
    const count = { begun: 0, ended: 0 };
    const Real = window.Worker;
    window.Worker = class extends Real {
      constructor(...all) {
        super(...all);
        count.begun += 1;
      }
      terminate() {
        super.terminate();
        count.ended += 1;
      }
    };
    // A module of its own, without the worker that the page has.
    const { compile, load, run } = await import("../garblet.js?again");
    await load();
    const stop = new AbortController();
    const over = run({ ...given, signal: stop.signal }).catch((error) => error.message);
    setTimeout(() => stop.abort(new Error("enough")), 500);
    count.said = await over;
    count.gates = (await compile("pub fn main(a: u8, b: u8) -> bool { a > b }")).andGates;
    await compile("pub fn main(a: u8, b: u8) -> bool { a < b }");
    return count;
  }, given);
  assert.deepEqual(count, { begun: 2, ended: 1, said: "enough", gates: 8 });
  silent.close();
});

tried("calls settle where the module or the worker does not come", async () => {
  const held = new Set();
  const slow = await site(FOLDERS, () => [], held);
  const page = await empty();
  /** Calls, in a page that is loaded anew without what is held, with a clock on which a minute is short. */
  const attempt = async (query, ...names) => {
    held.clear();
    names.forEach((name) => held.add(name));
    await page.goTo(`${slow.address}page/`);
    return page.run(async (query) => {
      const [timeout, wait] = [AbortSignal.timeout, window.setTimeout];
      AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms === 60_000 ? 2_000 : ms);
      window.setTimeout = (work, ms) => wait(work, ms === 60_000 ? 2_000 : ms);
      const { compile, run } = await import(`../garblet.js?${query}`);
      const source = "pub fn main(a: u8, b: u8) -> bool { a > b }";
      const stop = new AbortController();
      const gone = run({ program: { source }, party: 0, identity: "", trust: {}, url: "ws://127.0.0.1:9", signal: stop.signal }).catch((error) => error.message);
      wait(() => stop.abort(new Error("enough")), 100);
      const settled = [await gone, await compile(source).then((is) => is.andGates, (error) => error.message)];
      [AbortSignal.timeout, window.setTimeout] = [timeout, wait];
      return settled;
    }, query);
  };
  const [left, stalled] = await attempt("stalled", "party_bg.wasm");
  assert.equal(left, "enough");
  assert.match(stalled, /the module cannot be loaded: .*tim/i);

  assert.deepEqual(await attempt("unstarted", "party.js"), ["enough", "the worker has not started within 60 s"]);
  assert.deepEqual((await attempt("again"))[1], 8);

  // A worker that has no script dies as it starts.
  slow.close();
  const { "party.js": _, ...without } = FOLDERS;
  const broken = await site(without, () => []);
  await page.goTo(`${broken.address}page/`);
  const died = await page.run(async () => {
    const { compile } = await import("../garblet.js");
    return compile("pub fn main(a: u8, b: u8) -> bool { a > b }").then(() => "a result", (error) => `${error.name}: ${error.hint}`);
  });
  assert.equal(died, "GarbletError: check that worker.js, garblet-talk.js and party.js are beside garblet.js");
  broken.close();
});
