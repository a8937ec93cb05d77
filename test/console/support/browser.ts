import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { root } from "../../support/imports.ts";

/** Debian's, or the one that somebody names. */
const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = places.find((place) => place && existsSync(place));

/** Whether there is a browser to test in; without one the tests are skipped, and say so. */
export const hasBrowser = executablePath !== undefined;

if (!hasBrowser) {
  process.stderr.write(
    "\nTHE CONSOLE IS NOT TESTED: there is no Chromium here - apt-get install chromium, or set CHROMIUM\n\n",
  );
}

export interface Viewport {
  width: number;
  height: number;
}

export const desk: Viewport = { width: 1280, height: 800 };
export const phone: Viewport = { width: 390, height: 844 };

export interface Opened {
  mode?: "light" | "dark";
  viewport?: Viewport;
}

/** A browser for the tests of a file. What a page complains of, its policy's refusals among it, fails the file. */
export function useBrowser() {
  let browser: Browser;
  const complaints: string[] = [];
  beforeAll(async () => {
    if (executablePath) browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  });
  afterAll(() => expect(complaints).toEqual([]));
  return {
    /** Before the server ends that its pages ask. */
    close: () => browser.close(),
    /** A new profile: nothing is kept of other pages. */
    async page({ mode = "light", viewport = desk }: Opened = {}): Promise<Page> {
      const context = await browser.newContext({ viewport, colorScheme: mode, reducedMotion: "reduce" });
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      const page = await context.newPage();
      page.setDefaultTimeout(patienceMs);
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error" && !isAnswer(message.text())) complaints.push(message.text());
      });
      return page;
    },
  };
}

/** The browser tells of every answer that is no success; the page shows those itself. */
function isAnswer(text: string): boolean {
  return text.startsWith("Failed to load resource: the server responded with a status of");
}

/** As long as a page may take on a machine that does much else. */
const patienceMs = 20_000;

export function untilSo<Found>(look: () => Found | Promise<Found>): Promise<Found> {
  return vi.waitFor(look, { timeout: patienceMs, interval: 100 });
}

/** What breaks WCAG 2.2 AA on the page as it is shown. */
export async function findingsOf(page: Page): Promise<string[]> {
  const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  // By the debugger, whom the policy of the page does not stop.
  await page.evaluate(source);
  const values = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const options = JSON.stringify({ runOnly: { type: "tag", values } });
  const { violations } = (await page.evaluate(`axe.run(${options})`)) as AxeResults;
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id} (${help}): ${target.join(" ")}`));
}

const pictures = join(root, "test-results");

/** `test-results/<name>.png`, for people to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  await mkdir(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}
