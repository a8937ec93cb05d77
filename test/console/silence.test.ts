// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { rm } from "node:fs/promises";
import { createClient } from "@nova/client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newFolder, type Started, startNova } from "../cli/support/nova.ts";
import { hasBrowser, picture, useBrowser, waitUntil } from "./support/browser.ts";
import { writeWorkflows } from "./support/workflows.ts";

describe.skipIf(!hasBrowser)("every page of the console, while its server is down,", () => {
  const browser = useBrowser();
  let [folder, port, key] = ["", "0", ""];
  let dev: Started;

  /** Starts the server. Every later start uses the port and the data of the first start. */
  async function start(): Promise<string> {
    dev = startNova(folder, "dev", "--port", port, "--smtp-port", "0", "--json");
    const { url, api_key } = JSON.parse(await dev.line('"console"'));
    await dev.line('"id":"waits"');
    await fetch(`${url}/console/`);
    [port, key] = [new URL(url).port, api_key];
    return url;
  }

  async function stop(): Promise<void> {
    dev.child.kill("SIGKILL");
    await dev.ended;
  }

  const pages: Record<string, string> = {};
  let url = "";
  beforeAll(async () => {
    if (!hasBrowser) return;
    folder = await newFolder();
    await writeWorkflows(folder);
    url = await start();
    const nova = createClient({ url, apiKey: key });
    const { execution_id: open } = await nova.executions.execute("waits", { context: { amount: "1 EUR" } });
    const { execution_id: done } = await nova.executions.run("orders", { context: { total: 10 } });
    const [task] = await waitUntil(async () => {
      const tasks = await Array.fromAsync(nova.tasks.list());
      expect(tasks).toHaveLength(1);
      return tasks;
    });
    const session = await nova.sessions.create({ name: "A draft" });
    Object.assign(pages, {
      runs: "/",
      "an open run": `/runs/${open}`,
      "a finished run": `/runs/${done}`,
      tasks: "/tasks",
      "a task": `/tasks/${task?.task_id}`,
      workflows: "/workflows",
      ...Object.fromEntries(
        ["", "start", "versions", "triggers", "analytics", "limits"].map((tab) => [
          `a workflow ${tab}`,
          `/workflows/orders/${tab}`,
        ]),
      ),
      sessions: "/sessions",
      "a session": `/sessions/${session.session_id}`,
      ...Object.fromEntries(["code", "clients", "costs", "keys", "audit", "health"].map((name) => [name, `/${name}`])),
      "a client": "/clients/default",
    });
  });
  afterAll(async () => {
    if (!hasBrowser) return;
    await browser.close();
    await stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Reads the colours of all states, and all durations, of a page. */
  const looksOf = (page: Page): Promise<{ tones: string[]; clocks: string }> =>
    page.evaluate(`(() => {
      const states = [...document.querySelectorAll(".shell [class*=tone-]:not(.contact)")];
      const probe = Object.assign(document.createElement("i"), { className: "tone-idle" });
      document.body.append(probe);
      const grey = getComputedStyle(probe).getPropertyValue("--tone");
      probe.remove();
      const isGrey = (one) => getComputedStyle(one).getPropertyValue("--tone") === grey;
      const tones = states.filter((one) => !/tone-(idle|accent)/.test(one.className) && !isGrey(one)).map((one) => one.className);
      return { tones, clocks: document.querySelector("main").innerText };
    })()`);

  it("says since when the server gives no answer, shows states in grey and stops its clocks", async () => {
    const opened: { name: string; page: Page }[] = [];
    const left = Object.entries(pages).values();
    const openPages = async () => {
      for (const [name, path] of left) {
        const page = await browser.page({ complains: true });
        await page.addInitScript((value) => sessionStorage.setItem("nova-key", value), key);
        await page.goto(`${url}/console${path}`);
        await page.locator("main h1, main h2").first().waitFor();
        opened.push({ name, page });
      }
    };
    // Opens four pages at the same time. With more pages, a slow machine exceeds the time limit.
    await Promise.all([openPages(), openPages(), openPages(), openPages()]);
    const before = new Date();
    await stop();
    for (const { name, page } of opened) {
      const note = page.getByRole("alert").filter({ hasText: /^No answer since \d\d:\d\d:\d\d, retrying$/ });
      await note.waitFor({ timeout: 60_000 });
      const [, time = ""] = /since (\S+),/.exec(await note.innerText()) ?? [];
      expect([name, secondsOf(time)]).toEqual([
        name,
        expect.toSatisfy((at) => Math.abs(at - secondsOf(clock(before))) < 15),
      ]);
      expect([name, await page.getByText("Live", { exact: true }).count()]).toEqual([name, 0]);
      const { tones, clocks } = await looksOf(page);
      expect([name, tones]).toEqual([name, []]);
      // Clocks tick twice a second, and the page asks once a second whether the server answers.
      for (let polls = 0; polls < 3; polls++) await page.waitForEvent("requestfailed");
      expect([name, (await looksOf(page)).clocks]).toEqual([name, clocks]);
    }
    const open = opened.find(({ name }) => name === "an open run")?.page as Page;
    await picture(open, "silence-light-desk");
    await start();
    for (const { name, page } of opened) {
      await page.getByText(/^No answer since/).waitFor({ state: "hidden", timeout: 60_000 });
      expect([name, await page.locator("main h1").count()]).toEqual([name, 1]);
    }
    const clockOf = () => open.locator(".run-facts").innerText();
    const stopped = await clockOf();
    await waitUntil(async () => expect(await clockOf()).not.toBe(stopped));
    await opened
      .find(({ name }) => name === "runs")
      ?.page.getByText("Live", { exact: true })
      .waitFor();
  });
});

function clock(at: Date): string {
  return at.toTimeString().slice(0, 8);
}

function secondsOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
  return hours * 3600 + minutes * 60 + seconds;
}
