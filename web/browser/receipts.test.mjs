// Receipts of the page of `examples/page` in headless Chromium. `cargo xtask web` runs it:
// node --test receipts.test.mjs, with PARTY (the package for npm) and GARBLET (the command) in the environment.

import assert from "node:assert/strict";
import path from "node:path";

import { browser, file, office, own, tried } from "./meeting.mjs";
import { LIMITS, agreeing, alone, choose, fill, opened, saved, settled, text, written } from "./person.mjs";

tried("receipts are one log, whatever the browser keeps", async () => {
  const page = await browser();
  await page.click("[value=job]");
  const job = written("limits.toml", await own(page));
  await opened(page, job, path.join(office.folder, "limits.garble.rs"));
  await page.until(() => document.querySelector("#given-0") !== null);
  const compute = async (given) => {
    await fill(page, { url: "ws://127.0.0.1:1", "given-0": given });
    await page.click("#begin");
    await settled(page);
    return text(page, "#trouble");
  };
  const kept = () => page.run(() => localStorage.getItem("garblet-receipts")?.trim().split("\n").length ?? 0);
  // An input of another type is found before there is a run, and leads to its field.
  assert.match(await compute("[1, 2]"), /^Input `bids`/);
  assert.deepEqual([await page.run(() => document.activeElement.id), await kept()], ["given-0", 0]);
  assert.match(await compute("[1, 2, 3]"), /no WebSocket could be opened/);
  assert.equal(await kept(), 1);

  // A browser that has no more room says so, before a run and behind one.
  const full = (key) =>
    page.run((key) => {
      globalThis.setItem ??= Storage.prototype.setItem;
      Storage.prototype.setItem = function (name, value) {
        if (name === key) throw new DOMException("full", "QuotaExceededError");
        return globalThis.setItem.call(this, name, value);
      };
    }, key);
  await full("garblet-room");
  assert.match(await compute("[1, 2, 3]"), /^The browser has no room for another receipt, so nothing was computed\.\s+Save the receipts/);
  await full("garblet-receipts");
  await compute("[1, 2, 3]");
  const isWarned = () => page.run(() => [document.querySelector("#unsaved").innerText.includes("but the browser does not keep its receipt: "), !dispatchEvent(new Event("beforeunload", { cancelable: true }))]);
  assert.deepEqual([await isWarned(), await kept()], [[true, true], 1]);
  assert.match(await text(page, "#count"), /^2 receipts, of which this browser keeps 1, and not the last\.\n/);
  // The warning stays until they are saved, whatever else is done.
  await choose(page, "#theirs-log", job);
  await page.until(() => document.querySelector("#receipt-trouble").innerText.startsWith("Nothing was compared."));
  await page.click("[value=richer]");
  await page.click("[value=job]");
  assert.deepEqual(await isWarned(), [true, true]);
  await saved(page, "#save", "receipts.jsonl");
  assert.deepEqual(await isWarned(), [true, true], "a page does not see whether a download ends");
  await page.click("#saved");
  assert.deepEqual(await isWarned(), [false, false]);
  assert.deepEqual([await text(page, "#saving"), await page.run(() => document.activeElement.id)], ["", "save"]);
  await full("");
  await compute("[1, 2, 3]");
  assert.equal(await kept(), 3, "the one that was not kept is in the log");
  assert.deepEqual(await page.run(() => Object.keys(localStorage).sort()), ["garblet-identity", "garblet-receipts"]);

  // All are there when the page is loaded again, also an incomplete one.
  await page.run(() => localStorage.setItem("garblet-receipts", `${localStorage.getItem("garblet-receipts")}{"format":1,`));
  await page.reload();
  await page.until(() => document.querySelector("#count").innerText.startsWith("3 receipts"));
  assert.match(await text(page, "#count"), /incomplete receipt/);
  const log = await saved(page, "#save", "receipts.jsonl");
  assert.deepEqual(log.split("\n").slice(0, 3).map((line) => JSON.parse(line).number), [1, 2, 3]);

  // Another tab forgets.
  const elsewhere = (key) =>
    page.run((key) => {
      localStorage.removeItem(key);
      dispatchEvent(new StorageEvent("storage", { key, newValue: null }));
    }, key);
  await elsewhere("garblet-receipts");
  await page.until(() => document.querySelector("#receipt").hidden);
  const before = await own(page);
  await elsewhere("garblet-identity");
  await page.until((before) => document.querySelector("#fingerprint").textContent !== before, before);
  assert.match(await text(page, "main"), /The key is forgotten/);
  assert.deepEqual(await page.run(() => Object.keys(localStorage)), []);

  // A tab that computes is waited for.
  await page.run(() => void navigator.locks.request("garblet-receipts", () => new Promise((done) => (globalThis.giveBack = done))));
  await agreeing(page);
  await page.click("#renew");
  await page.until(() => document.querySelector("#who-trouble").innerText.includes("This page is computing in another tab."));
  await page.run(() => globalThis.giveBack());
});

