import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { findingsInEveryLook, hasBrowser, phone, picture } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

/**
 * A task with one form per choice. Its message contains values of the context, and one of these values is a hostile
 * text.
 */
const asks = {
  id: "asks",
  nodes: [
    { id: "start", type: "start" },
    {
      id: "manager",
      type: "approval",
      message: "Pay {{invoice.total}} to {{invoice.to}}?",
      choices: ["approved", "rejected"],
      forms: {
        approved: {
          type: "object",
          required: ["cost_center", "limit"],
          properties: {
            cost_center: { type: "integer", minimum: 1000, maximum: 9999, description: "Four digits" },
            limit: { type: "number" },
            urgent: { type: "boolean" },
            tags: { type: "array", items: { type: "string" } },
          },
        },
        rejected: {
          type: "object",
          required: ["reason"],
          properties: { reason: { type: "string", minLength: 5 } },
          additionalProperties: false,
        },
      },
      timeout: "3d",
    },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "manager" },
    ...["approved", "rejected", "timeout"].map((condition) => ({ from: "manager", to: "end", condition })),
  ],
};
const trap = "<img src=x onerror=\"document.title='caught'\">";
const context = { invoice: { total: 1338.75, to: trap } };

describe.skipIf(!hasBrowser)("the console", () => {
  const app = useConsole();
  beforeAll(async () => {
    if (hasBrowser) await app.nova.workflows.publish(asks);
  });

  async function startTask(workflow = "asks", given: object = context): Promise<{ task: string; execution: string }> {
    const { execution_id: execution } = await app.nova.executions.execute(workflow, { context: given });
    const task = await vi.waitFor(async () => {
      const all = await Array.fromAsync(app.nova.tasks.list());
      const found = all.find(({ execution_id }) => execution_id === execution);
      expect(found).toBeDefined();
      return found?.task_id as string;
    }, 20_000);
    return { task, execution };
  }

  const choose = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

  it("lists tasks, and keeps all digits that a user types into an answer on a phone", async () => {
    const { task, execution } = await startTask();
    const page = await app.open("/tasks", { viewport: phone });
    await page.locator(`a[href*="${task}"]`).click();
    await page.getByText("invoice.total", { exact: true }).waitFor();
    await choose(page, "approved").click();
    await choose(page, "Send: approved").click();
    await page.getByText("2 fields need a correction.").waitFor();
    await page.getByLabel("cost_center").fill("12");
    await page.getByText("At least 1000.").waitFor();
    expect(await page.getByLabel("cost_center").getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("cost_center").fill("1234");
    await page.getByLabel("limit").fill("12345678901234567890");
    await page.getByRole("radiogroup", { name: "urgent" }).getByText("No", { exact: true }).click();
    await page.getByLabel("Comment").fill("as agreed");
    await page.getByLabel("Your name").fill("Ada");
    await choose(page, "Send: approved").click();
    await page.getByText("Ada answered: approved").waitFor();
    await picture(page, "task-answered-phone");
    const { entry } = await answerOf(execution);
    const data = '{"cost_center":1234,"limit":12345678901234567890,"urgent":false,"comment":"as agreed"}';
    expect(entry).toContain(data);
    expect(await page.evaluate("document.title")).not.toBe("caught");
  });

  /** Reads the answer as text, because parsing would lose digits. */
  async function answerOf(execution: string): Promise<{ entry: string }> {
    const headers = { authorization: `Bearer ${app.key}` };
    return { entry: await (await fetch(`${app.url}/executions/${execution}/chain`, { headers })).text() };
  }

  it("shows who may vote and who has voted, and says why the buttons are disabled for the user", {
    tags: ["deep"],
  }, async () => {
    const [start, ask, end] = asks.nodes;
    const approvers = { any: ["cfo@acme.com", "ceo@acme.com"], count: 2 };
    await app.nova.workflows.publish({
      ...asks,
      id: "votes",
      nodes: [start, { ...ask, message: "Pay?", approvers }, end],
    });
    const { task } = await startTask("votes", {});
    const { key } = await app.nova.keys.create({ role: "runner", identity: "cfo@acme.com" });
    const data = JSON.stringify({ choice: "rejected", data: { reason: "too much" } });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    expect((await fetch(`${app.url}/tasks/${task}`, { method: "POST", headers, body: data })).status).toBe(200);
    const page = await app.open(`/tasks/${task}`);
    await page.getByText("2 of these decide: cfo@acme.com, ceo@acme.com").waitFor();
    await page.getByText("cfo@acme.com voted: rejected").waitFor();
    await page.getByText('"manager" takes answers only from people whose identity NOVA can prove').waitFor();
    expect(await choose(page, "approved").isDisabled()).toBe(true);
  });

  it("lets a user who has only a keyboard answer a task", async () => {
    await startTask("waits", { amount: "7 EUR" });
    const page = await app.open("/tasks?workflow=waits");
    await page.getByText("Pay 7 EUR?").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await choose(page, "approved").focus();
    await page.keyboard.press("Enter");
    await page.getByText("answered: approved").waitFor();
  });

  it("lets a user answer a task on the page of the run, and says there who may answer", async () => {
    const { execution } = await startTask("waits", { amount: "9 EUR" });
    const page = await app.open(`/runs/${execution}?node=manager`);
    await page.getByText("Pay 9 EUR?").waitFor();
    await page.getByText("Everyone with the role runner may answer.").waitFor();
    await choose(page, "approved").click();
    await page.locator(".run-top").getByText("Completed").waitFor();
  });

  it("shows why an input is invalid beside this input, and shows the answer of a user who answered first", {
    tags: ["deep"],
  }, async () => {
    const { task } = await startTask();
    const page = await app.open(`/tasks/${task}`);
    await choose(page, "rejected").click();
    await page.getByLabel("reason").fill("no");
    await choose(page, "Send: rejected").click();
    await page.getByText("At least 5 characters.").waitFor();
    await page.getByLabel("reason").fill("too much");
    await page.route("**/tasks/*", async (route) => {
      if (route.request().method() === "POST") {
        await app.nova.tasks.answer(task, { choice: "rejected", data: { reason: "no money" }, by: "Grace" });
      }
      await route.continue();
    });
    await choose(page, "Send: rejected").click();
    await page.getByText("Grace answered: rejected").waitFor();
    await page.getByText("no money").waitFor();
  });

  it("shows the context of a task, and later its answer, without requests for the run or the workflow", {
    tags: ["deep"],
  }, async () => {
    const { task } = await startTask();
    const page = await app.open("/tasks");
    const paths: string[] = [];
    page.on("request", (request) => paths.push(new URL(request.url()).pathname));
    await page.locator(`a[href*="${task}"]`).click();
    await page.getByText("invoice.total", { exact: true }).waitFor();
    await app.nova.tasks.answer(task, { choice: "rejected", data: { reason: "no money" }, by: "Grace" });
    await page.getByText("Grace answered: rejected").waitFor();
    await page.getByText("no money").waitFor();
    expect(paths.filter((path) => path.startsWith("/executions") || path.startsWith("/workflows/"))).toEqual([]);
  });

  it("says if no task has the id in the URL, and lists the tasks of one kind", async () => {
    const page = await app.open("/tasks/task_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    await page.getByText("There is no such task").waitFor();
    await page.getByRole("link", { name: "All tasks" }).click();
    await page.getByRole("heading", { name: "Tasks" }).waitFor();
    await page.getByText("Events", { exact: true }).click();
    await page.getByText("No run waits for an event").waitFor();
    expect(new URL(page.url()).search).toBe("?kind=event");
  });

  it("conforms to WCAG 2.2 AA on its pages of tasks, in light and dark mode, at three screen widths", {
    tags: ["deep"],
    timeout: 120_000,
  }, async () => {
    const { task } = await startTask();
    const page = await app.open("/tasks");
    await page
      .getByRole("link", { name: /Pay 1338.75/ })
      .first()
      .waitFor();
    expect(await findingsInEveryLook(page, "tasks")).toEqual([]);
    const one = await app.open(`/tasks/${task}`);
    await choose(one, "approved").click();
    await choose(one, "Send: approved").click();
    await one.getByText("2 fields need a correction.").waitFor();
    await one.getByText("invoice.total", { exact: true }).waitFor();
    expect(await findingsInEveryLook(one, "task")).toEqual([]);
  });
});
