// The page of `examples/page` in headless Chromium: a person uses it, and another one types the commands that it shows. `cargo xtask web` runs it:
// node --test page.test.mjs, with PARTY (the package for npm), GARBLET (the command), PICTURES and TOOLS (folders) in the environment.

import assert from "node:assert/strict";
import path from "node:path";

import { axe, barriers } from "./axe.mjs";
import { FOLDERS, ROOT, browser, empty, file, office, own, tried } from "./meeting.mjs";
import { LIMITS, agreeing, aliceHas, choose, command, fill, opened, other, saved, settled, status, text, underJob, written } from "./person.mjs";
import { site } from "./servers.mjs";

const { PICTURES } = process.env;

tried("a page finds out who is richer, with the commands that it shows", async () => {
  const page = await browser();
  const identities = new Set();
  // What is said again and again is put there once: screen readers might repeat it.
  await page.run(() => {
    globalThis.told = [];
    new MutationObserver((changes) => globalThis.told.push(...changes.map(({ addedNodes: [words] }) => words.textContent))).observe(document.querySelector("#status"), { childList: true });
  });
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
  const told = await page.run(() => globalThis.told);
  assert.ok(told.length > 0 && told.every((words, at) => words !== told[at + 1]), told.join("\n"));
  // The commands as they are leave receipts for both.
  await choose(page, "#theirs-log", path.join(office.folder, "garblet-receipts.jsonl"));
  await page.until(() => document.querySelector("#compared").innerText.includes("Yours 3 and theirs 3: the same run; each received what the other sent."));
  assert.equal(identities.size, 1, "the first command shows the same fingerprint again");
  await other(page);
  await fill(page, { trust: await own(page) });
  await page.click("#begin");
  await settled(page);
  assert.match(await text(page, "#trouble"), /If they read this same fingerprint to you, enter it as theirs\./);
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
  await page.until(() => document.querySelector("#trouble").textContent.includes("Line 3: expected a number and nothing else."));
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
  // Lines that are pasted are not joined.
  await refused({ wealth: "12\n34" }, "Expected a whole number", "wealth");
  await refused({ wealth: "" }, "What you have is missing.", "wealth");
  await page.click("[value=common]");
  await refused({}, "Your list is missing.", "file");
  await choose(page, "#file", file("long.csv", Array.from({ length: 257 }, (_, at) => at).join("\n")));
  await refused({}, "The file has 257 numbers, the most is 256.", "file");
  for (const [content, expected] of [["3,\n5\n", "Line 1: expected a number and nothing else."], ["a\r-3\r5", "Line 2: expected a number and nothing else."], ["a\n", "The file has no number."], ["18446744073709551616", "Line 1: expected at most 18446744073709551615, got more."]]) {
    await choose(page, "#file", file("wrong.csv", content));
    await refused({}, expected, "file");
  }
  await page.click("[value=richer]");
  assert.equal(await text(page, "#trouble"), "", "what was wrong with one question is not shown with another");
  for (const url of ["127.0.0.1:7700", "localhost:7700", "https://127.0.0.1:7700"]) await refused({ wealth: "5", url, trust: office.fingerprint }, "expected an address that begins with ws:// or wss://", "url");
  await refused({ url: "ws://127.0.0.1:7700", trust: "abcd" }, "fingerprint has 4 characters", "trust");
});

