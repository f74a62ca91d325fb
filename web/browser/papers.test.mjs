// The page of `garblet-lab papers` in headless Chromium, made of the report that the book has. `cargo xtask web` runs it: node --test
// papers.test.mjs, with LAB (the laboratory), REPORT (the report), PICTURES and TOOLS (folders) in the environment.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { pathToFileURL } from "node:url";

import { axe, barriers } from "./axe.mjs";
import { Browser, startDriver } from "./driver.mjs";

const { LAB, PICTURES, REPORT } = process.env;
/** What a person may prefer; `barriers` where colours or sizes make a difference to what axe finds. */
const SIZES = { light: { barriers: true }, dark: { dark: true, barriers: true }, narrow: { width: 400, height: 800 } };

let driver;
let browser;
let folder;

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "papers-"));
  execFileSync(LAB, ["papers", "--from", REPORT, "--report", folder], { stdio: "ignore" });
  driver = await startDriver();
  browser = await Browser.open(driver);
  await browser.goTo(pathToFileURL(path.join(folder, "index.html")).href);
});
after(async () => {
  await browser?.close();
  await driver?.stop();
  rmSync(folder, { recursive: true, force: true });
});

for (const [name, size] of Object.entries(SIZES)) {
  test(`the page is readable: ${name}`, async (context) => {
    await browser.look({ width: 1100, height: 900, ...size });
    const [wide, inner] = await browser.run(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(wide <= inner, `${wide} pixels of ${inner}: only tables scroll to the side`);
    await browser.picture(PICTURES, `papers-${name}`);
    if (!size.barriers) return;
    const script = axe();
    if (script === undefined) {
      context.diagnostic("NOT TRIED: axe-core cannot be fetched");
      return;
    }
    assert.deepEqual(await barriers(browser, script), []);
  });
}

test("every paper has a section, tables and a plot with its values in words", async () => {
  await browser.look({ width: 1100, height: 900 });
  const sections = await browser.run(() =>
    [...document.querySelectorAll("main > section:not(#summary)")].map((section) => ({
      id: section.id,
      rows: section.querySelectorAll("table.rows tbody tr").length,
      words: [...section.querySelectorAll("svg[role=img] > desc")].map((desc) => desc.textContent.length),
    })));
  assert.deepEqual(sections.map(({ id }) => id), ["compgc", "partialgc", "pssw", "lego", "bmr"]);
  for (const { id, rows, words } of sections) {
    assert.ok(rows > 10 && words.length > 0 && words.every((length) => length > 60), `${id}: ${rows} rows, ${words}`);
  }
});

test("a click on a head sorts, and points show their values", async () => {
  const values = () => browser.run(() =>
    [...document.querySelectorAll("#lego-table-4 + .scrolled tbody tr")].map((row) => Number(row.cells[2].dataset.value)));
  await browser.click("#lego-table-4 + .scrolled thead th:nth-child(3) button");
  const sorted = await values();
  assert.deepEqual(sorted, sorted.toSorted((a, b) => a - b));
  const shown = await browser.run(() => {
    document.querySelector("circle.hit").dispatchEvent(new PointerEvent("pointerenter", { pageX: 5, pageY: 5 }));
    const tip = document.querySelector(".tip");
    return [tip.hidden, tip.textContent];
  });
  assert.equal(shown[0], false);
  assert.match(shown[1], /: .+, .+/);
});

test("on paper tables are whole, and the console has nothing to say", async () => {
  await browser.cdp("Emulation.setEmulatedMedia", { media: "print" });
  await browser.look({ width: 794, height: 1123 });
  await browser.picture(PICTURES, "papers-print");
  await browser.cdp("Emulation.setEmulatedMedia", { media: "" });
  assert.deepEqual(await browser.complaints(), []);
});
