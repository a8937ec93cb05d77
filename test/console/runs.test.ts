// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { hasBrowser, waitUntil } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

describe.skipIf(!hasBrowser)("the list of runs", () => {
  const app = useConsole();
  const rows = (page: Page) =>
    page
      .getByRole("table")
      .getByRole("row")
      .filter({ has: page.getByRole("cell") });

  async function begin(workflow: string, context: object = {}): Promise<string> {
    return (await app.nova.executions.execute(workflow, { context })).execution_id;
  }

  it("shows a new run, and later its end, without a reload", async () => {
    const page = await app.open("/");
    await page.getByText("No runs yet").waitFor();
    const { execution_id: id } = await app.nova.executions.run("polls");
    await page.getByRole("row").filter({ hasText: "polls" }).getByText("Completed").waitFor();
    const failing = await begin("orders", { total: 9500 });
    const row = page.getByRole("row").filter({ hasText: "orders" });
    await row.getByText("Failed").waitFor();
    await row.getByText("KeyError: 'USD'").waitFor();
    await page.getByRole("figure", { name: "2 runs over time" }).waitFor();
    expect(await rows(page).count()).toBe(2);
    expect([id, failing]).toEqual([expect.stringMatching(/^exec_/), expect.stringMatching(/^exec_/)]);
  });

  it("keeps its filters in the URL", async () => {
    const page = await app.open("/");
    await page.getByText("Status", { exact: true }).first().click();
    await page.getByRole("group", { name: "Status" }).getByLabel("Failed").check();
    await waitUntil(() => expect(page.url()).toContain("status=failed"));
    await waitUntil(async () => expect(await rows(page).count()).toBe(1));
    await page.getByRole("group", { name: "Status" }).getByText("Completed").click();
    await waitUntil(async () => expect(await rows(page).count()).toBe(2));
    expect(new URL(page.url()).searchParams.get("status")).toBe("completed,failed");
    await page.getByLabel("Error class").selectOption("NodeFailed");
    const same = await app.open(new URL(page.url()).pathname.replace("/console", "") + new URL(page.url()).search);
    await rows(same).getByText("KeyError").waitFor();
    expect(await rows(same).count()).toBe(1);
    await same.getByLabel("Filter by run id or workflow").fill("nothing");
    await same.getByText("No run matches these filters").waitFor();
    await same.getByRole("button", { name: "Clear filters" }).last().click();
    await waitUntil(async () => expect(await rows(same).count()).toBe(2));
    expect(new URL(same.url()).search).toBe("");
  });

  it("cancels many runs at once after a confirmation", async () => {
    const ids = await Promise.all([begin("slow"), begin("slow"), begin("waits", { amount: "1 200 EUR" })]);
    const page = await app.open("/");
    for (const id of ids) await page.getByLabel(`Select run ${id}`).check();
    await page.getByText("3 selected").waitFor();
    await page.getByRole("button", { name: "Cancel runs" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel runs" }).click();
    await page.getByText("3 cancelled").waitFor();
    for (const id of ids) expect(await app.nova.executions.get(id)).toMatchObject({ status: "cancelled" });
    await waitUntil(async () => expect(await rows(page).getByText("Cancelled", { exact: true }).count()).toBe(3));
  });

  it("restarts several runs, and explains why other runs cannot be restarted", async () => {
    const failed = await begin("orders", { total: 9501 });
    const waiting = await begin("waits", { amount: "2 EUR" });
    const page = await app.open("/");
    const rowOf = (id: string) => rows(page).filter({ has: page.getByLabel(`Select run ${id}`) });
    await rowOf(failed).getByText("Failed").waitFor();
    await rowOf(waiting).getByText("Waiting").waitFor();
    await page.getByLabel("Workflow", { exact: true }).selectOption("orders");
    await waitUntil(async () => expect(await rows(page).count()).toBe(2));
    for (const row of await rows(page).all()) await row.getByRole("checkbox").check();
    await page.getByText("2 selected").waitFor();
    await page.getByLabel("Workflow", { exact: true }).selectOption("waits");
    await rowOf(waiting).waitFor();
    // A run that the filter hides is no longer selected.
    await page.getByText("2 selected").waitFor({ state: "hidden" });
    await page.getByLabel("Workflow", { exact: true }).selectOption("");
    await rowOf(waiting).getByRole("checkbox").check();
    await page.getByText("3 selected").waitFor();
    await page.getByRole("button", { name: "Restart runs" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restart runs" }).click();
    await page.getByText("2 started again. 1 refused").waitFor();
    expect(await page.locator(".bulk-bar p").innerText()).toContain(waiting);
    await waitUntil(async () => {
      const all = await Array.fromAsync(app.nova.executions.list({ workflow: "orders" }));
      expect(all.filter(({ restarted_from }) => restarted_from !== null)).toHaveLength(2);
    });
    // After a new selection, the bar shows the number of selected runs instead of the result of the restarts.
    await rowOf(waiting).getByRole("checkbox").uncheck();
    await rowOf(failed).getByRole("checkbox").check();
    await page.getByText("1 selected").waitFor();
  });

  it("keeps a saved view in the sidebar, with the number of its runs, until the user deletes it", async () => {
    const page = await app.open("/?status=cancelled");
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByRole("dialog").getByLabel("Name of the view").fill("Stopped runs");
    await page.getByRole("dialog").getByRole("button", { name: "Save view" }).click();
    const views = page.getByRole("list", { name: "Saved views" });
    const cancelled = await Array.fromAsync(app.nova.executions.list({ status: "cancelled" }));
    await views.getByText(String(cancelled.length), { exact: true }).waitFor();
    await page.goto(`${app.url}/console/health`);
    await views.getByRole("link", { name: "Stopped runs" }).click();
    await waitUntil(async () => expect(await rows(page).count()).toBe(cancelled.length));
    expect(new URL(page.url()).search).toBe("?status=cancelled");
    await views.getByRole("button", { name: "Delete the view Stopped runs" }).click();
    await views.waitFor({ state: "hidden" });
  });

  it("lets a user who has only a keyboard move down, select a run, open a run and return", async () => {
    const page = await app.open("/");
    await rows(page).first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/runs\/exec_/);
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Next run").first().waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.type")).toBe("search");
  });
});
