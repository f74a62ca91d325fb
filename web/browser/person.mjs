// A person who uses the page of `examples/page`, and the other one, who types the commands that it shows.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";

import { children, file, office, own } from "./meeting.mjs";
import { freePorts } from "./servers.mjs";

const { GARBLET } = process.env;

export const status = (page) => page.run(() => document.querySelector("#status").textContent);

export async function fill(page, values) {
  await page.run((values) => {
    for (const [id, value] of Object.entries(values)) {
      document.getElementById(id).value = value;
      document.getElementById(id).dispatchEvent(new Event("input"));
    }
  }, values);
}

export const text = (page, selector) => page.run((selector) => document.querySelector(selector).innerText, selector);

/** Runs in a shell what the page shows, as the other person would. The command is found by its name. */
function shell(commands) {
  const env = { ...office.env, PATH: `${path.dirname(GARBLET)}:${process.env.PATH}` };
  return spawn("sh", ["-ec", commands], { cwd: office.folder, env, stdio: ["ignore", "pipe", "pipe"] });
}

/** All that a shell prints, and its status. */
async function printed(child) {
  let out = "";
  child.stdout.on("data", (text) => (out += text));
  const [status] = await once(child, "close");
  return { out, status };
}

/** The other person, who prepares a file and waits as the page says, with something changed in these commands. */
export async function other(page, change = (commands) => commands, changed = (command) => command) {
  const fingerprint = (await printed(shell(await text(page, "#theirs")))).out.trim().split(/\s/).at(-1);
  const [port] = await freePorts(1);
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

export async function choose(page, selector, name) {
  const element = await page.ask("POST", "/element", { using: "css selector", value: selector });
  await page.ask("POST", `/element/${Object.values(element)[0]}/value`, { text: name });
}

/** Lets the person agree to all that the page asks. */
export const agreeing = (page) => page.run(() => void (globalThis.confirm = () => true));

export const settled = (page) => page.until(() => document.querySelector("#underway").hidden && !document.querySelector("#status").textContent.includes("…"));

/** The content of the file that a link of the page saves. */
export async function saved(page, selector, name) {
  rmSync(path.join(office.folder, name), { force: true });
  await page.cdp("Page.setDownloadBehavior", { behavior: "allow", downloadPath: office.folder });
  await page.click(selector);
  for (let left = 100; left > 0; left -= 1) {
    await new Promise((done) => setTimeout(done, 100));
    if (existsSync(path.join(office.folder, name))) return readFileSync(path.join(office.folder, name), "utf8");
  }
  return assert.fail(`${name} was not saved`);
}

/** A function with an input of each, and a job for it with Alice, who has a terminal, and Bob, who has this fingerprint. */
export const LIMITS = "pub fn main(limit: u32, bids: [u32; 3]) -> u32 { if bids[0] > limit { bids[0] } else { bids[1] + bids[2] } }\n";

export const command = (...words) => execFileSync(GARBLET, words, { encoding: "utf8", env: office.env, cwd: office.folder, stdio: ["ignore", "pipe", "pipe"] });

/** The fingerprint of Alice. */
export function aliceHas() {
  if (!existsSync(path.join(office.folder, "alice.pem"))) command("keygen", "alice.pem");
  return command("id", "alice.pem").trim();
}

/** Writes a job. */
export function written(name, bob, { program = file("limits.garble.rs", LIMITS), words = [] } = {}) {
  const job = path.join(office.folder, name);
  rmSync(job, { force: true });
  command("job", "new", program, "--party", `alice=${aliceHas()}`, "--party", `bob=${bob}`, "--name", path.parse(name).name.replace("'", ""), "--out", job, ...words);
  return job;
}

/** Opens a job in the page, with its program. */
export async function opened(page, ...files) {
  await page.run(() => document.querySelector("#job").onclick());
  await choose(page, "#job", files.join("\n"));
}

/** Computes under the job that is open, with Alice, who runs the command that the page shows, with something changed in it. */
export async function underJob(page, change = (command) => command) {
  const [port] = await freePorts(1);
  await fill(page, { url: `ws://127.0.0.1:${port}` });
  file("FILE.json", '{"limit": 7}');
  const child = shell(`${change(await text(page, "#waits"))} --identity alice.pem --receipts alice.jsonl`);
  children.push(child);
  for await (const line of createInterface({ input: child.stderr })) if (line.startsWith("listening on")) break;
  child.stderr.resume();
  await page.click("#begin");
  await settled(page);
}

/** Computes under a job with nobody, who leaves a receipt all the same. */
export async function alone(page) {
  await page.click("[value=job]");
  await opened(page, written("limits.toml", await own(page)), path.join(office.folder, "limits.garble.rs"));
  await page.until(() => document.querySelector("#given-0") !== null);
  await fill(page, { url: "ws://127.0.0.1:1", "given-0": "[1, 2, 3]" });
  await page.click("#begin");
  await settled(page);
}
