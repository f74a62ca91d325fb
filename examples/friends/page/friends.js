// The page: what a person does, and what it is told.

import { TownMap, cellName, initials, markOf } from "./map.js";
import { explained } from "./troubles.js";

/** The part that needs the client for pages, which others put beside this page: it is loaded when the page can say that it is missing. */
let visits;

const find = (id) => document.getElementById(id);
/** The person of this window. */
const WHO = "garblet-friends-who";
/** The longest wait for servers that a person who wants to be forgotten has. */
const PARTING_MS = 10_000;
/** The words for a person who wants to be forgotten, by the outcome of leaving the map. */
const PARTINGS = {
  left: {
    text: "You have left the map, and this device has deleted everything about you. To come back, open your link.",
    said: "You have left the map and are forgotten here.",
  },
  stays: {
    title: "You are still on the map",
    sure: "You cannot leave the map now. Your place stays on it, visible to friends near it, until you come back with your link. You can still delete what this device stores.",
    text: "This device has deleted everything about you. Your place is still on the map; to remove it, open your link and leave the map.",
    said: "You are forgotten here, and still on the map.",
  },
  unknown: {
    title: "You may still be on the map",
    sure: "The two servers did not both confirm it, so we do not know whether you have left the map. If you have not, your place stays on it, visible to friends near it, until you come back with your link. You can still delete what this device stores.",
    text: "This device has deleted everything about you. Your place may still be on the map; to make sure that it is not, open your link and leave the map.",
    said: "You are forgotten here. We do not know whether you are still on the map.",
  },
};

let town;
let map;
let person;
/** For each friend a spot, or `null`; nothing before the first look. */
let seen;
/** The work under way, as long as it is: a way to end it, and its end. */
let busy;
/** The deed of `Try again`. */
let again;

// The words.

function say(text, state = "settled") {
  find("status").textContent = text;
  find("status-card").className = `card status ${state}`;
}

/** Names in a sentence. */
function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function others() {
  const all = town.friends.map((name, number) => ({ name, number, spot: seen?.[number] ?? null }));
  return all.filter(({ number }) => number !== person.number);
}

function standing() {
  const spot = person.spot;
  // One of the servers was not heard, or lies.
  if (person.unanswered === "place") return "We do not know whether your last move took place.";
  if (person.unanswered === "look") return "Your last question is not answered yet.";
  if (spot === undefined) return "Choose the cell where you are.";
  if (spot === null) return "You are not on the map. Choose the cell where you are.";
  const near = others().filter((friend) => friend.spot).map(({ name }) => name);
  const here = `You are at ${cellName(spot)}.`;
  if (seen === undefined) return here;
  if (near.length === 0) return `${here} Nobody is near.`;
  return `${here} ${listed(near)} ${near.length === 1 ? "is" : "are"} near.`;
}

function complain(error, retry) {
  const { text, hint, detail } = explained(error);
  find("trouble-text").textContent = text;
  find("trouble-hint").textContent = hint;
  find("trouble-detail").textContent = detail;
  find("trouble").hidden = false;
  find("again").hidden = retry === undefined;
  find("let-go").hidden = person?.unanswered === undefined;
  again = retry;
}

function show() {
  map.show(person.spot ?? undefined, others().filter((friend) => friend.spot));
  const items = others().map(({ name, spot }) => {
    const item = document.createElement("li");
    item.className = spot ? "near" : "away";
    const [title, where] = [document.createElement("span"), document.createElement("span")];
    title.className = "name";
    title.textContent = name;
    where.className = "where";
    where.textContent = spot ? `near, at ${cellName(spot)}` : seen === undefined || !person.spot ? "not asked yet" : "not near";
    item.append(markOf(initials(name)), title, where);
    return item;
  });
  find("friends").replaceChildren(...items);
  const cells = town.radius === 1 ? "one cell" : `${town.radius} cells`;
  find("near-means").textContent = `“Near” means at most ${cells} away. You see nothing of friends who are farther away or not on the map.`;
  find("leave").hidden = person.spot === null;
}

// The deeds.

/** Does one thing after another, and says so meanwhile. */
function doing(words, work, retry) {
  if (busy) return busy.ended;
  const stop = new AbortController();
  setBusy({ stop, ended: done(words, () => work({ signal: stop.signal }), retry) });
  return busy.ended;
}

