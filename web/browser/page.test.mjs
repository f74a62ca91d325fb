// The page of `examples/page` in headless Chromium: a person uses it, and another one types the commands that it shows. `cargo xtask web` runs it:
// node --test page.test.mjs, with PARTY (the package for npm), GARBLET (the command), PICTURES and TOOLS (folders) in the environment.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";

import { axe, barriers } from "./axe.mjs";
import { FOLDERS, ROOT, browser, children, empty, file, office, own, tried } from "./meeting.mjs";
import { site } from "./servers.mjs";

const { GARBLET, PICTURES } = process.env;

const status = (page) => page.run(() => document.querySelector("#status").textContent);

async function fill(page, values) {
  await page.run((values) => {
    for (const [id, value] of Object.entries(values)) {
      document.getElementById(id).value = value;
      document.getElementById(id).dispatchEvent(new Event("input"));
    }
  }, values);
}

const text = (page, selector) => page.run((selector) => document.querySelector(selector).innerText, selector);

/** Runs in a shell what the page shows, as the other person would. The command is found by its name. */
function shell(commands) {
  const env = { ...office.env, PATH: `${path.dirname(GARBLET)}:${process.env.PATH}` };
  return spawn("sh", ["-ec", commands], { cwd: office.folder, env, stdio: ["ignore", "pipe", "pipe"] });
}

/** What a shell prints in the end. */
async function printed(child) {
  let out = "";
  child.stdout.on("data", (text) => (out += text));
  const [status] = await once(child, "close");
  return { out, status };
}

