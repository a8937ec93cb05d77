// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { findingsInEveryLook, hasBrowser, picture, waitUntil } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

describe.skipIf(!hasBrowser)("the console's page of a failed run", () => {
  const app = useConsole();
  let [failed, other] = ["", ""];
  const publishChange = "Publish and continue";

  const editor = (page: Page) => page.locator('.fix .cm-content[contenteditable="true"]');
  const panel = (page: Page) => page.getByRole("region", { name: "Fix this node" });

  /** Replaces the code as a user does with the keyboard. */
  async function write(page: Page, code: string): Promise<void> {
    await editor(page).click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(code);
  }

  beforeAll(async () => {
    if (!hasBrowser) return;
    const run = async (total: number) => (await app.nova.executions.run("orders", { context: { total } })).execution_id;
    failed = await run(9500);
    other = await run(9600);
  });

  it("shows the failed line, and runs a changed node with the recorded context", async () => {
    const page = await app.open(`/runs/${failed}`);
    await panel(page).getByText("rate = rates['USD']").first().waitFor();
    await panel(page).getByRole("button", { name: "Edit and try" }).click();
    await editor(page).waitFor();
    await write(page, "context['booked'] = contxt['total']");
    await panel(page)
      .getByText(/PY111|PY110|PY102|contxt/)
      .first()
      .waitFor();
    await write(page, "context['rate'] = context['tot");
    await page.keyboard.press("Control+End");
    await write(page, 'context["booked"] = context["');
    await page.locator(".cm-tooltip-autocomplete").getByText("total", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await write(page, "context['booked'] = context['total'] * 2");
    await panel(page).getByText("No findings").waitFor();
    await page.keyboard.press("Control+Enter");
    await panel(page).getByText("The node works with the recorded context.").waitFor();
    await panel(page).getByText("19000").waitFor();
    await picture(page, "fix");
    expect(await findingsInEveryLook(page, "fix")).toEqual([]);
    expect((await app.nova.workflows.get("orders")).version).toBe(1);
    expect((await app.nova.executions.get(failed)).restarts).toEqual([]);
  });

  it("waits for the end of a node that still runs when the server answers", async () => {
    const page = await app.open(`/runs/${failed}`);
    await page.route("**/nodes/book/run", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), status: "running" } });
    });
    await panel(page).getByRole("button", { name: "Edit and try" }).click();
    await editor(page).waitFor();
    await write(page, "context['booked'] = 'slow'");
    await panel(page).getByRole("button", { name: "Run this node" }).click();
    await panel(page)
      .getByText(/^The node (works with the recorded context.|still fails:)$/)
      .waitFor();
    expect(await panel(page).getByText("The node still fails:").count()).toBe(0);
  });

  it("publishes the changed node, and restarts this run and another run with the same error", async () => {
    const page = await app.open(`/runs/${failed}`);
    await panel(page).getByRole("button", { name: "Edit and try" }).click();
    await editor(page).waitFor();
    await write(page, "context['booked'] = 'later'");
    await panel(page).getByRole("button", { name: publishChange }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Changes to orders v1").first().waitFor();
    await dialog.locator(".cm-changedLine").getByText("'later'").waitFor();
    await dialog.getByText("Reused").waitFor();
    await dialog.getByLabel("Also restart the other run with this error").check();
    await picture(page, "fix-publish");
    await dialog.getByRole("button", { name: publishChange }).click();
    await page.getByText("2 runs continue.").waitFor();
    await page.getByRole("link", { name: "Open the new run" }).click();
    await page.getByText("Completed").first().waitFor();
    const [restart] = (await app.nova.executions.get(other)).restarts;
    await waitUntil(async () => {
      const { status, context } = await app.nova.executions.get(restart as string);
      expect([status, context]).toMatchObject(["completed", { booked: "later" }]);
    });
  });

  it("shows a forecast, and restarts the run with the active version and another initial value", async () => {
    const third = (await app.nova.executions.run("orders", { context: { total: 9700 }, version: 1 })).execution_id;
    const page = await app.open(`/runs/${third}`);
    await page.getByRole("button", { name: "Restart", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await waitUntil(async () => expect(await dialog.getByLabel("Version").inputValue()).toBe("2"));
    await dialog.getByText("Nodes: 1 changed").waitFor();
    await dialog.getByText("Other values for the initial context").click();
    await dialog.getByLabel("Replace a value").selectOption("total");
    await dialog.getByLabel("total", { exact: true }).fill("100");
    await dialog.getByText("Runs", { exact: false }).first().waitFor();
    const places = await dialog.locator(".places li").allInnerTexts();
    expect(places).toContain("book");
    expect(new Set(places).size).toBe(places.length);
    await picture(page, "restart");
    await dialog.getByRole("button", { name: "Restart" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(third));
    await page.getByText("Completed").first().waitFor();
    const [restart] = (await app.nova.executions.get(third)).restarts;
    expect(await app.nova.executions.get(restart as string)).toMatchObject({ version: 2, context: { total: 100 } });
  });
});
