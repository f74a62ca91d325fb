// Two servers for a page of friends: what the tests need of them is `friends`, a list of `{name, link}`, and ways to end them.
//
// `served` puts them together from `garblet serve`, so that they can be stopped and started; `demonstrated` takes what `garblet demo
// friends` makes. Both have real invitations and real jobs.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSocket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

import { stop } from "./driver.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLE = path.join(ROOT, "examples/friends");
const SERVERS = ["generator", "cloud"];
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".wasm": "application/wasm" };

/** A web server for the page, the client for pages and `friends.json`. What `held` has is asked for in vain: no answer comes. */
export async function site(folders, friends, held = new Set()) {
  const server = createServer((request, response) => {
    const name = new URL(request.url, "http://page/").pathname.slice(1).replace(/(^|\/)$/, "$1index.html");
    if (held.has(name)) return;
    let body;
    try {
      body = name === "friends.json" ? JSON.stringify(friends()) : readFileSync(path.join(folders[name] ?? folders["*"], path.basename(name)));
    } catch {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[path.extname(name)] ?? "text/plain" }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => (server.closeAllConnections(), server.close());
  return { address: `http://127.0.0.1:${server.address().port}/`, close };
}

/** The folders that the page's files are in. */
export function pageFolders(client) {
  const ours = ["garblet-client.js", "garblet-talk.js", "garblet.js", "garblet_bg.wasm"];
  return { "*": path.join(EXAMPLE, "page"), ...Object.fromEntries(ours.map((name) => [name, client])) };
}

/** Ports that nothing listens at. */
export async function freePorts(count) {
  const sockets = Array.from({ length: count }, () => createSocket().listen(0, "127.0.0.1"));
  await Promise.all(sockets.map((socket) => once(socket, "listening")));
  const ports = sockets.map((socket) => socket.address().port);
  await Promise.all(sockets.map((socket) => (socket.close(), once(socket, "close"))));
  return ports;
}

/** A folder in which two servers have identities, and the command works as if that were the home of somebody. */
export class Office {
  constructor(garblet) {
    this.garblet = garblet;
    this.folder = mkdtempSync(path.join(tmpdir(), "friends-"));
    this.environment = { ...process.env, HOME: this.folder, XDG_CONFIG_HOME: this.folder };
    this.identities = SERVERS.map((server) => this.file(`${server}.pem`));
    this.identities.forEach((identity) => this.say("keygen", identity));
    this.keys = this.identities.map((identity) => JSON.parse(this.say("id", identity, "--json")).public_key);
  }

  /** The path of a file, which is written if there is a text. */
  file(name, text) {
    const full = path.join(this.folder, name);
    if (text !== undefined) writeFileSync(full, text);
    return full;
  }

  /** The output of a command. */
  say(...args) {
    const options = { encoding: "utf8", env: this.environment, stdio: ["ignore", "pipe", "ignore"] };
    return execFileSync(this.garblet, args, options).trim();
  }

  invitations(name) {
    return this.identities.map((identity, at) => this.say("keygen", identity, "--client", name, "--server-name", SERVERS[at]));
  }

  /** The arguments of a visit with an input, to servers at these ports. */
  visit(agreement, name, program, input, ports, timeout) {
    const both = this.invitations(name).flatMap((text, at) => ["--invitation", this.file(`${name}.${at}`, `${text}\n`)]);
    const ways = SERVERS.flatMap((server, at) => [`--${server}`, `127.0.0.1:${ports[at]}`]);
    const given = this.file(`${program}.json`, JSON.stringify(input));
    const receipts = this.file(`${name}.${program}.receipts`);
    return ["visit", agreement, program, ...both, ...ways, "--timeout", timeout, "--input", given, "--receipts", receipts];
  }

  /** The job of a program: a visit keeps it before it is sent, here to nobody. */
  job(agreement, name, program, input) {
    const args = this.visit(agreement, name, program, input, [1, 1], "1s");
    spawnSync(this.garblet, args, { env: this.environment, stdio: "ignore" });
    const kept = JSON.parse(readFileSync(this.file(`${name}.${program}.receipts`), "utf8"));
    return Buffer.from(kept.unfinished.job, "hex").toString("base64");
  }

  /** One of two servers, which meet at the first of these ports; clients come to the second. */
  serve(agreement, at, [meeting, port]) {
    const way = at === 0 ? ["--listen", `127.0.0.1:${meeting}`] : ["--connect", `127.0.0.1:${meeting}`];
    const store = ["--store", this.file(`${SERVERS[at]}.store`), "--store-key", this.file(`${SERVERS[at]}.key`)];
    const visitors = ["--visitors", `127.0.0.1:${port}`, "--plain-visitors", "--identity", this.identities[at]];
    const args = ["serve", "--protocol", "outsourced", "--agreement", agreement, "--party", String(at), ...way, ...store, ...visitors];
    return spawn(this.garblet, args, { env: this.environment, stdio: ["ignore", "ignore", "pipe"] });
  }

  close() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A job with a thousand input bits of one client, and the client's invitations. */
export function wideJob(garblet) {
  const office = new Office(garblet);
  const rest = "owner = { a = 1, b = 1 }\nto = { sum = 1 }";
  const text = `${heading(office.keys, ["Anna"])}[[program]]\nname = "wide"\nsource = "lib:add(500)"\n${rest}\n`;
  const job = office.job(office.file("agreement.toml", text), "Anna", "wide", { a: 0, b: 0 });
  const invitations = office.invitations("Anna");
  office.close();
  return { job, invitations, bits: 1000 };
}

/** Inputs that say nothing. */
const EMPTY = { start: { begin: false }, place: { spot: { there: false, x: 0, y: 0 } }, look: { ask: false } };

/** Two servers of `garblet serve` with an agreement of their own, and the page. */
export async function served(garblet, client, { names, width = 8, height = 8, radius = 1 }) {
  const office = new Office(garblet);
  const town = office.file("agreement.toml", agreement(office.keys, { names, width, height, radius }));
  const [meeting, ...ports] = await freePorts(3);
  const jobsOf = (program) => names.map((name) => office.job(town, name, program, EMPTY[program]));
  const jobs = { place: jobsOf("place"), look: jobsOf("look") };
  const addresses = Object.fromEntries(SERVERS.map((server, at) => [server, `ws://127.0.0.1:${ports[at]}`]));
  const web = await site(pageFolders(client), () => ({ width, height, radius, friends: names, ...addresses, jobs }));

  const running = [undefined, undefined];
  const logs = ["", ""];
  const start = async (at) => {
    running[at] = office.serve(town, at, [meeting, ports[at]]);
    running[at].stderr.on("data", (text) => (logs[at] += text));
    await hears(running[at], ports[at]);
  };
  const link = (name) => {
    const [generator, cloud] = office.invitations(name).map(encodeURIComponent);
    return `${web.address}#generator=${generator}&cloud=${cloud}`;
  };
  return {
    address: web.address,
    friends: names.map((name) => ({ name, link: link(name) })),
    /** The link of somebody for whom the map is not. */
    strange: link,
    /** Starts both, and makes the empty map. */
    async begin() {
      await Promise.all([start(0), start(1)]);
      const args = office.visit(town, names[0], "start", EMPTY.start, ports, "60s");
      const [status] = await once(spawn(garblet, args, { env: office.environment, stdio: "ignore" }), "exit");
      if (status !== 0) throw new Error(`the map could not be created: ${status}`);
    },
    start,
    /** The programs that each server has run, as its log names them. */
    ran: () => logs.map((log) => Array.from(log.matchAll(/ran `(\w+)/g), ([, program]) => program)),
    stop: (at) => running[at] && stop(running[at]),
    async end() {
      await Promise.all(running.filter(Boolean).map(stop));
      web.close();
      office.close();
    },
  };
}

/** Waits until a server says that it lets clients in. */
export async function hears(child, port) {
  const said = [];
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line);
    if (line.includes(`:${port}`)) {
      child.stderr.resume();
      return;
    }
  }
  throw new Error(`the server ended: ${said.join("\n")}`);
}

/** The beginning of an agreement: who takes part. */
export function heading(keys, names) {
  const service = randomBytes(16).toString("hex");
  return [`service = "${service}"\nclients = ${JSON.stringify(names)}\n`, ...SERVERS.map((server, at) => `[${server}]\nkey = "${keys[at]}"\n`)].join("\n");
}

function agreement(keys, { names, width, height, radius }) {
  const program = (name, constants, rest) => {
    const all = Object.entries({ WIDTH: width, HEIGHT: height, FRIENDS: names.length, ...constants });
    const list = all.map(([constant, value]) => `"PARTY_0::${constant}" = ${value}`).join(", ");
    const source = JSON.stringify(path.join(EXAMPLE, `${name}.garble.rs`));
    return `[[program]]\nname = "${name}"\nsource = ${source}\npanics = false\nconst = { ${list} }\n${rest}\n`;
  };
  const me = 'numbered = "PARTY_0::ME"\nread = ["map=map"]\n';
  return [
    heading(keys, names),
    program("start", {}, 'owner = { begin = 1 }\nto = { map = "nobody" }\nkeep = "map"\nfirst = true'),
    program("place", {}, `${me}owner = { spot = 1 }\nto = { map = "nobody" }\nkeep = "map"`),
    program("look", { RADIUS: radius }, `${me}owner = { ask = 1 }\nto = { friends = 1 }`),
  ].join("\n");
}

/** The demonstration of `garblet demo friends`. */
export async function demonstrated(garblet, client) {
  const args = ["demo", "friends", "--json", "--listen", "127.0.0.1:0", "--client", client];
  const child = spawn(garblet, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const { friends } = JSON.parse(line);
    child.stdout.resume();
    return { friends, end: () => stop(child) };
  }
  throw new Error("garblet demo friends has ended");
}
