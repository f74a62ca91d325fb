// The log of receipts that this page adds to: one for all tabs of the browser, unless that stores nothing.

import { element, link, textOf, unfit } from "./words.js";

/** The most bytes of a log that is read, and the room for a receipt, in characters. */
const LOG_BYTES_MAX = 2 ** 26;
const ROOM = 2 ** 16;
const ROOM_KEY = "garblet-room";
/** The time after which a link that was replaced saves nothing any more. A download may wait for the person first. */
const REPLACED_MS = 600_000;
/** The lock of whoever changes what the package keeps, as the book names it. */
const LOCK = "garblet-receipts";

/** The log as this tab knows it, and as the browser kept it when this tab last read or wrote it: it then lacks receipts of this tab, if these differ. */
let log = "";
let base = "";
/** Set once the browser keeps a log that this one does not follow. */
let isApart = false;
/** Words on receipts that are neither kept nor saved. */
let unsaved = [];
/** The number of the last comparison that was begun. */
let comparison = 0;

const at = (id) => document.getElementById(id);
const lines = (texts) => texts.map((text) => element("li", text));

/** The log that the browser keeps, which may be empty; nothing if it cannot be read. */
function keptLog(garblet) {
  try {
    return garblet.kept().receipts ?? "";
  } catch {
    return undefined;
  }
}

/** Works, unless another tab of this page does: each run adds its receipt to the same log. */
export async function alone(work) {
  return navigator.locks.request(LOCK, { ifAvailable: true }, (lock) => {
    if (lock === null) throw unfit("This page is computing in another tab", "wait until that has ended");
    return work();
  });
}

/** Returns whether the browser stores nothing for any page of this origin: then it refuses to store anything, and not for want of room. */
export function isEmpty() {
  try {
    return localStorage.length === 0;
  } catch {
    return true;
  }
}

/** Follows a log that was removed, in this tab or another: no receipt of it comes back. One that cannot be read was not removed. */
function followed(garblet) {
  const now = keptLog(garblet);
  if (now === undefined) return;
  const isRemoved = now === "" && base !== "";
  if (!isRemoved && log !== base) {
    isApart ||= now !== base;
    return;
  }
  [log, base, isApart] = [now, now, false];
  if (isRemoved) unsaved = [];
}

/** The log to which a run adds, for a caller that is `alone`. *Errors*: the receipt could not be kept beside the others, or these cannot be read. */
export function begun(garblet) {
  if (keptLog(garblet) === undefined) throw unfit("The browser cannot read the receipts that it keeps, so nothing was computed", "load the page again");
  followed(garblet);
  if (isApart) throw unfit("This browser keeps other receipts than this tab has, so nothing was computed", "save the receipts of this tab, and load the page again");
  try {
    localStorage.setItem(ROOM_KEY, " ".repeat(ROOM));
    localStorage.removeItem(ROOM_KEY);
  } catch {
    // One that stores nothing at all has no log beside which this one would be a second.
    if (!isEmpty()) throw unfit("The browser has no room for another receipt, so nothing was computed", "save the receipts, let this page forget them, and begin again");
  }
  return log;
}

/** Keeps the log that a run has left, if it has, unless the browser does not keep any more what the run began from. Returns remarks on the log. */
export async function ended(garblet, { receipts, notes = [] }) {
  if (receipts === undefined) {
    if (keptLog(garblet) !== base) await taken(garblet);
    return [];
  }
  log = receipts;
  const now = keptLog(garblet);
  isApart = now !== undefined && now !== base;
  try {
    if (now === undefined) throw new Error("it cannot read those that it keeps");
    if (isApart) {
      base = now;
      throw new Error("another tab or page has changed those that it keeps");
    }
    garblet.keep({ receipts });
    [base, unsaved] = [receipts, []];
  } catch ({ message }) {
    const then = isApart || now === undefined ? "load it again" : "let it forget them";
    unsaved = [`The run has ended, but the browser does not keep its receipt: ${message}.`, `Save the receipts now, before you leave this page; then ${then}.`];
  }
  await offer(garblet);
  return notes;
}

/** Takes the log that the browser keeps, at the beginning and once another tab has changed it. */
export async function taken(garblet) {
  followed(garblet);
  await offer(garblet);
}

/** Forgets the log. The next run begins another one. */
export async function forgotten(garblet) {
  garblet.forget("receipts");
  [log, base, isApart, unsaved] = ["", "", false, []];
  await offer(garblet);
}