/** The other person, who prepares a file and waits as the page says, with something changed in these commands. */
async function other(page, change = (commands) => commands, changed = (command) => command) {
  const fingerprint = (await printed(shell(await text(page, "#theirs")))).out.trim().split(/\s/).at(-1);
  const port = await freePort();
  await fill(page, { url: `ws://127.0.0.1:${port}`, trust: fingerprint });
  for (const old of ["garblet-wealth.json", "garblet-numbers.csv"]) rmSync(path.join(office.folder, old), { force: true });
  assert.equal((await printed(shell(change(await text(page, "#prepared"))))).status, 0);
  const child = shell(changed(await text(page, "#waits")));
  children.push(child);
  const result = printed(child);
  let said = "";
  for await (const line of createInterface({ input: child.stderr })) {
    said += `${line}\n`;
    if (line.startsWith("listening on")) break;
  }
  assert.match(said, /listening on/);
  child.stderr.resume();
  return { fingerprint, result };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function choose(page, selector, name) {
  const element = await page.ask("POST", "/element", { using: "css selector", value: selector });
  await page.ask("POST", `/element/${Object.values(element)[0]}/value`, { text: name });
}

const settled = (page) => page.until(() => document.querySelector("#underway").hidden && !document.querySelector("#status").textContent.includes("…"));
tried("a page finds out who is richer, with the commands that it shows", async () => {
  const page = await browser();
  const identities = new Set();
  for (const [theirs, mine, said, richer] of [[3_000_000, 5_000_000, "You are richer.", "Bob"], [7, 6, "The other is richer.", "Alice"], [0, 0, "You both have the same.", "Neither"]]) {
    await fill(page, { wealth: String(mine) });
    const { fingerprint, result } = await other(page, (commands) => commands.replace("3000000", String(theirs)));
    identities.add(fingerprint);
    await page.click("#begin");
    await settled(page);
    const { out, status: ended } = await result;
    assert.equal(await status(page), said, `${await text(page, "#trouble")} ${out}`);
    assert.match(out, new RegExp(`^out0 = ${richer}$`, "m"));
    assert.equal(ended, 0);
    assert.match(await text(page, "#costs"), /^[\d,]+ bytes were exchanged, in \d/);
  }
  assert.equal(identities.size, 1, "the first command shows the same fingerprint again");
  assert.deepEqual(await page.complaints(), []);
});

tried("two lists are intersected, with the commands that the page shows, and neither leaves its machine", async () => {
  const page = await browser({ dark: true });
  await page.click("[value=common]");
  const mine = Array.from({ length: 200 }, (_, at) => 7 * at + 1_000_000_007);
  const theirs = Array.from({ length: 150 }, (_, at) => 11 * at + 1_000_000_007);
  const common = mine.filter((one) => theirs.includes(one));
  const { result } = await other(page, (commands) => commands.replace("8 3 5", theirs.toReversed().join(" ")));
  await choose(page, "#file", file("mine.csv", `number\n${mine.toReversed().join("\n")}\n`));
  await page.click("#begin");
  await settled(page);
  assert.equal(await status(page), `${common.length} in common:`, JSON.stringify(await result));
  const rows = await page.run(() => [...document.querySelectorAll("#rows li")].map((row) => row.textContent));
  assert.deepEqual(rows, common.map(String));
  assert.equal((await result).status, 0);
  await page.picture(PICTURES, "party-common-dark");
  // The other's list is taken as it is, and is not in order.
  const unsorted = await other(page, undefined, (command) => command.replace("--sum-by-key", "--as-empty"));
  await choose(page, "#file", file("mine.csv", "3\n5\n8\n"));
  await page.click("#begin");
  await settled(page);
  assert.equal(await status(page), "There is no result.", JSON.stringify(await unsorted.result));
  assert.match(await text(page, "#trouble"), /^The other's list was not in order[^]*with --sum-by-key\./);
  await choose(page, "#file", file("words.csv", "number\n1\ntwo\n"));
  await page.click("#begin");
  await page.until(() => document.querySelector("#trouble").textContent.includes('Line 3: expected a number, got "two"'));
  assert.deepEqual(await page.run(() => [document.activeElement.id, document.querySelectorAll("#rows li").length]), ["file", 0]);
  assert.deepEqual(await page.complaints(), []);
});

tried("what a person has left out or mistyped is said beside the button, and leads to its field", async () => {
  const page = await browser();
  const refused = async (values, expected, field) => {
    await fill(page, values);
    await page.click("#begin");
    await page.until((expected) => document.querySelector("#trouble").innerText.includes(expected), expected);
    assert.deepEqual(await page.run(() => [document.activeElement.id, document.querySelectorAll("[aria-invalid=true]").length]), [field, 1]);
  };
  await refused({ wealth: "5" }, "The fingerprint of the other is missing.", "trust");
  await refused({ trust: office.fingerprint, wealth: "4294967296" }, "Expected a whole number from 0 to 4294967295.", "wealth");
  await refused({ wealth: "-1" }, "Expected a whole number", "wealth");
  await refused({ wealth: "" }, "What you have is missing.", "wealth");
  await page.click("[value=common]");
  await refused({}, "Your list is missing.", "file");
  await choose(page, "#file", file("long.csv", Array.from({ length: 257 }, (_, at) => at).join("\n")));
  await refused({}, "The file has 257 numbers, the most is 256.", "file");
  for (const [content, expected] of [["3,\n5\n", 'Line 1: expected a number, got "3,".'], ["a\r-3\r5", 'Line 2: expected a number, got "-3".'], ["a\n", "The file has no number."], ["18446744073709551616", "Line 1: expected at most 18446744073709551615"]]) {
    await choose(page, "#file", file("wrong.csv", content));
    await refused({}, expected, "file");
  }
  await page.click("[value=richer]");
  assert.equal(await text(page, "#trouble"), "", "what was wrong with one question is not shown with another");
  await refused({ wealth: "5", url: "127.0.0.1:7700" }, "Expected an address that begins with ws:// or wss://.", "url");
  await refused({ url: "ws://127.0.0.1:7700", trust: "abcd" }, "fingerprint has 4 characters", "trust");
});

/** What a link of the page saves, as a file. */
async function saved(page, selector, name) {
  rmSync(path.join(office.folder, name), { force: true });
  await page.cdp("Page.setDownloadBehavior", { behavior: "allow", downloadPath: office.folder });
  await page.click(selector);
  for (let left = 100; left > 0; left -= 1) {
    await new Promise((done) => setTimeout(done, 100));
    if (existsSync(path.join(office.folder, name))) return readFileSync(path.join(office.folder, name), "utf8");
  }
  return assert.fail(`${name} was not saved`);
}

tried("a job is opened, signed and run, and its receipts fit the other's", async () => {
  const page = await browser();
  await page.click("[value=job]");
  await page.click("#begin");
  await page.until(() => document.querySelector("#trouble").innerText.includes("The job is missing."));
  const program = file("limits.garble.rs", "pub fn main(limit: u32, bids: [u32; 3]) -> u32 { if bids[0] > limit { bids[0] } else { bids[1] + bids[2] } }\n");
  const job = path.join(office.folder, "limits.toml");
  const printed = (...words) => execFileSync(GARBLET, words, { encoding: "utf8", env: office.env, cwd: office.folder, stdio: ["ignore", "pipe", "pipe"] });
  printed("keygen", "alice.pem");
  const alice = printed("id", "alice.pem").trim();
  const written = (own) => printed("job", "new", program, "--party", `alice=${alice}`, "--party", `bob=${own}`, "--name", "limits", "--out", job);
  written(office.fingerprint);
  await choose(page, "#job", [job, program].join("\n"));
  await page.until(() => document.querySelector("#agreed").innerText.includes("not one of its parties"));
  rmSync(job);
  written(await own(page));
  // A field for files keeps what was chosen before.
  await page.run(() => (document.querySelector("#job").value = ""));
  await choose(page, "#job", [job, program].join("\n"));
  await page.until(() => document.querySelector("#agreed").innerText.includes("bob"));
  const said = await text(page, "#agreed");
  const { job: digest } = JSON.parse(printed("job", "show", job, "--json"));
  for (const words of ["limits", `alice ${alice}`, "alice: limit, u32", "you: bids, [u32; 3]", "both: out0, u32", "you: not yet", digest]) assert.ok(said.includes(words), `${words} in ${said}`);

  await page.click("#sign");
  await page.until(() => document.querySelector("#agreed a") !== null);
  assert.equal(await page.run(() => document.activeElement.textContent), "Save the signatures");
  await saved(page, "#agreed a", "limits.toml.signatures");
  printed("job", "sign", job, "--identity", "alice.pem");
  assert.match(printed("job", "verify", job), /all 2 parties have signed/);

  const begun = async (change = (command) => command) => {
    const port = await freePort();
    await fill(page, { url: `ws://127.0.0.1:${port}` });
    file("FILE.json", '{"limit": 7}');
    const child = shell(`${change(await text(page, "#waits"))} --identity alice.pem --receipts alice.jsonl`);
    children.push(child);
    for await (const line of createInterface({ input: child.stderr })) if (line.startsWith("listening on")) break;
    child.stderr.resume();
    await page.click("#begin");
    await settled(page);
    return child;
  };
  await fill(page, { "given-0": "[5, 20, 22]" });
  await begun();
  assert.deepEqual([await status(page), await text(page, "#rows"), await text(page, "#trouble")], ["The result of the job:", "out0 = 42", ""]);
  await page.picture(PICTURES, "party-job");
  const script = axe();
  for (const look of [{ width: 400, height: 860, dark: true }, { width: 1100, height: 900 }]) {
    await page.look(look);
    if (script !== undefined) assert.deepEqual(await barriers(page, script), [], JSON.stringify(look));
    const [wide, inner] = await page.run(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= inner, `${wide} pixels of ${inner}`);
  }
  const log = await saved(page, "#save", "receipts.jsonl");
  assert.deepEqual(JSON.parse(log).job, digest);
  assert.match(printed("receipts", "compare", "receipts.jsonl", "alice.jsonl"), /^ours 1 and theirs 1: the same run; each received what the other sent\n$/);

  // The other takes another job, and this run is in the log too.
  printed("job", "new", program, "--party", `alice=${alice}`, "--party", `bob=${await own(page)}`, "--name", "others", "--out", path.join(office.folder, "others.toml"));
  await begun((command) => command.replace("limits.toml", "others.toml"));
  assert.match(await text(page, "#trouble"), /^The other has another job\./);
  const [, second] = (await saved(page, "#save", "receipts.jsonl")).trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual([second.number, second.ended.failed.class], [2, "disagreement"]);
  assert.match(printed("receipts", "verify", "receipts.jsonl"), /^2 receipts/);

  // Both are kept, until they are forgotten.
  const keys = () => page.run(() => Object.keys(localStorage).sort());
  assert.deepEqual(await keys(), ["garblet-identity", "garblet-receipts"]);
  const before = await own(page);
  await page.click("#forget");
  await page.until((before) => document.querySelector("#fingerprint").textContent !== before, before);
  assert.deepEqual(await keys(), []);
  assert.equal(await page.run(() => document.querySelector("#receipt").hidden), true);
  await page.until(() => document.querySelector("#agreed").innerText.includes("not one of its parties"));
  assert.deepEqual(await page.complaints(), []);
});

tried("the keyboard leads through the page, and what can be copied is", async () => {
  const page = await browser();
  const order = [];
  for (let at = 0; at < 13; at += 1) {
    await page.press("Tab");
    order.push(await page.run(() => document.activeElement.id || document.activeElement.value || document.activeElement.dataset.copies || document.activeElement.localName));
  }
  assert.deepEqual(order, ["richer", "fingerprint", "renew", "forget", "theirs", "trust", "url", "prepared", "waits", "wealth", "summary", "begin", "body"]);
  await page.run(() => document.querySelector("[value=richer]").focus());
  await page.press("ArrowDown");
  assert.equal(await text(page, "#begin"), "Find them");
  assert.match(await text(page, "#waits"), /lib:intersection/);
  await page.click("[data-copies=fingerprint]");
  const copied = await page.until(() => {
    const button = document.querySelector("[data-copies=fingerprint]");
    return button.textContent === "Copied" ? "copied" : getSelection().toString();
  });
  assert.ok(["copied", await own(page)].includes(copied), copied);
  const before = await own(page);
  await page.click("#renew");
  await page.until((before) => document.querySelector("#fingerprint").textContent !== before, before);
  assert.ok((await text(page, "#waits")).includes(await own(page)), "the command names the new one");
});

tried("a browser that lacks something, and a part that is missing, are named", async () => {
  const page = await empty();
  const started = async (script, address = office.page) => {
    const { identifier } = await page.cdp("Page.addScriptToEvaluateOnNewDocument", { source: script });
    await page.goTo(address);
    await page.until(() => !document.querySelector("#main").hidden || document.querySelector("#starting").classList.contains("trouble"));
    await page.cdp("Page.removeScriptToEvaluateOnNewDocument", { identifier });
    return page.run(() => (document.querySelector("#main").hidden ? document.querySelector("#starting").innerText : "started"));
  };
  assert.match(await started("delete globalThis.WebAssembly"), /^This browser has no WebAssembly, [^]*Use a current Firefox/);
  const bare = await site({ "*": FOLDERS["*"] }, () => []);
  assert.match(await started("", `${bare.address}page/`), /^A part of this page is missing: [^]*its README says\./);
  bare.close();
  await page.complaints();
  assert.equal(await started('Storage.prototype.setItem = () => { throw new DOMException("denied"); };'), "started");
  const isForgetful = () => page.run(() => document.querySelector("#forgetful").checkVisibility());
  assert.equal(await isForgetful(), true);
  assert.equal(await started(""), "started");
  assert.equal(await isForgetful(), false);
  // What is kept is believed only as far as there is a key in it.
  for (const kept of ["{}", "5", '{"pem":"junk"}', '{"fingerprint":"; rm -rf ~ #"}']) {
    await page.run((kept) => localStorage.setItem("garblet-identity", kept), kept);
    assert.equal(await started(""), "started");
    assert.match(await text(page, "#waits"), /--peer [0-9a-z]{4}(-[0-9a-z]{4})+ /);
  }
  // Opened as a file it cannot even load its script, and says so all the same.
  await page.goTo(`file://${path.join(ROOT, "examples/page/index.html")}`);
  await page.until(() => document.querySelector("#starting").innerText.includes("opened as a file"));
});

tried("all can read the page, however wide, dark or printed", async () => {
  const script = axe();
  if (script === undefined) console.log("axe-core could not be had\nBARRIERS WERE NOT TRIED");
  const page = await browser();
  const looks = { light: {}, dark: { dark: true }, phone: { width: 400, height: 860 }, "phone-dark": { width: 400, height: 860, dark: true } };
  for (const [name, look] of Object.entries(looks)) {
    await page.look({ width: 1100, height: 900, ...look });
    for (const question of ["job", "common", "richer"]) {
      await page.click(`[value=${question}]`);
      if (script !== undefined) assert.deepEqual(await barriers(page, script), [], `${name}, ${question}`);
      const [wide, inner] = await page.run(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= inner, `${name}: ${wide} pixels of ${inner}`);
    }
    const small = await page.run(() =>
      [...document.querySelectorAll("button, summary, .choice, input:not([type=radio])")]
        .filter((part) => part.checkVisibility() && part.getBoundingClientRect().height < 44)
        .map((part) => part.outerHTML));
    assert.deepEqual(small, [], name);
    await page.picture(PICTURES, `party-${name}`);
  }
  await page.look({ width: 794, height: 1123 });
  await page.cdp("Emulation.setEmulatedMedia", { media: "print" });
  const shown = await page.run(() => ["#begin", "#source"].map((part) => document.querySelector(part).checkVisibility({ contentVisibilityAuto: true })));
  assert.deepEqual(shown, [false, true], "on paper there are no buttons, and what is folded is there");
  await page.picture(PICTURES, "party-print");
  assert.deepEqual(await page.complaints(), []);
});
