// Workers of pages in Node: each is a thread that runs the script as a page's worker does.

import { readFileSync } from "node:fs";
import { Worker as Thread } from "node:worker_threads";

const BEGIN = `
  import { parentPort, workerData } from "node:worker_threads";
  globalThis.self = globalThis;
  globalThis.postMessage = (data) => parentPort.postMessage(data);
  globalThis.addEventListener = () => {};
  await import(workerData);
  parentPort.on("message", (data) => globalThis.onmessage({ data }));
`;

globalThis.Worker = class {
  constructor(script) {
    this.thread = new Thread(new URL(`data:text/javascript,${encodeURIComponent(BEGIN)}`), { workerData: String(script), execArgv: ["--experimental-websocket", "--no-warnings"] });
    this.thread.unref();
    this.thread.on("message", (data) => this.onmessage?.({ data }));
    this.thread.on("error", (error) => this.onerror?.({ message: error.message, preventDefault: () => {} }));
  }

  postMessage(data) {
    this.thread.ref();
    this.thread.postMessage(data);
  }

  terminate() {
    this.thread.terminate();
  }
};

// Node fetches no files.
globalThis.fetch = async (url) => new Response(readFileSync(url));