tried("a job is opened, shown and signed", async () => {
  const page = await browser();
  await page.click("[value=job]");
  await page.click("#begin");
  await page.until(() => document.querySelector("#trouble").innerText.includes("The job is missing."));
  const alice = aliceHas();
  const program = file("limits.garble.rs", LIMITS);
  const job = written("limits.toml", office.fingerprint);
  await choose(page, "#job", [job, program].join("\n"));
  await page.until(() => document.querySelector("#agreed").innerText.includes("not one of its parties"));
  assert.equal(await text(page, "#given"), "");
  await page.click("#begin");
  await page.until(() => document.querySelector("#trouble").innerText.includes("You are not one of the parties of this job."));
  written("limits.toml", await own(page));
  // The same file again: a click on the field clears it first.
  await page.run(() => document.querySelector("#job").onclick());
  await choose(page, "#job", [job, program].join("\n"));
  await page.until(() => document.querySelector("#agreed").innerText.includes("bob"));
  const said = await text(page, "#agreed");
  const { job: digest } = JSON.parse(command("job", "show", job, "--json"));
  for (const words of ["by the protocol yao, against a semi-honest adversary", "Evaluations in a run\none\n", "limits", `alice ${alice}`, "alice: limit, u32", "you: bids, [u32; 3]", "both: out0, u32", "you: not yet", digest]) assert.ok(said.includes(words), `${words} in ${said}`);

  const covered = await page.run(() => document.querySelector("#agreed details").textContent);
  for (const words of ["protocolyao", "panicson", `party 1bob ${await own(page)}`]) assert.ok(covered.includes(words), `${words} in ${covered}`);

  await fill(page, { "given-0": "[5, 20, 22]" });
  await page.click("#sign");
  await page.until(() => document.querySelector("#agreed a") !== null);
  assert.equal(await page.run(() => document.querySelector("#given-0").value), "[5, 20, 22]", "to sign erases nothing");
  assert.equal(await page.run(() => document.activeElement.textContent), "Save the signatures");
  await saved(page, "#agreed a", "limits.toml.signatures");
  command("job", "sign", job, "--identity", "alice.pem");
  assert.match(command("job", "verify", job), /all 2 parties have signed/);
  assert.deepEqual(await page.complaints(), []);
});

tried("a job is run, and its receipts fit the other's", async () => {
  const page = await browser();
  await page.click("[value=job]");
  const job = written("limits.toml", await own(page));
  await opened(page, job, path.join(office.folder, "limits.garble.rs"));
  await page.until(() => document.querySelector("#given-0") !== null);
  await fill(page, { "given-0": "[5, 20, 22]" });
  await underJob(page);
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
  assert.deepEqual(JSON.parse(log).job, JSON.parse(command("job", "show", job, "--json")).job);
  assert.match(command("receipts", "compare", "receipts.jsonl", "alice.jsonl"), /^ours 1 and theirs 1: the same run; each received what the other sent\n$/);

  // The page compares the receipts too.
  await choose(page, "#theirs-log", path.join(office.folder, "alice.jsonl"));
  await page.until(() => document.querySelector("#compared").innerText.includes("Yours 1 and theirs 1: the same run; each received what the other sent.\n"));
  assert.ok((await text(page, "#compared")).startsWith("Compared with alice.jsonl:\n"));
  assert.equal(await text(page, "#count"), `One receipt, which this browser keeps.\nThe last digest: ${JSON.parse(log).digest}`);
  assert.deepEqual([await status(page), await text(page, "#rows")], ["The result of the job:", "out0 = 42"], "the result stays");
  await choose(page, "#theirs-log", job);
  await page.until(() => document.querySelector("#receipt-trouble").innerText.startsWith("Nothing was compared."));
  assert.deepEqual([await status(page), await text(page, "#rows"), await text(page, "#compared")], ["The result of the job:", "out0 = 42", ""]);

  // The other takes another job, and this run is in the log too.
  written("others.toml", await own(page));
  await underJob(page, (command) => command.replace("limits.toml", "others.toml"));
  assert.match(await text(page, "#trouble"), /^The other has another job\./);
  const [, second] = (await saved(page, "#save", "receipts.jsonl")).trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual([second.number, second.ended.failed.class], [2, "disagreement"]);
  assert.match(command("receipts", "verify", "receipts.jsonl"), /^2 receipts/);
  // Another still, in which the page is somebody else: it is told so in words for a job.
  written("strangers.toml", office.fingerprint);
  await underJob(page, (command) => command.replace("limits.toml", "strangers.toml"));
  assert.match(await text(page, "#trouble"), /Let them end their command and copy the one that is shown above, with this same job\./);

  // Both are kept, until they are forgotten.
  const keys = () => page.run(() => Object.keys(localStorage).sort());
  assert.deepEqual(await keys(), ["garblet-identity", "garblet-receipts"]);
  const before = await own(page);
  await agreeing(page);
  await page.click("#forget");
  await page.until((before) => document.querySelector("#fingerprint").textContent !== before, before);
  assert.deepEqual(await keys(), ["garblet-receipts"], "the key and the receipts are forgotten one by one");
  assert.match(await text(page, "#trouble"), /with this same job\./, "only another run or question clears what the last run has shown");
  await page.click("#forget-receipts");
  await page.until(() => document.querySelector("#receipt").hidden);
  assert.deepEqual(await keys(), []);
  await page.until(() => document.querySelector("#agreed").innerText.includes("not one of its parties"));
  assert.deepEqual(await page.complaints(), []);
});

