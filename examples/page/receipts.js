// The log of receipts that this page adds to: one for all tabs of the browser, unless that keeps nothing.

import { element, link, textOf, unfit } from "./words.js";

/** The most bytes of a log that is read, and the room for a receipt, in characters. */
const LOG_BYTES_MAX = 2 ** 26;
const ROOM = 2 ** 16;
const ROOM_KEY = "garblet-room";

/** The log as this tab knows it. `isAhead` is set while the browser lacks its last receipt. */
let log = "";
let isAhead = false;
let isKept = true;

const at = (id) => document.getElementById(id);

/** Works, unless another tab of this page does: each run adds its receipt to the same log. */
export async function alone(work) {
  if (navigator.locks === undefined) return work();
  return navigator.locks.request("garblet", { ifAvailable: true }, (lock) => {
    if (lock === null) throw unfit("This page is computing in another tab", "wait until that has ended");
    return work();
  });
}

/** The log to which a run adds, for a caller that is `alone`. *Errors*: the browser has no room for another receipt. */
export function begun(garblet) {
  if (!isKept) return log;
  if (!isAhead) log = garblet.kept().receipts ?? "";
  try {
    localStorage.setItem(ROOM_KEY, " ".repeat(ROOM));
  } catch {
    throw unfit("The browser has no room for another receipt, so nothing was computed", "save the receipts, let this page forget them, and begin again");
  } finally {
    localStorage.removeItem(ROOM_KEY);
  }
  return log;
}

/** Keeps the log that a run has left, if it has. Returns words for a person where the browser does not. */
export async function ended(garblet, { receipts, notes = [] }) {
  if (receipts === undefined) return [];
  log = receipts;
  isAhead = false;
  const words = [...notes];
  if (isKept) {
    try {
      garblet.keep({ receipts });
    } catch ({ message }) {
      isAhead = true;
      words.push(`The run has ended, but the browser does not keep its receipt: ${message}`, "save the receipts now, before you leave this page; then let it forget them");
    }
  }
  await offer(garblet);
  return words;
}

/** Takes the log that the browser keeps, at the beginning and once another tab has changed it. */
export async function taken(garblet, keeps) {
  isKept &&= keeps;
  if (isKept && !isAhead) log = garblet.kept().receipts ?? "";
  await offer(garblet);
}

/** Forgets the log. The next run begins another one. */
export async function forgotten(garblet) {
  garblet.forget("receipts");
  [log, isAhead] = ["", false];
  await offer(garblet);
}

/** Offers the whole log, from its first receipt on, if there is one. */
async function offer(garblet) {
  at("compared").replaceChildren();
  at("receipt").hidden = log === "";
  if (log === "") return;
  const saves = link("receipts.jsonl", log, "Save the receipts", { id: "save" });
  URL.revokeObjectURL(at("save").href);
  at("save").replaceWith(saves);
  try {
    const { receipts, notes } = await garblet.readReceipts(log);
    const count = receipts.length === 1 ? "One receipt" : `${receipts.length} receipts`;
    at("count").replaceChildren(...[isKept ? `${count}, which this browser keeps` : count, ...notes].map((line) => element("li", line)));
  } catch ({ message }) {
    at("count").replaceChildren(element("li", `The receipts were changed: ${message}`));
  }
}

/** Compares the log with that in a file of the other. */
export async function compared(garblet) {
  const [file] = at("theirs-log").files;
  at("compared").replaceChildren();
  if (file === undefined) return;
  const { alike, onlyOurs, onlyTheirs, notes } = await garblet.compareReceipts(log, await textOf(file, LOG_BYTES_MAX, "theirs-log"));
  const numbers = (receipts) => receipts.map(({ number }) => number).join(", ");
  const lines = alike.map(([ours, theirs]) => `Yours ${ours.number} and theirs ${theirs.number}: the same run; each received what the other sent.`);
  if (onlyOurs.length > 0) lines.push(`Only in yours, or with other contents: ${numbers(onlyOurs)}.`);
  if (onlyTheirs.length > 0) lines.push(`Only in theirs, or with other contents: ${numbers(onlyTheirs)}.`);
  if (lines.length === 0) lines.push("Neither has a run in which somebody was met.");
  at("compared").replaceChildren(...[...lines, ...notes].map((line) => element("li", line)));
}