tried("a log is not written over one that another tab has changed, and what is forgotten does not come back", async () => {
  const page = await browser();
  file("limits.garble.rs", LIMITS);
  await alone(page);
  const kept = () => page.run(() => localStorage.getItem("garblet-receipts"));
  const first = await kept();
  // Another tab changes the log between the beginning and the end of a run.
  const during = (change) =>
    page.run((change) => {
      globalThis.removeItem ??= Storage.prototype.removeItem;
      Storage.prototype.removeItem = function (name) {
        globalThis.removeItem.call(this, name);
        if (name === "garblet-room" && change !== null) this.setItem("garblet-receipts", change);
      };
    }, change);
  await during("theirs");
  await alone(page);
  await during(null);
  assert.equal(await kept(), "theirs");
  assert.match(await text(page, "#unsaved"), /another tab or page has changed those that it keeps[^]*then load it again\./);
  assert.match(await text(page, "#count"), /^2 receipts of this tab, which are not in the log that this browser keeps\./);
  await alone(page);
  assert.match(await text(page, "#trouble"), /^This browser keeps other receipts than this tab has, so nothing was computed\./);
  assert.equal(await kept(), "theirs");

  // The tab has a receipt more than is kept, and another tab forgets all.
  await page.run((first) => localStorage.setItem("garblet-receipts", first), first);
  await page.goTo(office.page);
  await page.until(() => document.querySelector("#count").innerText.startsWith("One receipt"));
  const room = (isFull) =>
    page.run((isFull) => {
      globalThis.setItem ??= Storage.prototype.setItem;
      Storage.prototype.setItem = function (name, value) {
        if (isFull && name === "garblet-receipts") throw new DOMException("full", "QuotaExceededError");
        return globalThis.setItem.call(this, name, value);
      };
    }, isFull);
  await room(true);
  await alone(page);
  await page.until(() => document.querySelector("#count").innerText.startsWith("2 receipts, of which this browser keeps 1"));
  await room(false);
  await page.run(() => {
    localStorage.removeItem("garblet-receipts");
    dispatchEvent(new StorageEvent("storage", { key: "garblet-receipts", newValue: null }));
  });
  await page.until(() => document.querySelector("#receipt").hidden && document.querySelector("#unsaved").innerText === "");
  await alone(page);
  assert.deepEqual((await kept()).trim().split("\n").map((line) => JSON.parse(line).number), [1]);
  // A log that a later version wrote is not called changed.
  await page.run(() => localStorage.setItem("garblet-receipts", '{"format":2,"number":1,"previous":""}\n'));
  await alone(page);
  assert.match(await text(page, "#trouble"), /is of format 2, [^]*A later version wrote it: update Garblet\.$/);
  await page.run(() => localStorage.setItem("garblet-receipts", "none"));
  await alone(page);
  assert.match(await text(page, "#trouble"), /^The receipts that this browser keeps for this page were changed: [^]*Save them: /);
});

tried("a browser without room is not one that stores nothing", async () => {
  const page = await browser();
  file("limits.garble.rs", LIMITS);
  await alone(page);
  const log = await page.run(() => (localStorage.removeItem("garblet-identity"), localStorage.getItem("garblet-receipts")));
  const script = 'Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };';
  await page.cdp("Page.addScriptToEvaluateOnNewDocument", { source: script });
  await page.reload();
  await page.until(() => document.querySelector("#count").innerText.startsWith("One receipt, which this browser keeps."));
  assert.equal(await page.run(() => document.querySelector("[data-why=full]").checkVisibility() && !document.querySelector("#forgetful").checkVisibility()), true);
  await alone(page);
  assert.match(await text(page, "#trouble"), /^The browser has no room for another receipt, so nothing was computed\./);
  assert.equal(await page.run(() => localStorage.getItem("garblet-receipts")), log);
});

tried("of two logs the one that was chosen last is compared, in the words of the command", async () => {
  const page = await browser();
  const said = await page.run(async () => {
    const { compared } = await import("./receipts.js");
    const receipt = (number, ended) => ({ number, time: "then", digest: `d${number}`, ended });
    const [ok, cut, failed] = [{ ok: { closing: null } }, { ok: { closing: "gone" } }, { failed: { class: "network", message: "" } }];
    const found = { alike: [[receipt(1, ok), receipt(1, failed)]], onlyOurs: [receipt(2, cut)], onlyTheirs: [receipt(3, ok)], differs: true, notes: [] };
    let slow;
    const garblet = {
      compareReceipts: (_, theirs) => (theirs === "slow" ? new Promise((done) => (slow = () => done(found))) : found),
      readReceipts: () => ({ receipts: [receipt(3, ok)] }),
    };
    const choose = (name) => {
      const files = new DataTransfer();
      files.items.add(new File([name], `${name}.jsonl`));
      document.querySelector("#theirs-log").files = files.files;
      return compared(garblet);
    };
    const first = choose("slow");
    while (slow === undefined) await new Promise((done) => setTimeout(done, 10));
    await choose("next");
    slow();
    await first;
    return [...document.querySelectorAll("#compared li")].map((line) => line.textContent);
  });
  assert.deepEqual(said, [
    "Compared with next.jsonl:",
    "Yours 1 and theirs 1: the same run; each received what the other sent; yours ended with a result, theirs without a result.",
    "Yours 2, then, with a result, though the peer did not close the session properly: not in the other log, or its last message was lost.",
    "Theirs 3, then, with a result: not in the other log.",
    "Some runs with a result are in only one log, or differ between the two: one of you has other receipts, or bytes were changed in transit. Compare versions and times.",
    "The last digest of next.jsonl: d3",
  ]);
  // While the page computes, nothing is compared.
  await fill(page, { trust: office.fingerprint });
  assert.equal(await page.run(() => (document.querySelector("#begin").click(), document.querySelector("#theirs-log").disabled)), true);
});
