// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { byRole, type ModelServer, modelServer } from "../support/model-server/model-server.ts";
import { findingsInEveryLook, hasBrowser } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

const first = "context['total'] = sum(context['lines'])";
const second =
  "total = 0\nfor line in context['lines']:\n    total += line  # \u202enot seen\ncontext['total'] = total";

function sums(prompt: string, more: object = {}) {
  return {
    id: "sums",
    name: "Sums",
    ...more,
    nodes: [
      { id: "start", type: "start" },
      { id: "sum", type: "action", executor: "prompt", prompt, effects: false },
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "sum" },
      { from: "sum", to: "end" },
    ],
  };
}

describe.skipIf(!hasBrowser)("the console's page of generated code", () => {
  let server: ModelServer;
  let answer = first;
  beforeAll(async () => {
    server = await modelServer(
      byRole({
        input_analyzer: { json: { needs_analysis: false, complexity: "simple" } },
        code_generator: () => ({ json: { code: answer }, usage: { input: 900, cached: 800, output: 40 } }),
        output_validator: { json: { valid: true, reason: "the total is there" } },
      }),
    );
    Object.assign(process.env, server.environment);
  });
  const app = useConsole();
  afterAll(async () => {
    delete process.env.OPENAI_API_KEY;
    delete process.env.OPENAI_BASE_URL;
    await server[Symbol.asyncDispose]();
  });

  async function run(more: object = {}): Promise<string> {
    const { nova } = app;
    const body = { context: { lines: [19, 3] }, ...more } as never;
    const params = { path: { id: "sums" } };
    const { execution_id: id } = await nova.ask(nova.api.POST("/workflows/{id}/execute", { params, body }));
    await expect.poll(async () => (await nova.executions.get(id)).ended_at, { timeout: 30_000 }).not.toBeNull();
    // NOVA pins the code only after the end of the run, so this function waits until it is pinned.
    const readGenerations = () => Array.fromAsync(nova.workflows.generations("sums"));
    await expect.poll(async () => (await readGenerations()).map(({ proven_by }) => proven_by)).toContain(id);
    return id;
  }

  const tab = (page: Page, name: RegExp) => page.getByRole("tab", { name });
  const chosen = "/code?workflow=sums&node=sums%2Fsum%2F";

  it("shows the current code, its author, and the run that proved the code", async () => {
    await app.nova.workflows.publish(sums("Add up the lines."));
    const proof = await run();
    const page = await app.open("/code");
    await page.getByRole("button", { name: /sum\s*sums/i }).click();
    await page.getByRole("textbox", { name: "Code of sum" }).getByText("context['total']").waitFor();
    await page.getByText("This code runs wherever the input has the same types.").waitFor();
    await tab(page, /Written for/).click();
    await page.getByText("The code fits the current definition").waitFor();
    await tab(page, /Evidence/).click();
    await page.getByText("not yet").waitFor();
    await page.getByRole("link", { name: proof }).click();
    expect(page.url()).toBe(`${app.url}/console/runs/${proof}`);
  });

  it("shows the difference of two versions, in which no hostile character reorders a line", async () => {
    answer = second;
    await run({ fresh: ["sum"] });
    const page = await app.open(chosen);
    await tab(page, /History 2/).click();
    const diff = page.getByRole("textbox", { name: "What changed in the code of sum" });
    await diff.getByText("for line in").waitFor();
    expect(await diff.locator(".cm-deletedChunk").innerText()).toContain("sum(context['lines'])");
    expect(await diff.innerText()).not.toContain("\u202e");
  });

  it("lets a user reject the code of a node and approve an older version of the code", async () => {
    const page = await app.open(chosen);
    await page.getByRole("button", { name: "Reject" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Reject" }).click();
    await page.getByText("It was rejected or replaced").waitFor();
    await tab(page, /History 2/).click();
    await page.getByRole("listitem").last().getByRole("button").click();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("by this machine").waitFor();
    const generations = await Array.fromAsync(app.nova.workflows.generations("sums"));
    expect(generations).toContainEqual(expect.objectContaining({ code: first, status: "pinned" }));
    expect(generations).toContainEqual(expect.objectContaining({ code: second, status: "replaced" }));
  });

  it("explains why code is stale after a change of the definition", async () => {
    await app.nova.workflows.publish(sums("Add up the lines, taxes included."));
    const page = await app.open("/code?status=stale");
    await page.getByRole("button", { name: /sum\s*sums/i }).click();
    await tab(page, /Written for\s*1/).click();
    const changes = page.getByRole("region", { name: "Changes since then" });
    await changes.getByText("Add up the lines.", { exact: true }).waitFor();
    await changes.getByText("Add up the lines, taxes included.").waitFor();
    expect(page.url()).toContain("status=stale");
  });

  it("selects nodes by keyboard, and keeps the selected node in the URL", async () => {
    const page = await app.open("/code");
    await page.getByText("Choose a node to see its code.").waitFor();
    await page.keyboard.press("j");
    await page.getByRole("tab", { name: "Code" }).waitFor();
    expect(page.url()).toContain("node=");
  });

  it("conforms to WCAG in light and dark mode, at three screen widths", async () => {
    const list = await app.open("/code");
    await list.getByRole("button", { name: /sum\s*sums/i }).waitFor();
    expect(await findingsInEveryLook(list, "code")).toEqual([]);
    const page = await app.open(chosen);
    await page.getByRole("textbox", { name: "Code of sum" }).waitFor();
    expect(await findingsInEveryLook(page, "code-code")).toEqual([]);
    for (const [name, text] of [
      ["Written for", "Prompt"],
      ["Evidence", "Proven by"],
      ["History", "In use"],
    ] as const) {
      await tab(page, new RegExp(name)).click();
      await page.getByText(text).first().waitFor();
      const findings = await findingsInEveryLook(page, `code-${name.toLowerCase().replace(" ", "-")}`);
      expect(findings, name).toEqual([]);
    }
  });
});
