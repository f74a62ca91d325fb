// Finds barriers of a page for people who do not see it, or see it otherwise: axe-core, which npm fetches.

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";

const { TOOLS } = process.env;
const AXE = ["package.json", "package-lock.json"];

/** The text of axe-core, which npm fetches; none where it cannot. */
export function axe() {
  const folder = path.join(TOOLS, "axe");
  const script = path.join(folder, "node_modules/axe-core/axe.min.js");
  if (!existsSync(script)) {
    mkdirSync(folder, { recursive: true });
    AXE.forEach((name) => copyFileSync(path.join(import.meta.dirname, name), path.join(folder, name)));
    try {
      execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: "ignore", timeout: 300_000 });
    } catch {
      return undefined;
    }
  }
  return readFileSync(script, "utf8");
}

/** The barriers for people who do not see the page, or see it otherwise. */
export async function barriers(page, script) {
  await page.runText(script);
  const { violations } = await page.run(() => axe.run());
  return violations.map(({ id, impact, nodes }) => `${impact}: ${id}: ${nodes.map(({ html }) => html).slice(0, 3).join(" ")}`);
}
