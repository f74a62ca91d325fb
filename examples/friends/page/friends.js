// The page: what a person does, and what it is told.

import { load } from "./garblet-client.js";
import { TownMap, cellName, initials, markOf } from "./map.js";
import { Person, invitationsOf, lookUp, people, welcome } from "./visits.js";

const find = (id) => document.getElementById(id);
/** The person of this window. */
const WHO = "garblet-friends-who";
/** The longest wait for servers that a person who wants to be forgotten has. */
const PARTING_MS = 10_000;

let town;
let map;
let person;
/** For each friend a spot, or `null`; nothing before the first look. */
let seen;
/** What is being done, as long as it is: a way to end it, and its end. */
let busy;
/** What `Try again` does. */
let again;

// What is said.

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
  if (spot === undefined) return "Choose the cell where you are.";
  if (spot === null) return "You are not on the map. Choose the cell where you are.";
  const near = others().filter((friend) => friend.spot).map(({ name }) => name);
  const here = `You are at ${cellName(spot)}.`;
  if (seen === undefined) return here;
  if (near.length === 0) return `${here} Nobody is near.`;
  return `${here} ${listed(near)} ${near.length === 1 ? "is" : "are"} near.`;
}

/** A sentence for what went wrong, what to do about it, and the words of those who know. */
function explained(error) {
  const silent = ["generator", "cloud"].filter((server) => error.message.includes(`the ${server} has not answered`));
  const detail = [error.message, error.cause?.message, error.hint].filter(Boolean).join(" · ");
  if (silent.length > 0) {
    const text = silent.length === 2 ? "The servers do not answer." : `One of the servers, the ${silent[0]}, does not answer.`;
    return { text, hint: "Look whether you are online, and try again. What you asked for is kept until then.", detail };
  }
  if (error.message.includes("the state is closed")) {
    return { text: "This map has been closed for good.", hint: "Ask those who run the servers for another one.", detail };
  }
  const hint = error.hint ?? "load the page again; what was kept is not lost";
  return { text: sentence(error.message), hint: sentence(hint), detail };
}

function sentence(words) {
  return `${words.charAt(0).toUpperCase()}${words.slice(1).replace(/[.]$/, "")}.`;
}

function complain(error, retry) {
  const { text, hint, detail } = explained(error);
  find("trouble-text").textContent = text;
  find("trouble-hint").textContent = hint;
  find("trouble-detail").textContent = detail;
  find("trouble").hidden = false;
  find("again").parentElement.hidden = retry === undefined;
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
  find("near-means").textContent = `Near is at most ${cells} away. Of those farther away, or not on the map, you see nothing.`;
  find("leave").hidden = person.spot === null;
}

// What is done.

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
  const words = spot === null ? "Leaving the map …" : `Going to ${cellName(spot)} …`;
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
      throw Object.assign(new Error("what you asked for last was not done"), { hint: "ask for it again" });
    }
    if (result?.program === "place") take(await person.look(more));
  };
  return doing("Going on where you left off …", work, goOn);
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
  const sure = "You leave the map, and this device deletes your invitations and all that it knows of you. To come back you need your link again.";
  if (!(await ask("Forget you on this device?", sure, "Forget me", "Stay"))) return;
  // Nothing keeps a person from being forgotten.
  busy?.stop.abort();
  await busy?.ended;
  let left = false;
  const leave = async () => {
    const within = () => ({ timeoutMs: PARTING_MS, signal: AbortSignal.timeout(PARTING_MS) });
    await person.place(null, within());
    left = true;
    // As whoever moves.
    await person.look(within());
  };
  await doing("Leaving the map …", () => leave().catch(() => undefined));
  const stays = "So you cannot leave the map now: your place stays on it, for those who are near to see, until you come back with your link. What is on this device can be deleted all the same.";
  if (!left && !(await ask("The servers do not answer", stays, "Forget me all the same", "Stay"))) {
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
  find("welcome-text").textContent = left
    ? "You have left the map, and this device knows nothing of you any more. To come back, open your link."
    : "This device knows nothing of you any more. Your place is still on the map; to leave it, open your link and leave.";
  find("people").replaceChildren();
  find("welcome").hidden = false;
  say(left ? "You have left the map and are forgotten here." : "You are forgotten here, and still on the map.");
}

// How it begins.

/** The name of the person: of the link, of this window, or of the only one on this device. */
async function whoIsThere() {
  const fragment = location.hash;
  // The invitations are secret: they stay neither in the address bar nor in the history.
  if (fragment) history.replaceState(null, "", location.pathname + location.search);
  const invitations = invitationsOf(fragment);
  const known = people();
  if (invitations !== undefined) {
    const { name, isKnown, isOther } = lookUp(invitations);
    const other = "On this device is a link for the same name and other servers. If you take the new one, what is known of the old map here is deleted.";
    const stranger = `The link is for ${name}, whom this device does not know. Whoever gave it to you sees what you do as ${name}: take it only if it is yours.`;
    if (isOther) {
      return { name, invitations: (await ask(`A new link for ${name}`, other, "Take the new link", "Keep the old one")) ? invitations : undefined };
    }
    if (isKnown) return { name };
    if (known.length === 0 || (await ask(`Are you ${name}?`, stranger, `I am ${name}`, "No"))) return { name, invitations };
  }
  const name = sessionStorage.getItem(WHO);
  if (known.includes(name)) return { name };
  return { name: known.length === 1 ? known[0] : undefined };
}

function chooseAmong(names) {
  say("Who are you?");
  find("welcome-title").textContent = "Who are you?";
  find("welcome-text").textContent = "Several friends have used this device.";
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
  person = new Person(name, town, invitations);
  if (invitations !== undefined) welcome(name, invitations);
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
  await load();
  const answer = await fetch("friends.json", { cache: "no-store" });
  if (!answer.ok) {
    const hint = "ask those who serve this page";
    throw Object.assign(new Error(`friends.json, which tells of the servers, is not there (${answer.status})`), { hint });
  }
  town = await answer.json();
  const { name, invitations } = await whoIsThere();
  if (name !== undefined) return enter(name, invitations);
  if (people().length > 0) return chooseAmong(people());
  find("welcome").hidden = false;
  say("Open the link that you were given.");
  return undefined;
}

async function start() {
  try {
    await begin();
  } catch (error) {
    say("The page could not begin.", "");
    complain(error, () => location.reload());
  }
}

find("look").addEventListener("click", look);
find("leave").addEventListener("click", () => busy || place(null));
find("forget").addEventListener("click", forget);
find("again").addEventListener("click", () => busy || again?.());
// A link that is opened in a window that has the page already.
addEventListener("hashchange", () => invitationsOf(location.hash) && location.reload());
start();