/** Offers the whole log, from its first receipt on, if there is one. */
async function offer(garblet) {
  comparison += 1;
  for (const id of ["compared", "count", "saving"]) at(id).replaceChildren();
  at("receipt").hidden = log === "";
  tellUnsaved();
  if (log === "") return;
  const saves = link("receipts.jsonl", log, "Save the receipts", { id: "save", onclick: saving });
  const { href } = at("save");
  setTimeout(() => URL.revokeObjectURL(href), REPLACED_MS);
  at("save").replaceWith(saves);
  const said = await counted(garblet, log).catch(({ message, hint }) => [`The receipts cannot be read: ${message}`, hint]);
  if (saves.isConnected) at("count").replaceChildren(...lines(said));
}

/** The number of receipts, the last digest, and remarks. *Errors*: this is no log. */
async function counted(garblet, log) {
  const { receipts, notes } = await garblet.readReceipts(log);
  const kept = isApart || log === base ? receipts.length : (await garblet.readReceipts(base)).receipts.length;
  return [`${placed(receipts.length, kept)}.`, `The last digest: ${receipts.at(-1)?.digest ?? "none"}`, ...notes];
}

/** Words on a number of receipts, and on those of them that the browser keeps. */
function placed(all, kept) {
  const count = all === 1 ? "One receipt" : `${all} receipts`;
  const last = all - kept === 1 ? "the last" : `the last ${all - kept}`;
  if (isApart) return `${count} of this tab, which are not in the log that this browser keeps`;
  if (kept === all) return `${count}, which this browser keeps`;
  return kept === 0 ? `${count}, which this browser does not keep` : `${count}, of which this browser keeps ${kept}, and not ${last}`;
}

/** Asks whether receipts that are nowhere else are saved: a page does not see whether the person or the browser has stopped a download. */
function saving() {
  if (unsaved.length === 0) return;
  const yes = element("button", "Yes, they are saved", { type: "button", id: "saved", onclick: saved });
  at("saving").replaceChildren(element("p", "Did your browser save the receipts? Look for receipts.jsonl among your downloads."), yes);
}

/** Ends the warning of receipts that were not saved. */
function saved() {
  unsaved = [];
  tellUnsaved();
  at("saving").replaceChildren();
  at("save").focus();
}

/** Warns of receipts that are neither kept nor saved, as long as there are some. */
function tellUnsaved() {
  at("unsaved").replaceChildren(...unsaved.map((line) => element("p", line)));
}

/** Asks a person who leaves the page with receipts that are nowhere else. */
addEventListener("beforeunload", (event) => {
  if (unsaved.length > 0) event.preventDefault();
});

/** Compares the log with that in a file of the other. The one that was chosen last is shown. */
export async function compared(garblet) {
  const own = (comparison += 1);
  const [file] = at("theirs-log").files;
  at("compared").replaceChildren();
  if (file === undefined) return;
  try {
    const theirs = await textOf(file, LOG_BYTES_MAX, "theirs-log");
    const found = await garblet.compareReceipts(log, theirs);
    const { receipts } = await garblet.readReceipts(theirs);
    if (own === comparison) at("compared").replaceChildren(...lines([`Compared with ${file.name}:`, ...differences(found), `The last digest of ${file.name}: ${receipts.at(-1)?.digest ?? "none"}`]));
  } catch (error) {
    if (own === comparison) throw error;
  }
}

const how = ({ ended }) => (ended.ok === undefined ? "without a result" : "with a result");

/** A comparison in the words of the command. */
function differences({ alike, onlyOurs, onlyTheirs, differs, notes }) {
  const pair = ([ours, theirs]) => {
    const apart = how(ours) === how(theirs) ? "" : `; yours ended ${how(ours)}, theirs ${how(theirs)}`;
    return `Yours ${ours.number} and theirs ${theirs.number}: the same run; each received what the other sent${apart}.`;
  };
  const single = (whose) => (receipt) => {
    const isCut = (receipt.ended.ok?.closing ?? null) !== null;
    const [end, last] = isCut ? [", though the peer did not close the session properly", ", or its last message was lost"] : ["", ""];
    return `${whose} ${receipt.number}, ${receipt.time}, ${how(receipt)}${end}: not in the other log${last}.`;
  };
  const all = [...alike.map(pair), ...onlyOurs.map(single("Yours")), ...onlyTheirs.map(single("Theirs"))];
  if (all.length === 0) all.push("Neither has a run in which somebody was met.");
  if (differs) all.push("Some runs with a result are in only one log, or differ between the two: one of you has other receipts, or bytes were changed in transit. Compare versions and times.");
  return [...all, ...notes];
}