tried("of two jobs the one that was chosen last is open, and none unless all of it is shown", async () => {
  const page = await browser();
  await page.click("[value=job]");
  const bob = await own(page);
  const program = file("limits.garble.rs", LIMITS);
  const [slow, next] = [written("slow.toml", bob), written("next.toml", bob)];
  await page.run(() => {
    const read = File.prototype.arrayBuffer;
    File.prototype.arrayBuffer = async function () {
      if (this.name === "slow.toml") await new Promise((done) => (globalThis.readOn = done));
      return read.call(this);
    };
  });
  await opened(page, slow, program);
  await page.until(() => globalThis.readOn !== undefined);
  await opened(page, next, program);
  await page.until(() => document.querySelector("#agreed").innerText.includes("next"));
  await page.run(async () => {
    globalThis.readOn();
    await new Promise((done) => setTimeout(done, 500));
  });
  assert.deepEqual([await page.run(() => document.querySelector("#agreed dd").textContent), /--job (\S+)/.exec(await text(page, "#waits"))[1]], ["next", "next.toml"]);

  // A job that cannot be shown does not stay behind the one before.
  await page.run(() => {
    const create = document.createElement;
    document.createElement = function (name) {
      if (name === "details") throw new Error("it cannot be shown");
      return create.call(this, name);
    };
  });
  await opened(page, next, program);
  await page.until(() => document.querySelector("#trouble").innerText.includes("It cannot be shown."));
  assert.deepEqual([await text(page, "#agreed"), await text(page, "#given")], ["", ""]);
  await page.click("#begin");
  await page.until(() => document.querySelector("#trouble").innerText.includes("The job is missing."));
});

