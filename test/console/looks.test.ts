// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { findingsInEveryLook, findingsOf, hasBrowser, phone, picture, waitUntil } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

/** A page to inspect: its address, and the steps before the inspection. */
interface Look {
  name: string;
  path(): string;
  ready(page: Page): Promise<unknown>;
  /**
   * Runs before the inspection on a phone. For example, it opens the graph if `path` selects a node, because a phone
   * then shows only the entry of the node.
   */
  onPhone?(page: Page): Promise<unknown>;
}

const fonts = ["Inter Variable", "JetBrains Mono Variable"];

describe.skipIf(!hasBrowser)("the console", () => {
  const app = useConsole();
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    if (!hasBrowser) return;
    const runToEnd = async (workflow: string, context: object) => {
      return (await app.nova.executions.run(workflow, { context })).execution_id;
    };
    const start = async (workflow: string, context: object) => {
      return (await app.nova.executions.execute(workflow, { context })).execution_id;
    };
    ids.failed = await runToEnd("orders", { total: 9500 });
    ids.done = await runToEnd("orders", { total: 2500 });
    ids.map = await runToEnd("prices", {});
    ids.nested = await runToEnd("nightly", {});
    ids.loop = await runToEnd("polls", {});
    ids.waiting = await start("waits", { amount: "1 200.00 EUR" });
    ids.running = await start("slow", { seconds: 600 });
  });

  const showGraph = (page: Page) => page.locator(".run-switch .tab", { hasText: "Graph" }).click();
  const unfold = (page: Page, name: string) => page.getByRole("button", { name: `Unfold ${name}` }).click();
  const waitForState = (page: Page, state: string) => page.locator(`.node[data-state=${state}]`).waitFor();
  const looks: Look[] = [
    { name: "runs", path: () => "/", ready: (page) => page.getByRole("row").nth(6).waitFor() },
    { name: "runs-none", path: () => "/?text=nothing", ready: (page) => page.getByText("No run matches").waitFor() },
    {
      name: "runs-chosen",
      path: () => "/",
      ready: (page) => page.getByRole("row").nth(2).getByRole("checkbox").check(),
    },
    {
      name: "run-failed",
      path: () => `/runs/${ids.failed}?node=book`,
      ready: (page) => page.locator("[data-marked]").first().waitFor({ state: "attached" }),
    },
    {
      name: "run-context",
      path: () => `/runs/${ids.done}?node=read`,
      ready: (page) => page.locator(".tab", { hasText: "Diff" }).dispatchEvent("mousedown", { button: 0 }),
    },
    {
      name: "run-map",
      path: () => `/runs/${ids.map}?node=price`,
      ready: (page) => unfold(page, "each"),
      onPhone: showGraph,
    },
    {
      name: "run-nested",
      path: () => `/runs/${ids.nested}`,
      async ready(page) {
        await unfold(page, "orders");
        await page.locator('[data-id^="orders/"] .node').first().waitFor({ state: "attached" });
      },
      onPhone: showGraph,
    },
    {
      name: "run-loop",
      path: () => `/runs/${ids.loop}`,
      ready: (page) => page.getByText("3 visits").first().waitFor(),
    },
    {
      name: "run-running",
      path: () => `/runs/${ids.running}?node=work`,
      ready: (page) => waitForState(page, "running"),
      onPhone: showGraph,
    },
    {
      name: "run-waiting",
      path: () => `/runs/${ids.waiting}?node=manager`,
      ready: (page) => waitForState(page, "waiting"),
      onPhone: showGraph,
    },
    {
      name: "run-logs",
      path: () => `/runs/${ids.failed}?lower=logs`,
      ready: (page) => page.getByText("reading 9500").waitFor(),
      onPhone: (page) => page.locator(".run-switch .tab", { hasText: "Timeline" }).click(),
    },
    {
      name: "run-compare",
      path: () => `/runs/${ids.failed}?compare=${ids.done}`,
      ready: (page) => page.getByRole("dialog").getByText("booked").waitFor(),
    },
    {
      name: "run-missing",
      path: () => "/runs/exec_01M8AE3FM12NENMCX6YM6S565Q",
      ready: (page) => page.getByText("There is no such run").waitFor(),
    },
  ];

  it.each(looks)(
    "conforms to WCAG in light and dark mode, on all screen sizes: $name",
    async ({ name, path, ready, onPhone }) => {
      const page = await app.open(path());
      await ready(page);
      expect(await findingsInEveryLook(page, name, () => onPhone?.(page))).toEqual([]);
    },
    120_000,
  );

  it.each(["failed", "map", "waiting"])("shows the facts of a %s run in one line on a desktop screen", async (run) => {
    const page = await app.open(`/runs/${ids[run]}`);
    await page.getByRole("button", { name: "Verify the chain" }).waitFor();
    expect((await page.locator(".run-facts").boundingBox())?.height).toBeLessThan(40);
  });

  it("shows rows that are 34 pixels high, and uses its own fonts", async () => {
    const page = await app.open("/");
    await page.getByRole("row").nth(6).waitFor();
    expect((await page.getByRole("row").nth(2).boundingBox())?.height).toBe(34);
    const loaded = "Array.from(document.fonts).flatMap(({ family, status }) => status === 'loaded' ? family : [])";
    await waitUntil(async () => expect(await page.evaluate(loaded)).toEqual(expect.arrayContaining(fonts)));
    await page.goto(`${app.url}/console/workflows`);
    const row = page.getByRole("row").filter({ hasText: "Nightly" });
    expect((await row.boundingBox())?.height).toBeLessThan(36);
  });

  it("conforms to WCAG on the sign-in page", async () => {
    const page = await app.openSignedOut();
    await page.goto(`${app.url}/console/`);
    await page.getByLabel("API key").waitFor();
    expect(await findingsInEveryLook(page, "sign-in")).toEqual([]);
  });

  it.each(["light", "dark"] as const)("lets a user reach every page on a phone in %s mode", async (mode) => {
    const page = await app.open("/", { mode, viewport: phone });
    await page.getByRole("row").nth(6).waitFor();
    const inBar = page.getByRole("navigation", { name: "Pages" }).locator(".side-link");
    const boxes = await Promise.all((await inBar.all()).map((one) => one.boundingBox()));
    const shownBoxes = boxes.filter((box) => box !== null);
    expect(shownBoxes).toHaveLength(5);
    for (const { x, width } of shownBoxes) expect([x >= 0, x + width <= phone.width]).toEqual([true, true]);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("dialog").getByRole("link", { name: "Costs" }).waitFor();
    await picture(page, `more-${mode}-phone`);
    expect(await findingsOf(page)).toEqual([]);
    await page.getByRole("dialog").getByRole("link", { name: "Health" }).click();
    await page.getByRole("heading", { name: "Health" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.getByRole("button", { name: "More" }).getAttribute("aria-current")).toBe("true");
  });

  it("lists its shortcuts in an accessible dialog", async () => {
    const page = await app.open("/");
    await page.getByRole("table").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await picture(page, "shortcuts-light-desk");
    expect(await findingsOf(page)).toEqual([]);
  });

  it("shows in an accessible dialog what a restart of a run will execute", async () => {
    const page = await app.open(`/runs/${ids.failed}?node=book`, { mode: "dark" });
    await page.getByRole("button", { name: "Restart from here" }).click();
    await page.locator(".places").first().waitFor();
    await picture(page, "restart-dark-desk");
    expect(await findingsOf(page)).toEqual([]);
  });
});
