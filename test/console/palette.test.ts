// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { findingsInEveryLook, hasBrowser, waitUntil } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

describe.skipIf(!hasBrowser)("the command palette of the console", () => {
  const app = useConsole();
  const options = (page: Page) => page.getByRole("dialog").getByRole("option");

  async function search(page: Page, text: string): Promise<void> {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(text);
  }

  it("lets a user who has only a keyboard open a page, a workflow, a client and a run", async () => {
    await app.nova.clients.create({ slug: "globex", name: "Globex" });
    const { execution_id: id } = await app.nova.executions.run("polls");
    const page = await app.open("/");
    await page.getByRole("row").getByText("Completed").waitFor();
    await search(page, "audit");
    await options(page).first().getByText("Go to Audit").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Audit" }).waitFor();
    await search(page, "orders");
    await options(page).filter({ hasText: "Workflow" }).getByText("Orders", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/workflows\/orders/);
    await search(page, "globex");
    await options(page).filter({ hasText: "Client" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/clients\/globex/);
    await search(page, id.slice(-8).toLowerCase());
    await options(page).getByText(id).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`/runs/${id}`));
  });

  it("finds a run by its whole id or by a label, and says what to type if no run matches", async () => {
    await app.nova.workflows.publish({
      id: "labelled",
      labels: { order: "{{number}}" },
      inputs: { type: "object", properties: { number: { type: "string" } } },
      nodes: [
        { id: "start", type: "start" },
        { id: "end", type: "end" },
      ],
      edges: [{ from: "start", to: "end" }],
    });
    const { execution_id: id } = await app.nova.executions.run("labelled", { context: { number: "PO-10" } });
    const page = await app.open("/keys");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    for (const text of [id, "order=PO-10"]) {
      await search(page, text);
      await options(page).getByText(id).waitFor();
      expect(await options(page).count()).toBe(1);
      await page.keyboard.press("Escape");
    }
    await search(page, "order=PO-11");
    await page.getByText("Nothing fits.").waitFor();
  });

  it("opens a node of the run, and starts an action of the page", async () => {
    const { execution_id: id } = await app.nova.executions.run("orders", { context: { total: 10 } });
    const page = await app.open(`/runs/${id}`);
    await page.locator(".react-flow__node").first().waitFor();
    await search(page, "check_amount");
    await options(page).first().getByText("Node of this run").waitFor();
    expect(await findingsInEveryLook(page, "palette")).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "Entry" }).getByRole("heading", { name: "check_amount" }).waitFor();
    await search(page, "switch the theme");
    await page.keyboard.press("Enter");
    await waitUntil(async () => expect(await page.locator("html").getAttribute("data-theme")).toBe("light"));
  });
});