tried("files of others are checked before they are read, and shown as they are", async () => {
  const page = await browser();
  await page.click("[value=job]");
  const bob = await own(page);
  const hidden = `// \u202etnednepedni\n${LIMITS}`;
  const program = file("turned.garble.rs", hidden);
  const named = written("a job's.toml", bob, { program, words: ["--batch", "7"] });
  await opened(page, named, program);
  await page.until(() => document.querySelector("#agreed").innerText.includes("at most 7, of which this page makes one"));
  assert.match(await text(page, "#waits"), /^garblet run --job 'a job'\\''s\.toml' --input 0=FILE\.json /);
  // It is written out once somebody wants to see it, and not with each key that is pressed.
  const source = () => page.run(() => document.querySelector("#source").textContent);
  assert.equal(await source(), "");
  await page.click("#exactly summary");
  await page.until(() => document.querySelector("#source").textContent !== "");
  assert.ok((await source()).startsWith("// \\u{202e}tnednepedni\n"), await source());
  await page.run(() => void (document.querySelector("#source").firstChild.isTheSame = true));
  await fill(page, { url: "ws://127.0.0.1:7711" });
  assert.match(await text(page, "#waits"), /:7711$/);
  assert.equal(await page.run(() => document.querySelector("#source").firstChild.isTheSame), true);
  const long = file("long.garble.rs", `${LIMITS}${"// more\n".repeat(10_000)}`);
  await opened(page, written("long.toml", bob, { program: long }), long);
  await page.until(() => document.querySelector("#source").textContent.includes("These are the first 65536 of"));
  assert.ok((await source()).length < 66_000);

  const refused = async (files, expected) => {
    await opened(page, ...files);
    await page.until((expected) => document.querySelector("#trouble").innerText.includes(expected), expected);
    assert.deepEqual([await text(page, "#agreed"), await page.run(() => document.activeElement.id)], ["", "job"]);
  };
  await refused([program], "Expected one job, a file that ends in .toml, got none.");
  await refused([named, file("bytes.toml", Buffer.from([255, 254]))], "Expected one job");
  await refused([file("bytes.toml", Buffer.from([255, 254]))], "bytes.toml is not a text in UTF-8.");
  await refused([file("long.toml", "#".repeat(2 ** 20 + 1))], "long.toml has 1048577 bytes, the most is 1048576.");
  await refused([file("a\u202elmot.toml", "")], "The file a\\u{202e}lmot.toml has a name with characters that cannot be seen.");
  await refused([named, program, file("a\u3164b.toml", "")], "The file a\\u{3164}b.toml has a name");
  await refused([named], "the content of");
  // Words in a name decide nothing.
  await refused([file("receipts: `timeoutMs` garblet trust add.toml", "name = 5")], "Ask its author for the job and its program again.");
  await refused([named, file("other.garble.rs", LIMITS.replace("bids[1] +", "bids[0] +"))], "Ask its author for the job and its program again.");

  await page.click("[value=common]");
  await choose(page, "#file", file("long.csv", "1\n".repeat(2 ** 19 + 1)));
  await fill(page, { trust: office.fingerprint });
  await page.click("#begin");
  await page.until(() => document.querySelector("#trouble").innerText.includes("long.csv has 1048578 bytes"));
});

tried("words, quotes and values are made as shells, people and the package read them", async () => {
  const page = await browser();
  const [quoted, values, seen, parts, named] = await page.run(async () => {
    const [words, job] = [await import("./words.js"), await import("./job.js")];
    return [
      ["a.toml", "-a.toml", "a b", "it's", "$(rm)", "\u00e9", ""].map(words.quoted),
      ["5", "12345678901234567890", '[12345678901234567890, 1.5, "12345678901234567890"]', '{"a": -12345678901234567890}', "true", "a word", "[-0.0, 1e400, 1e300, 16777217.0, 9007199254740992, -0, true, 0.1]"].map((text) => job.value(text)),
      ["a\u202eb\u001b", "\u200d a\n\t\u00e9", "\u3164\u115f\u2800\u034f\u00a0\u3000a\ufe0f", "\u2764\ufe0f"].map(words.visible),
      [...words.element("p", "who: \u05d0\u05d1 \u05d2: 5, \u0627").childNodes].map(({ nodeName, textContent }) => `${nodeName} ${textContent}`),
      await job.read([new File([""], "a.toml"), new File([""], "b\nc.toml")]).catch(({ message }) => message),
    ];
  });
  assert.deepEqual(quoted, ["a.toml", "./-a.toml", "'a b'", "'it'\\''s'", "'$(rm)'", "'\u00e9'", "''"]);
  assert.deepEqual(values, ["5", "12345678901234567890", ["12345678901234567890", 1.5, "12345678901234567890"], { a: "-12345678901234567890" }, true, "a word", ["-0.0", "1e400", "1e300", "16777217.0", "9007199254740992", "-0", true, 0.1]]);
  assert.deepEqual(seen, ["a\\u{202e}b\\u{1b}", "\u200d a\n\t\u00e9", "\\u{3164}\\u{115f}\\u{2800}\\u{34f}\\u{a0}\\u{3000}a\\u{fe0f}", "\u2764\ufe0f"]);
  assert.deepEqual(parts, ["#text who: ", "BDI \u05d0\u05d1 \u05d2", "#text : 5, ", "BDI \u0627", "#text "]);
  assert.equal(named, "The file b\\nc.toml has a name with characters that cannot be seen");
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
  await agreeing(page);
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
  assert.match(await started('Object.defineProperty(Navigator.prototype, "locks", { value: undefined })'), /^This page was loaded over plain HTTP, [^]*open it from an https:\/\/ address/i);
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
    assert.equal(await page.run(() => localStorage.getItem("garblet-identity")), kept, "nothing takes its place until it is forgotten");
    assert.match(await text(page, "main"), /keeps a key for this page that cannot be read/);
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
      [...document.querySelectorAll("button, summary, .choice, textarea, input:not([type=radio])")]
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
