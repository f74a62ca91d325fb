// A page that is a party, for tests: headless Chromium, the package for npm (PARTY), the command (GARBLET), and a folder in which the command works as if
// that were the home of somebody.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";

import { Browser, startDriver, stop } from "./driver.mjs";
import { site } from "./servers.mjs";

const { PARTY, GARBLET } = process.env;
export const ROOT = path.resolve(import.meta.dirname, "../..");
const MADE = ["garblet.js", "worker.js", "garblet-talk.js", "party.js", "party_bg.wasm"];
/** The folders that the page's files are in. */
export const FOLDERS = { "*": path.join(ROOT, "examples/page"), ...Object.fromEntries(MADE.map((name) => [name, PARTY])) };

const there = existsSync(path.join(PARTY, "party_bg.wasm"));
if (!there) console.log("the party for pages is not there\nTHE PARTY FOR PAGES WAS NOT TRIED");
export const tried = (name, work) => test(name, { skip: !there, timeout: 300_000 }, work);

/** Things that tests have once they begin: the driver of browsers, the address of the page, a folder, and the environment and fingerprint of its owner. */
export const office = {};
/** Processes that are ended after the tests. */
export const children = [];
const open = [];
let web;

const garblet = (...args) => execFileSync(GARBLET, args, { encoding: "utf8", env: office.env, stdio: ["ignore", "pipe", "ignore"] }).trim();

/** The path of a file in the folder, which is written if there is a text. */
export function file(name, text) {
  const full = path.join(office.folder, name);
  if (text !== undefined) writeFileSync(full, text);
  return full;
}

before(async () => {
  if (!there) return;
  office.folder = mkdtempSync(path.join(tmpdir(), "party-"));
  office.env = { ...process.env, HOME: office.folder, XDG_CONFIG_HOME: office.folder };
  garblet("keygen", file("own.pem"));
  office.fingerprint = JSON.parse(garblet("id", file("own.pem"), "--json")).fingerprint;
  [office.driver, web] = await Promise.all([startDriver(), site(FOLDERS, () => [])]);
  office.page = `${web.address}page/`;
});
after(async () => {
  await Promise.allSettled(open.map((browser) => browser.close()));
  await Promise.all(children.map(stop));
  await office.driver?.stop();
  web?.close();
  if (office.folder !== undefined) rmSync(office.folder, { recursive: true, force: true });
});

/** A browser that shows nothing yet. */
export async function empty(options) {
  const opened = await Browser.open(office.driver, options);
  open.push(opened);
  return opened;
}

/** A browser with the page, once the page has an identity. */
export async function browser(options) {
  const opened = await empty(options);
  await opened.goTo(office.page);
  await opened.until(() => document.querySelector("#fingerprint").textContent.length > 10);
  return opened;
}

/** The fingerprint of the page. */
export const own = (page) => page.run(() => document.querySelector("#fingerprint").textContent);
