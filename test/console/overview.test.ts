// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { formatPercentile, formatRate } from "@nova/client";
import { describe, expect, it } from "vitest";
import { desk, findingsInEveryLook, hasBrowser, waitUntil, waitUntilLoaded } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

describe.skipIf(!hasBrowser)("the console", () => {
  const app = useConsole();

  it("groups failures, names the line and the version, and restarts the runs of a group", async () => {
    const failing = (line: string) => ({
      id: "breaks",
      name: "It breaks",
      nodes: [
        { id: "start", type: "start" },
        { id: "read", type: "action", code: `n = context['n']\n${line}` },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "read" },
        { from: "read", to: "end" },
      ],
    });
    await app.nova.workflows.publish(failing("pass"));
    await app.nova.executions.run("breaks", { context: { n: 0 } });
    await app.nova.workflows.publish(failing("raise ValueError(f'row {n} is empty')"));
    for (const n of [1, 22]) await app.nova.executions.run("breaks", { context: { n } });
    await app.nova.executions.run("orders", { context: { total: 9500 } });
    const page = await app.open("/failures");
    await page.getByText("2 causes").waitFor();
    const row = page.getByRole("row").filter({ hasText: /row \d+ is empty/ });
    await row.getByText("It breaks · read · line 2 · NodeFailed").waitFor();
    await row.getByText("new since v2").waitFor();
    await page.getByRole("row").filter({ hasText: "KeyError: 'USD'" }).getByText("line 4").waitFor();
    await waitUntilLoaded(page);
    expect(await findingsInEveryLook(page, "failures")).toEqual([]);
    await page.setViewportSize(desk);
    await row.getByRole("button", { name: "Restart 2" }).click();
    await page.getByRole("dialog", { name: "Restart 2 runs?" }).getByRole("button", { name: "Restart runs" }).click();
    const runsOf = () => Array.fromAsync(app.nova.executions.list({ workflow: "breaks", status: "failed" }));
    await waitUntil(async () => expect(await runsOf()).toHaveLength(4));
    await row.getByRole("link", { name: "4", exact: true }).waitFor();
    await row.getByRole("button", { name: "Restart 2" }).waitFor();
    await row.getByRole("link", { name: "4", exact: true }).click();
    await waitUntil(async () =>
      expect(await page.getByRole("link", { name: "restarted", exact: true }).count()).toBe(2),
    );
  });

  it("shows the figures of the API on its overview, and links to the failures and to the oldest task", async () => {
    const { execution_id: waiting } = await app.nova.executions.execute("waits", { context: { amount: "1 EUR" } });
    await waitUntil(async () => expect((await app.nova.executions.get(waiting)).status).toBe("waiting"));
    const page = await app.open("/overview");
    const figures = await Array.fromAsync(app.nova.list("/analytics/workflows", {}));
    const breaks = figures.find(({ workflow }) => workflow === "breaks");
    const row = page.getByRole("row").filter({ hasText: "It breaks" });
    await row.getByText(formatRate(breaks?.success_rate ?? Number.NaN)).waitFor();
    await row
      .getByText(formatPercentile(breaks?.p50_ms ?? Number.NaN), { exact: true })
      .first()
      .waitFor();
    const sum = figures.reduce((total, { runs }) => total + runs, 0);
    const tile = (name: string) => page.locator(".tile").filter({ has: page.getByText(name, { exact: true }) });
    await tile("Ended runs").getByText(String(sum), { exact: true }).waitFor();
    await page.getByText("No schedule is due.").waitFor();
    await page.getByText("No delivery was rejected.").waitFor();
    await waitUntilLoaded(page);
    expect(await findingsInEveryLook(page, "overview")).toEqual([]);
    await tile("Oldest task").getByRole("link").click();
    await page.getByRole("button", { name: "approved" }).waitFor();
    await page.goBack();
    await tile("Failed").getByRole("link").click();
    await page.getByRole("heading", { name: "Failures" }).waitFor();
  });
});
