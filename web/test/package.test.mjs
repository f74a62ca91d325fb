// The package for npm as its users have it: installed by npm, and its types used by TypeScript, which npm fetches. `cargo xtask web` and `cargo xtask dist` run
// it: node --test package.test.mjs, with ARCHIVE (the package) and TOOLS (a folder) in the environment.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";

/** A test that does not end is ended. */
const LIMIT = { timeout: 300_000 };

const { ARCHIVE, TOOLS } = process.env;
const QUIET = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"];

const USER = `import { checkJob, compareReceipts, generateIdentity, GarbletError, keep, kept, readReceipts, run, visit, type Report } from "garblet";
const { pem } = await generateIdentity();
const program = { source: "pub fn main(alice: u32, bob: u32) -> bool { alice > bob }" };
const report: Report = await run({ program, party: 1, inputs: { bob: 7n }, identity: pem, trust: { alice: "h2wm" }, url: "wss://a/" });
console.log(report.outputs.out0, report.costs.online.seconds);
const job = { text: "format = 1", signatures: "" };
const { notes, parties } = await checkJob({ job, program: { source: new Uint8Array(0) }, identity: pem });
const ended: Report | GarbletError = await run({ job, inputs: {}, identity: pem, url: "wss://a/", receipts: kept().receipts });
const { alike, differs } = await compareReceipts(ended.receipts ?? "", "");
keep({ receipts: ended.receipts });
console.log((await readReceipts(kept().receipts ?? "")).receipts[0].digest);
const [generator, cloud] = ["wss://a/", "wss://b/"].map((url) => ({ url, invitation: "" }));
const visited = await visit({ agreement: { text: "", files: { "a.garble.rs": "" } }, program: "a", generator, cloud, inputs: { a: 1 }, keep: (memory) => localStorage.setItem("a", memory) });
console.log(visited.outputs.sum, visited.serversLearn.panics.cloud);
console.log(notes.length, parties[0].signed, alike[0][1].bytes_sent, differs);
`;

let folder;
let installed;

before(() => {
  folder = mkdtempSync(path.join(tmpdir(), "package-"));
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  // Nothing has to be fetched for it.
  execFileSync("npm", ["install", "--offline", ...QUIET, path.resolve(ARCHIVE)], { cwd: folder, stdio: ["ignore", "ignore", "inherit"], ...LIMIT });
  installed = path.join(folder, "node_modules/garblet");
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("npm installs what the package lists, and nothing else", LIMIT, () => {
  assert.ok(WebAssembly.validate(readFileSync(path.join(installed, "party_bg.wasm"))));
  const { name, files } = JSON.parse(readFileSync(path.join(installed, "package.json"), "utf8"));
  assert.equal(name, "garblet");
  assert.deepEqual(readdirSync(installed).sort(), [...files, "package.json"].sort());
  assert.deepEqual(readdirSync(path.join(installed, "page")).sort(), ["index.html", "job.js", "page.css", "page.js", "receipts.js", "words.js"]);
  assert.deepEqual(readdirSync(path.join(folder, "node_modules")).filter((name) => !name.startsWith(".")), ["garblet"]);
});

test("its types are found and say what is wrong", LIMIT, () => {
  const compiler = typescript();
  if (compiler === undefined) {
    console.log("typescript could not be had\nTHE TYPES WERE NOT TRIED");
    return;
  }
  const check = (text, ...resolution) => {
    writeFileSync(path.join(folder, "user.ts"), text);
    const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom", ...resolution, "user.ts"];
    const { status, stdout } = spawnSync(process.execPath, [compiler, ...options], { cwd: folder, encoding: "utf8" });
    return status === 0 ? "" : stdout;
  };
  for (const resolution of [["--module", "nodenext"], ["--module", "esnext", "--moduleResolution", "bundler"]]) {
    assert.equal(check(USER, ...resolution), "");
    assert.match(check(USER.replace("party: 1", "party: 2"), ...resolution), /Type '2' is not assignable to type '0 \| 1/);
  }
});

/** The compiler of TypeScript, which npm fetches; none where it cannot. */
function typescript() {
  const tools = path.join(TOOLS, "typescript");
  const compiler = path.join(tools, "node_modules/typescript/bin/tsc");
  if (!existsSync(compiler)) {
    mkdirSync(tools, { recursive: true });
    for (const name of ["package.json", "package-lock.json"]) copyFileSync(path.join(import.meta.dirname, name), path.join(tools, name));
    try {
      execFileSync("npm", ["ci", ...QUIET], { cwd: tools, stdio: "ignore", ...LIMIT });
    } catch {
      return undefined;
    }
  }
  return compiler;
}
