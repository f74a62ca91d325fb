// A visit's talk with both servers: two WebSockets and their clocks.

/** An error with advice for the user. */
export function hinted(message, hint) {
  return Object.assign(new Error(message), { hint });
}

/** Works later. A timer with more milliseconds than this ends at once; these are 24 days. */
function later(work, ms) {
  return setTimeout(work, Math.min(ms, 2 ** 31 - 1));
}

/** The part of an address that messages name: the rest may be a token. */
function placeOf(url) {
  try {
    const { protocol, host } = new URL(url, globalThis.location?.href);
    return `${protocol}//${host}`;
  } catch {
    return "an address that cannot be read";
  }
}

/** A WebSocket that is not open yet. *Errors*: the browser does not call this address. */
function called(WebSocket, url, name) {
  try {
    return new WebSocket(url);
  } catch (error) {
    throw hinted(`${name}: the browser does not call this address: ${error.name}`, "give wss://HOST:PORT/, or ws:// from a page that was not loaded over https://");
  }
}

/** Sends both frames of a visit of a module, waits for both servers, and opens the output. */
export async function talk(visit, options) {
  const { timeoutMs = 60_000, graceMs = 5_000, limitMs = 15 * 60_000 } = options;
  const hopeless = new AbortController();
  let grace;
  const ends = [
    ["generator", options.generator.url, visit.toGenerator],
    ["cloud", options.cloud.url, visit.toCloud],
  ];
  const hearings = ends.map(async ([server, url, frame]) => {
    let heard;
    try {
      heard = await converse(visit, server, url, frame, { ...options, timeoutMs, limitMs, hopeless: hopeless.signal });
    } finally {
      // Without this answer there is no output: the other server may still say why, but we do not wait for it long.
      if (heard !== "answer") grace ??= later(() => hopeless.abort(), graceMs);
    }
  });
  const failures = (await Promise.allSettled(hearings)).filter((hearing) => hearing.status === "rejected");
  clearTimeout(grace);
  if (options.signal?.aborted) throw options.signal.reason;
  try {
    return visit.open();
  } catch (error) {
    // The error has the replies of both servers; its cause is what went wrong on the connections.
    if (failures.length > 0) error.cause = failures[0].reason;
    throw error;
  }
}

/** One server: sends its frame, and waits for its reply. A sign of life restarts the time-out, but not the overall limit. */
function converse(visit, server, url, frame, { timeoutMs, limitMs, signal, hopeless, WebSocket = globalThis.WebSocket }) {
  return new Promise((resolve, reject) => {
    const name = `${server}, ${placeOf(url)}`;
    const socket = called(WebSocket, url, name);
    socket.binaryType = "arraybuffer";
    let timer;
    let limit;
    const end = (settle, value) => {
      clearTimeout(timer);
      clearTimeout(limit);
      for (const each of [signal, hopeless]) each?.removeEventListener("abort", stop);
      socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
      socket.close();
      settle(value);
    };
    const fail = (what, hint) => end(reject, hinted(`${name}: ${what}`, hint));
    const stop = () => fail("given up", "the other server has no answer, or the page has given up");
    const wait = () => {
      clearTimeout(timer);
      const what = `nothing was heard for ${timeoutMs / 1000} s`;
      timer = later(() => fail(what, "try again with what was kept; the server may be busy or gone"), timeoutMs);
    };
    for (const each of [signal, hopeless]) {
      if (each?.aborted) return stop();
      each?.addEventListener("abort", stop);
    }
    const late = `it had no answer within ${limitMs / 1000} s`;
    limit = later(() => fail(late, "try again later with what was kept"), limitMs);
    wait();
    socket.onopen = () => {
      socket.send(frame);
      wait();
    };
    socket.onmessage = ({ data }) => {
      try {
        if (!(data instanceof ArrayBuffer)) return fail("it sent text", "compare the versions of Garblet");
        if (data.byteLength > visit.frameBytesMax) return fail("it sent too much", "compare the versions of Garblet");
        const heard = visit.hear(server, new Uint8Array(data));
        if (heard === "waiting") wait();
        else end(resolve, heard);
      } catch (error) {
        end(reject, error);
      }
    };
    socket.onerror = () => fail("the connection failed", "compare address and certificate, and try again with what was kept");
    socket.onclose = ({ code }) => fail(`it closed the connection (${code})`, "try again with what was kept");
  });
}
