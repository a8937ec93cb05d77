import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Result } from "axe-core";
import { type Browser, type BrowserContext, chromium, type Locator, type Page, type Request } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, vi } from "vitest";
import { root } from "../../support/imports.ts";

/**
 * The paths of browsers: the path in the environment variable CHROMIUM, and the paths of browsers that Debian installs.
 * The headless shell is preferred, because it needs half the processor time of the other browsers.
 */
const places = [
  process.env.CHROMIUM,
  ...["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map((name) => `/usr/bin/${name}`),
];
const executablePath = places.find((place) => place && existsSync(place));

/** Whether a browser is installed. Without one, the tests are skipped with a message. */
export const hasBrowser = executablePath !== undefined;

if (!hasBrowser) {
  process.stderr.write(
    "\nTHE CONSOLE IS NOT TESTED: there is no Chromium here - apt-get install chromium-headless-shell, or set CHROMIUM\n\n",
  );
}

export interface Viewport {
  width: number;
  height: number;
}

export const desk: Viewport = { width: 1280, height: 800 };
/** The narrowest screen on which the views are side by side. */
export const tablet: Viewport = { width: 880, height: 1100 };
export const phone: Viewport = { width: 390, height: 844 };

export interface Opened {
  mode?: "light" | "dark";
  viewport?: Viewport;
  /** Whether the test expects errors in the browser's console. Without this, such errors fail the tests of the file. */
  complains?: boolean;
}

/**
 * Starts a browser for the tests of a file. Errors in the console of the browser, such as violations of the page's
 * Content-Security-Policy, make the tests of the file fail.
 */
export function useBrowser() {
  let browser: Browser;
  const opened: BrowserContext[] = [];
  const complaints: string[] = [];
  beforeAll(async () => {
    if (executablePath) browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  });
  afterEach(() => Promise.all(opened.splice(0).map(closeContext)));
  afterAll(() => expect(complaints).toEqual([]));
  return {
    /** Closes the browser. Call this before the server stops, because open pages poll the server. */
    close: () => browser.close(),
    /** Opens a page in a new profile, without data of other pages. */
    async page({ mode = "light", viewport = desk, complains = false }: Opened = {}): Promise<Page> {
      const context = await browser.newContext({ viewport, colorScheme: mode, reducedMotion: "reduce" });
      opened.push(context);
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      const page = await context.newPage();
      page.setDefaultTimeout(patienceMs);
      countRequests(page);
      if (complains) return page;
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error" && !isAnswer(message.text())) complaints.push(message.text());
      });
      return page;
    },
  };
}

/** Closes a context and its pages, because an open page would continue to poll the server. */
async function closeContext(context: BrowserContext): Promise<void> {
  // A test may have installed a handler for requests that is still waiting. Without this line, the error of this
  // handler would fail the whole test run.
  for (const page of context.pages()) await page.unrouteAll({ behavior: "ignoreErrors" });
  await context.close();
}

/**
 * Returns whether a message of the browser's console only reports a response with an error status. Such a message is no
 * mistake of the page, because the page itself shows the error to the user.
 */
function isAnswer(text: string): boolean {
  return text.startsWith("Failed to load resource: the server responded with a status of");
}

/** Time limit for a page on a busy machine; the machines of the CI service are slower. */
const patienceMs = process.env.CI ? 60_000 : 20_000;

export function waitUntil<Found>(look: () => Found | Promise<Found>): Promise<Found> {
  return vi.waitFor(look, { timeout: patienceMs, interval: 50 });
}

/**
 * Presses Tab until the element has the focus. Fails after `most` presses, because a user would not press Tab more
 * often.
 */
export async function tabTo(page: Page, target: Locator, most = 15): Promise<void> {
  await target.waitFor();
  const stops: unknown[] = [];
  for (let presses = 0; presses <= most; presses++) {
    if (await target.evaluate((element) => element.matches(":focus"))) return;
    await page.keyboard.press("Tab");
    stops.push(await page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent"));
  }
  expect.fail(`${target} is not among the first stops of Tab: ${stops.join(" | ")}`);
}

const openRequests = new WeakMap<Page, Set<Request>>();

function countRequests(page: Page): void {
  const open = new Set<Request>();
  openRequests.set(page, open);
  page.on("request", (request) => open.add(request));
  for (const end of ["requestfinished", "requestfailed"] as const)
    page.on(end as "requestfinished", (request) => open.delete(request));
}

/** Waits until all requests of the page are answered and rendered. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await waitUntil(async () => {
    expect(openRequests.get(page)?.size).toBe(0);
    await page.evaluate(afterTransitions);
    expect(await page.locator(".skeleton").count()).toBe(0);
    expect(openRequests.get(page)?.size).toBe(0);
  });
}

/**
 * The code of axe. It is evaluated through the debugger, because the page's Content-Security-Policy forbids a script
 * from elsewhere.
 */
let axe: Promise<string> | undefined;

const everyRule = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
/** The rules whose result differs between light and dark mode. */
const rulesOfColour = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

/** Lists violations of WCAG 2.2 AA on the current page. */
export async function findingsOf(page: Page, runOnly = everyRule): Promise<string[]> {
  axe ??= readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(await axe);
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"] });
  const violations = (await page.evaluate(`axe.run(${options}).then((all) => all.violations)`)) as Result[];
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id} (${help}): ${target.join(" ")}`));
}

/**
 * Lists violations on a desk, a tablet and a phone, in light and dark mode, and content that is wider than the screen. The page is
 * resized without a reload, because only its styles depend on the size. `onPhone` runs before the inspection on a phone. Saves
 * screenshots as `<name>-<mode>-<place>.png`.
 */
export async function findingsInEveryLook(page: Page, name: string, onPhone?: () => unknown): Promise<string[]> {
  const found: string[] = [];
  for (const [place, viewport] of Object.entries({ desk, tablet, phone })) {
    await page.setViewportSize(viewport);
    if (place === "phone") await onPhone?.();
    for (const [mode, rules] of Object.entries({ light: everyRule, dark: rulesOfColour })) {
      await page.emulateMedia({ colorScheme: mode as "light" | "dark" });
      await page.evaluate(afterTransitions);
      await picture(page, `${name}-${mode}-${place}`);
      found.push(...(await findingsOf(page, rules)).map((finding) => `${place}, ${mode}: ${finding}`));
    }
    if (await page.evaluate("document.documentElement.scrollWidth > innerWidth"))
      found.push(`${place}: it is too wide`);
  }
  return found;
}

/** Waits for the end of transitions, because axe measures rendered colours. */
const afterTransitions = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
  Promise.allSettled(document.getAnimations().map(({ finished }) => finished)),
)`;

const pictures = join(root, "test-results");

/** Saves a screenshot as `test-results/<name>.png`. */
export async function picture(page: Page, name: string): Promise<void> {
  await mkdir(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}