async function done(words, work, retry) {
  say(words, "busy");
  find("trouble").hidden = true;
  try {
    await work();
    show();
    say(standing());
  } catch (error) {
    show();
    say(standing(), "");
    complain(error, retry);
  } finally {
    setBusy(undefined);
  }
}

function setBusy(value) {
  busy = value;
  const isBusy = String(busy !== undefined);
  for (const element of [map.element, ...document.querySelectorAll(".actions button, #again")]) {
    element.setAttribute("aria-disabled", isBusy);
  }
  find("town").setAttribute("aria-busy", isBusy);
}

/** Takes over what the servers answered. */
function take(result) {
  if (result?.program === "look") seen = result.spot === null ? undefined : result.friends;
  if (result?.program === "place") seen = undefined;
  return result;
}

function place(spot) {
  const words = spot === null ? "Leaving the map …" : `Moving you to ${cellName(spot)} …`;
  const work = async (more) => {
    take(await person.place(spot, more));
    // Also by who is nowhere: the servers see which programs are run.
    take(await person.look(more));
  };
  return doing(words, work, () => place(spot));
}

function look() {
  return doing("Asking both servers …", async (more) => take(await person.look(more)), look);
}

/** Goes on with what was begun before the page was closed. */
function goOn() {
  const work = async (more) => {
    const wanted = person.unanswered;
    const result = take(await person.finish(more));
    if (wanted !== undefined && result === undefined) {
      throw Object.assign(new Error("your last request was not carried out"), { hint: "try it again" });
    }
    if (result?.program === "place") take(await person.look(more));
  };
  return doing("Continuing where you left off …", work, goOn);
}

/** Waits no longer for what was begun. The map and the friends on it are as both servers have them. */
async function letGo() {
  const text = "It may have taken place, or may still take place. Ask who is near, or choose your cell again: your new choice counts, whatever became of the last one.";
  if (!(await ask("Stop waiting for your last request?", text, "Stop waiting", "Keep waiting"))) return;
  // Nor are friends known to be near a place that is not known.
  if (person.unanswered === "place") seen = undefined;
  await person.letGo();
  find("trouble").hidden = true;
  show();
  say(standing());
}

function ask(title, text, yes, no) {
  const dialog = find("dialog");
  find("dialog-title").textContent = title;
  find("dialog-text").textContent = text;
  find("dialog-yes").textContent = yes;
  find("dialog-no").textContent = no;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((answer) => {
    dialog.addEventListener("close", () => answer(dialog.returnValue === "yes"), { once: true });
  });
}

async function forget() {
  const sure = "You leave the map, and this device deletes your invitations and everything else about you. To come back, you need your link.";
  if (!(await ask("Forget you on this device?", sure, "Forget me", "Cancel"))) return;
  // Nothing keeps a person from being forgotten.
  busy?.stop.abort();
  await busy?.ended;
  const within = () => ({ timeoutMs: PARTING_MS, signal: AbortSignal.timeout(PARTING_MS) });
  let end;
  await doing("Leaving the map …", async () => {
    end = PARTINGS[await person.leave(within())];
    // As whoever moves.
    if (end === PARTINGS.left) await person.look(within()).catch(() => undefined);
  });
  if (end.title && !(await ask(end.title, end.sure, "Forget me anyway", "Cancel"))) {
    show();
    say(standing(), "");
    return;
  }
  person.forget();
  sessionStorage.removeItem(WHO);
  [person, seen] = [undefined, undefined];
  find("trouble").hidden = true;
  find("town").hidden = true;
  find("welcome-title").textContent = "You are forgotten";
  find("welcome-text").textContent = end.text;
  find("people").replaceChildren();
  find("welcome").hidden = false;
  say(end.said);
}

// The beginning.

