// Headless Chromium, as much as tests of pages need: WebDriver over `fetch`, without a package.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";

const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
/** Keys that are no letters. */
const KEYS = {
  Tab: "\uE004", Enter: "\uE007", Escape: "\uE00C", PageUp: "\uE00E", PageDown: "\uE00F", End: "\uE010", Home: "\uE011",
  ArrowLeft: "\uE012", ArrowUp: "\uE013", ArrowRight: "\uE014", ArrowDown: "\uE015", Space: " ",
};

/** Starts chromedriver at a free port. */
export async function startDriver() {
  const child = spawn("chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const port = /started successfully on port (\d+)/.exec(line)?.[1];
    if (port !== undefined) {
      child.stdout.resume();
      return { address: `http://127.0.0.1:${port}`, stop: () => stop(child) };
    }
  }
  throw new Error("chromedriver does not start");
}

/** Ends a process that was started here. */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, "exit");
  child.kill();
  await over;
}

/** A browser of its own, with a storage of its own. */
export class Browser {
  static async open(driver, { width = 1100, height = 900, dark = false } = {}) {
    const switches = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb"];
    const capabilities = {
      alwaysMatch: {
        browserName: "chrome",
        "goog:chromeOptions": { args: switches, binary: process.env.CHROMIUM },
        "goog:loggingPrefs": { browser: "ALL" },
        // axe takes long on a busy machine.
        timeouts: { script: 300_000 },
      },
    };
    const { sessionId } = await command(driver.address, "POST", "/session", { capabilities });
    const browser = new Browser(`${driver.address}/session/${sessionId}`);
    await browser.look({ width, height, dark });
    return browser;
  }

  constructor(address) {
    this.address = address;
  }

  ask(method, way, body) {
    return command(this.address, method, way, body);
  }

  close() {
    return this.ask("DELETE", "");
  }

  cdp(cmd, params) {
    return this.ask("POST", "/goog/cdp/execute", { cmd, params });
  }

  /** The size of the window, and what the person prefers. */
  async look({ width, height, dark = false, calm = true, scale = 1 }) {
    await this.cdp("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: false });
    const features = [
      { name: "prefers-color-scheme", value: dark ? "dark" : "light" },
      { name: "prefers-reduced-motion", value: calm ? "reduce" : "no-preference" },
    ];
    await this.cdp("Emulation.setEmulatedMedia", { features });
  }

  goTo(url) {
    return this.ask("POST", "/url", { url });
  }

  reload() {
    return this.ask("POST", "/refresh", {});
  }

  address_bar() {
    return this.ask("GET", "/url");
  }

  /** Runs a function in the page, with arguments that JSON can have; it may return a promise. */
  run(work, ...args) {
    return this.ask("POST", "/execute/sync", { script: `return (${work})(...arguments)`, args });
  }

  /** Runs a script's text in the page. */
  runText(script) {
    return this.ask("POST", "/execute/sync", { script, args: [] });
  }

  /** Waits until a function in the page returns something true, which it then is. */
  async until(work, ...args) {
    // A busy machine compiles the page's module for as long as it takes.
    const end = Date.now() + 120_000;
    for (;;) {
      const value = await this.run(work, ...args);
      if (value) return value;
      if (Date.now() > end) {
        const page = await this.run(() => document.body.innerText.slice(0, 600));
        throw new Error(`waited in vain for ${work} ${JSON.stringify(args)}; the page says:\n${page}`);
      }
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async click(selector) {
    const element = await this.ask("POST", "/element", { using: "css selector", value: selector });
    await this.ask("POST", `/element/${element[ELEMENT]}/click`, {});
  }

  /** Presses keys one after another; `Control+Home` holds the first. */
  async press(...names) {
    for (const name of names) {
      const keys = name.split("+").map((key) => ({ Control: "\uE009", Shift: "\uE008" })[key] ?? KEYS[key] ?? key);
      const down = keys.map((value) => ({ type: "keyDown", value }));
      const up = keys.toReversed().map((value) => ({ type: "keyUp", value }));
      await this.ask("POST", "/actions", { actions: [{ type: "key", id: "keys", actions: [...down, ...up] }] });
    }
  }

  /** Writes a picture of the whole page. */
  async picture(folder, name) {
    const { cssContentSize } = await this.cdp("Page.getLayoutMetrics", {});
    const clip = { x: 0, y: 0, width: cssContentSize.width, height: cssContentSize.height, scale: 1 };
    const { data } = await this.cdp("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip });
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `${name}.png`), Buffer.from(data, "base64"));
  }

  /** The messages that the console has had since this was last asked, from warnings on. */
  async complaints() {
    const entries = await this.ask("POST", "/se/log", { type: "browser" });
    return entries.filter(({ level }) => level !== "INFO" && level !== "DEBUG").map(({ message }) => message);
  }
}

async function command(address, method, way, body) {
  const answer = await fetch(address + way, { method, body: body === undefined ? undefined : JSON.stringify(body) });
  const { value } = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${way}: ${value.error}: ${value.message}`);
  return value;
}
