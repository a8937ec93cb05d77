import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { findingsInEveryLook, hasBrowser, picture, waitUntil, waitUntilLoaded } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

const intake = (code: string) => ({
  id: "intake",
  name: "Intake",
  inputs: {
    type: "object",
    required: ["number", "scan"],
    properties: { number: { type: "number" }, scan: { description: "The bytes of the order" } },
  },
  triggers: [
    { type: "webhook", id: "intake-shop" },
    { type: "schedule", id: "morning", cron: "0 9 ? * MON-FRI *", timezone: "Europe/Madrid" },
  ],
  nodes: [
    { id: "start", type: "start" },
    { id: "read", type: "action", code },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "read" },
    { from: "read", to: "end" },
  ],
});
const first = "context['bytes'] = len(context['scan'])";
const second = "import nobody_has_it\ncontext['bytes'] = len(context['scan']) + 1";
const tabs = ["", "/start", "/versions", "/versions?before=1&after=2", "/triggers", "/analytics", "/limits"];

describe.skipIf(!hasBrowser)("the console", () => {
  const app = useConsole();
  beforeAll(async () => {
    if (!hasBrowser) return;
    for (const code of [first, second]) await app.nova.workflows.publish(intake(code));
    await app.nova.workflows.activate("intake", 1);
  });

  const card = (page: Page, name: string) => page.locator(".react-flow__node").filter({ hasText: name });

  it("lists workflows with their last runs, and filters the workflows by name", { tags: ["deep"] }, async () => {
    const { execution_id } = await app.nova.executions.run("polls");
    const page = await app.open("/workflows");
    await page.getByRole("link", { name: "Its last run: 1 Completed" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("intak");
    await vi.waitFor(async () => expect(await page.getByRole("row").count()).toBe(2));
    await page.getByRole("link", { name: "Intake" }).click();
    await card(page, "read").waitFor();
    expect(execution_id).toMatch(/^exec_/);
  });

  it("shows a workflow in its active version, and says if the version in the URL does not exist", async () => {
    const { active_version: active } = await app.nova.workflows.get("intake");
    await app.nova.workflows.activate("intake", 1);
    const page = await app.open("/workflows/intake");
    const picked = page.getByRole("combobox", { name: "Version" });
    await waitUntil(async () => expect(await picked.locator("option:checked").textContent()).toBe("v1, active"));
    await card(page, "read").waitFor();
    await app.nova.workflows.activate("intake", active as number);
    const lost = await app.open("/workflows/intake?version=99");
    await lost.getByRole("heading", { name: "There is no such version" }).waitFor();
    await lost.getByRole("link", { name: "intake", exact: true }).click();
    await card(lost, "read").waitFor();
  });

  it("opens a session with the active version when a user edits a workflow", { tags: ["deep"] }, async () => {
    const page = await app.open("/workflows/orders");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.waitForURL(/\/sessions\/ses_/);
    await page.getByRole("link", { name: "Orders" }).waitFor();
    await page.locator(".react-flow__node").filter({ hasText: "book" }).waitFor();
  });

  it("shows each finding of the compiler at the node and the line of code that the finding names", async () => {
    const page = await app.open("/workflows/intake?version=2");
    await page.getByRole("heading", { name: "1 finding" }).waitFor();
    await page.getByRole("button", { name: "read" }).last().click();
    await page.getByText("nobody_has_it", { exact: false }).first().waitFor();
    expect(await page.locator("[data-marked]").textContent()).toContain("import nobody_has_it");
    expect(new URL(page.url()).searchParams.get("node")).toBe("read");
  });

  it("keeps unsaved input while the server does not answer", { tags: ["deep"] }, async () => {
    const page = await app.open("/workflows/intake/start");
    const number = page.getByLabel("number");
    await number.fill("850.0");
    await page.clock.install();
    await page.route("**/workflows/intake*", (route) => route.fulfill({ status: 503, body: "{}" }));
    await waitUntil(async () => {
      await page.clock.fastForward(10_000);
      expect(await page.getByRole("alert").count()).toBeGreaterThan(0);
    });
    expect(await number.inputValue()).toBe("850.0");
    await page.unroute("**/workflows/intake*");
    await waitUntil(async () => {
      await page.clock.fastForward(10_000);
      expect(await page.getByRole("alert").count()).toBe(0);
    });
    expect(await number.inputValue()).toBe("850.0");
  });

  it("starts a run from the form of the inputs, with a file and with all digits of numbers", async () => {
    const page = await app.open("/workflows/intake/start");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("2 fields need a correction.").waitFor();
    await page.getByLabel("number").fill("850.0");
    await page.getByRole("radiogroup", { name: "Type of scan" }).getByText("File").click();
    await page.locator("input[type=file]").setInputFiles({
      name: "order.pdf",
      mimeType: "application/pdf",
      buffer: Buffer.from("%PDF-1.7 twelve"),
    });
    await page.getByText("order.pdf").waitFor();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/\/console\/runs\/exec_/);
    await page.getByText("Completed").first().waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const headers = { authorization: `Bearer ${app.key}` };
    const text = await (await fetch(`${app.url}/executions/${id}`, { headers })).text();
    expect(text).toContain('"number":850.0');
    expect(text).toContain('"bytes":15');
  });

  it("accepts files that a user drops on the form", async () => {
    const page = await app.open("/workflows/intake/start");
    const data = await page.evaluateHandle(
      "(() => { const data = new DataTransfer(); data.items.add(new File(['x'], 'dropped.pdf')); return data; })()",
    );
    await page.getByRole("form").dispatchEvent("drop", { dataTransfer: data });
    await page.getByText("dropped.pdf").waitFor();
  });

  it("shows two versions in one graph, with the difference of their code", { tags: ["deep"] }, async () => {
    const page = await app.open("/workflows/intake/versions");
    await page.getByRole("button", { name: "Compare with v1" }).click();
    await card(page, "changed").waitFor();
    await page.locator(".code-diff").getByText("nobody_has_it").waitFor();
    expect(new URL(page.url()).search).toBe("?before=1&after=2");
  });

  it("activates another version of a workflow, and pauses and resumes the workflow", { tags: ["deep"] }, async () => {
    const page = await app.open("/workflows/intake/versions");
    await page.getByRole("button", { name: "Activate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Activate" }).click();
    await page.getByRole("button", { name: "Roll back to v1" }).waitFor();
    expect(await app.nova.workflows.get("intake")).toMatchObject({ active_version: 2 });
    const held = Promise.withResolvers<void>();
    await page.route("**/workflows/intake/activate", async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Roll back to v1" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Activate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Back" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    held.resolve();
    await page.locator(".page-head").getByText("v1", { exact: true }).waitFor();
    // The answer to the first request must not close the dialog that the user has opened since then.
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await page.getByText("New runs are queued").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
  });

  it("explains why a delivery started no run, and pauses and resumes a schedule", async () => {
    const refused = await fetch(`${app.url}/hooks/intake-shop`, { method: "POST", body: "{}" });
    expect(refused.status).toBe(422);
    const page = await app.open("/workflows/intake/triggers?status=refused");
    await page.getByText('the context has no "number"').first().waitFor();
    await page.getByRole("button", { name: "Pause the schedule morning" }).click();
    await page.getByText("Paused since").waitFor();
    const [schedule] = await Array.fromAsync(app.nova.list("/schedules", { query: { workflow: "intake" } }));
    expect(schedule?.paused_at).toEqual(expect.any(String));
    await page.getByRole("button", { name: "Resume the schedule morning" }).click();
    await page.getByText("Next time").waitFor();
  });

  it("queues a run beyond the quota, and explains on the page of the run why", { tags: ["deep"] }, async () => {
    const params = { path: { id: "slow" } };
    const body = { max_concurrent: 1, max_concurrent_per_client: null };
    await app.nova.ask(app.nova.api.PUT("/workflows/{id}/quotas", { params, body }));
    const { execution_id: first } = await app.nova.executions.execute("slow", { context: {} });
    const page = await app.open("/workflows/slow/start");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/\/console\/runs\/exec_/);
    await page.locator(".run-top").getByText("Queued").waitFor();
    await page.getByText("It waits for a free slot").waitFor();
    await picture(page, "run-queued-light-1280");
    await app.nova.executions.cancel(first);
    await page.locator('.react-flow__node[data-id="work"] .node[data-state="running"]').waitFor();
    await app.nova.executions.cancel(new URL(page.url()).pathname.split("/").at(-1) ?? "");
    await page.locator(".run-top").getByText("Cancelled").waitFor();
  });

  it("saves quotas, and rejects invalid quotas", { tags: ["deep"] }, async () => {
    const page = await app.open("/workflows/intake/limits");
    await page.getByLabel("All clients together").fill("0");
    await page.getByText("Enter a whole number from 1 to 1000, or leave it empty.").waitFor();
    await page.getByLabel("All clients together").fill("3");
    await page.getByRole("button", { name: "Save" }).click();
    const params = { path: { id: "intake" } };
    await vi.waitFor(async () => {
      const quotas = await app.nova.ask(app.nova.api.GET("/workflows/{id}/quotas", { params }));
      expect(quotas.max_concurrent).toBe(3);
    });
  });

  it("conforms to WCAG 2.2 AA in every view of workflows, in light and dark mode, at three screen widths", {
    tags: ["deep"],
    timeout: 120_000,
  }, async () => {
    const page = await app.open("/workflows");
    await page.getByRole("link", { name: "Intake" }).waitFor();
    expect(await findingsInEveryLook(page, "workflows")).toEqual([]);
    for (const tab of tabs) {
      await page.goto(`${app.url}/console/workflows/intake${tab}`);
      await page.getByRole("navigation", { name: "Views of the workflow" }).waitFor();
      await waitUntilLoaded(page);
      const name = tab.replaceAll(/[^a-z]+/g, "-") || "-graph";
      expect(await findingsInEveryLook(page, `workflow${name}`), tab).toEqual([]);
    }
  });
});