/** The name of the person: of the link, of this window, or of the only one on this device. */
async function whoIsThere() {
  const fragment = location.hash;
  // The invitations are secret: they stay neither in the address bar nor in the history.
  if (fragment) history.replaceState(null, "", location.pathname + location.search);
  const invitations = visits.invitationsOf(fragment);
  const known = visits.people();
  if (invitations !== undefined) {
    const { name, isKnown, isOther } = visits.lookUp(invitations);
    const other = "This device already has a link for the same name with other servers. If you use the new one, this device deletes what it knows about the old map.";
    const stranger = `Use this link only if it is yours: whoever made it can see what you do as ${name}. This device does not know ${name} yet.`;
    if (isOther) {
      return { name, invitations: (await ask(`A new link for ${name}`, other, "Use the new link", "Keep the old one")) ? invitations : undefined };
    }
    if (isKnown) return { name };
    // Also the first link of a device: whoever made it would see what its owner does.
    if (await ask(`Are you ${name}?`, stranger, `I am ${name}`, "No")) return { name, invitations };
  }
  const name = sessionStorage.getItem(WHO);
  if (known.includes(name)) return { name };
  return { name: known.length === 1 ? known[0] : undefined };
}

function chooseAmong(names) {
  say("Who are you?");
  find("welcome-title").textContent = "Who are you?";
  find("welcome-text").textContent = "Several friends have used this device. Choose your name.";
  const button = (name) => {
    const each = document.createElement("button");
    each.type = "button";
    each.textContent = name;
    each.addEventListener("click", () => enter(name));
    return each;
  };
  find("people").replaceChildren(...names.map(button));
  find("welcome").hidden = false;
}

/** Lets a person in, with new invitations if there are some: they are kept if the map is for that name. */
function enter(name, invitations) {
  person = new visits.Person(name, town, invitations);
  if (invitations !== undefined) visits.welcome(name, invitations);
  sessionStorage.setItem(WHO, name);
  find("welcome").hidden = true;
  document.title = `${name} · Friend finder`;
  find("map-title").textContent = `${name}’s map`;
  find("town").hidden = false;
  map ??= new TownMap(find("map"), town, place);
  show();
  if (person.spot) map.reveal(person.spot);
  if (person.unanswered) return goOn();
  say(standing());
  return undefined;
}

async function begin() {
  // Within another page, clicks would be that page's.
  if (window.top !== window.self) {
    throw Object.assign(new Error("this page is embedded in another page"), { hint: "open your link in its own window" });
  }
  await loaded();
  const answer = await fetch("friends.json", { cache: "no-store" });
  if (!answer.ok) {
    const hint = "ask the people who serve this page";
    throw Object.assign(new Error(`friends.json, which describes the servers, is missing (${answer.status})`), { hint });
  }
  town = await answer.json();
  const { name, invitations } = await whoIsThere();
  if (name !== undefined) return enter(name, invitations);
  if (visits.people().length > 0) return chooseAmong(visits.people());
  find("welcome").hidden = false;
  say("Open the link that you were given.");
  return undefined;
}

/** Loads what computes. *Errors*: the browser cannot run it, or not from where the page is; some of it is not beside the page. */
async function loaded() {
  const lacking = ["WebAssembly", "WebSocket"].filter((name) => typeof globalThis[name] === "undefined");
  if (lacking.length > 0) {
    const message = `this browser has no ${lacking.join(" and no ")}, without which this page cannot compute`;
    throw Object.assign(new Error(message), { hint: "use a current Firefox, Chrome, Edge or Safari" });
  }
  if (navigator.locks === undefined) {
    const message = "this page was loaded over plain HTTP, where its windows cannot wait for each other, and anybody on the way can change it";
    throw Object.assign(new Error(message), { hint: "open it from an https:// address, or serve it on this machine and open it at http://localhost" });
  }
  try {
    visits = await import("./visits.js");
    const { load } = await import("./garblet-client.js");
    await load();
  } catch (error) {
    const hint = "reload the page; if that does not help, ask the people who serve it to put garblet-client.js, garblet-talk.js, garblet.js and garblet_bg.wasm beside it";
    throw Object.assign(new Error(`a part of this page is missing: ${error.message}`), { hint });
  }
}

async function start() {
  try {
    await begin();
  } catch (error) {
    say("The page could not start.", "");
    complain(error, () => location.reload());
  }
}

find("look").addEventListener("click", look);
find("leave").addEventListener("click", () => busy || place(null));
find("forget").addEventListener("click", forget);
find("let-go").addEventListener("click", () => busy || letGo());
find("again").addEventListener("click", () => busy || again?.());
// A link that is opened in a window that has the page already.
addEventListener("hashchange", () => visits?.invitationsOf(location.hash) && location.reload());
start();
