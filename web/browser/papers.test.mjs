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

/** A test that does not end is ended. */
const LIMIT = { timeout: 300_000 };

const { LAB, PICTURES, REPORT } = process.env;
/** Preferences that a person may have; `barriers` where axe looks. In the light it looks once all is unfolded. */
const SIZES = { light: {}, dark: { dark: true, barriers: true }, narrow: { width: 400, height: 800 } };

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
  test(`the page is readable: ${name}`, LIMIT, async (context) => {
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

/** The most that is there before anything is unfolded: height at a width of 1,100, and text. */
const HEIGHT_MAX = 7_000;
const TEXT_MAX = 60_000;

test("the page is short until something is unfolded, and begins with the answer", LIMIT, async (context) => {
  await browser.look({ width: 1100, height: 900 });
  const page = await browser.run(() => ({
    height: document.documentElement.scrollHeight,
    text: new TextEncoder().encode(document.body.innerText).length,
    folded: document.querySelectorAll("details").length,
    open: document.querySelectorAll("details[open]").length,
    order: [...document.querySelectorAll("main > *")].map((part) => part.id || part.localName),
    figures: document.querySelectorAll("#summary .compared tbody")[0].rows.length,
    worse: document.querySelectorAll("#summary .compared")[1].querySelectorAll(".ratio.worse").length,
    plots: [...document.querySelectorAll("#summary figure")].map((plot) => plot.getBoundingClientRect().bottom + scrollY),
  }));
  context.diagnostic(`MEASURED: ${page.height} pixels, ${page.text} bytes of text`);
  assert.ok(page.height <= HEIGHT_MAX, `${page.height} pixels`);
  assert.ok(page.text <= TEXT_MAX, `${page.text} bytes of text`);
  assert.ok(page.folded > 30 && page.open === 0, `${page.open} of ${page.folded} are open`);
  assert.deepEqual(page.order, ["summary", "nav", "compgc", "partialgc", "pssw", "lego", "bmr"]);
  assert.deepEqual([page.figures, page.plots.length], [10, 3]);
  assert.ok(page.worse > 1, "where the papers are better is said");
});

test("every paper has a section, tables and a plot with its values in words", LIMIT, async () => {
  await browser.look({ width: 1100, height: 900 });
  const sections = await browser.run(() =>
    [...document.querySelectorAll("main > section:not(#summary)")].map((section) => ({
      id: section.id,
      rows: section.querySelectorAll("table.rows tbody tr").length,
      words: [...section.querySelectorAll("svg[role=img] > desc")].map((desc) => desc.textContent.length),
      bare: [...section.querySelectorAll(".cards > .card")].filter((card) => !card.querySelector(":scope > figure, :scope > .scrolled table")).length,
    })));
  assert.deepEqual(sections.map(({ id }) => id), ["compgc", "partialgc", "pssw", "lego", "bmr"]);
  for (const { id, rows, words, bare } of sections) {
    assert.ok(rows > 10 && words.length > 0 && words.every((length) => length > 60), `${id}: ${rows} rows, ${words}`);
    assert.equal(bare, 0, `${id}: an experiment has neither a plot nor a table`);
  }
});

test("an unfolded table has its notes, a click on a head sorts, and points show their values", LIMIT, async () => {
  await browser.click("#lego-table-4 > details > summary");
  const [wide, card, notes] = await browser.run(() => {
    const card = document.querySelector("#lego-table-4");
    const width = (part) => part.getBoundingClientRect().width;
    return [width(document.querySelector("main")), width(card), card.querySelectorAll("details > p.notes, details > ol.notes > li, td.notes .own").length];
  });
  assert.ok(card > wide - 1 && notes > 5, `${card} of ${wide} pixels, ${notes} notes`);
  const values = () => browser.run(() =>
    [...document.querySelectorAll("#lego-table-4 table.rows tbody tr")].map((row) => Number(row.cells[2].dataset.value)));
  await browser.click("#lego-table-4 table.rows thead th:nth-child(3) button");
  const sorted = await values();
  assert.deepEqual(sorted, sorted.toSorted((a, b) => a - b));
  const shown = await browser.run(() => {
    document.querySelector("circle.hit").dispatchEvent(new PointerEvent("pointerenter", { pageX: 5, pageY: 5 }));
    const tip = document.querySelector(".tip");
    return [tip.hidden, tip.textContent];
  });
  assert.equal(shown[0], false);
  assert.match(shown[1], /: .+, .+/);
  await browser.click("#lego-table-4 > details > summary");
});

test("all that is folded can be read too, also on a narrow screen", LIMIT, async () => {
  await browser.run(() => document.querySelectorAll("details").forEach((part) => (part.open = true)));
  for (const width of [1100, 400]) {
    await browser.look({ width, height: 900 });
    const [wide, inner] = await browser.run(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(wide <= inner, `${wide} pixels of ${inner}: only tables scroll to the side`);
  }
  const script = axe();
  if (script !== undefined) assert.deepEqual(await barriers(browser, script), []);
  await browser.run(() => document.querySelectorAll("details").forEach((part) => (part.open = false)));
});

test("on paper tables are whole and nothing is folded, and the console has nothing to say", LIMIT, async () => {
  const hidden = () => browser.run(() => [...document.querySelectorAll("table.rows")].filter((table) => !table.checkVisibility()).length);
  assert.ok((await hidden()) > 20);
  // Where style sheets cannot show it, the events before and after printing do.
  await browser.run(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await hidden(), 0);
  await browser.run(() => dispatchEvent(new Event("afterprint")));
  assert.ok((await hidden()) > 20);
  await browser.look({ width: 794, height: 1123 });
  await browser.cdp("Emulation.setEmulatedMedia", { media: "print" });
  assert.equal(await hidden(), 0);
  await browser.picture(PICTURES, "papers-print");
  await browser.cdp("Emulation.setEmulatedMedia", { media: "" });
  assert.deepEqual(await browser.complaints(), []);
});
