// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answering } from "../support/model-answers.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";
import { findingsOf, hasBrowser, picture } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

/** Two failed attempts, and a successful one. */
const attempts = [
  "lines = context['lines']\ncontext['total'] = sum(line['price'] for line in lines)",
  "lines = context['lines']\ncontext['total'] = sum(line['amount'] * line['count'] for line in lines)",
  "lines = context['lines']\ncontext['total'] = sum(line['amount'] for line in lines)",
];

const workflow = {
  id: "adds",
  nodes: [
    { id: "start", type: "start" },
    { id: "total", type: "action", executor: "prompt", prompt: "Add up `lines` into `total`, a number." },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "total" },
    { from: "total", to: "end" },
  ],
};

describe.skipIf(!hasBrowser)("the page of a run with a prompt node", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await modelServer((request) => answering({ code: attempts }, request));
    Object.assign(process.env, server.environment);
  });
  const app = useConsole();
  afterAll(async () => {
    for (const name of Object.keys(server.environment)) delete process.env[name];
    await server[Symbol.asyncDispose]();
  });

  it("shows each attempt of the node with its error, the difference of its code, its model and its tokens", async () => {
    await app.nova.workflows.publish(workflow);
    const context = { lines: [{ amount: 2 }, { amount: 3 }] };
    const { execution_id: id, status } = await app.nova.executions.run("adds", { context });
    expect(status).toBe("completed");
    const page = await app.open(`/runs/${id}?node=total`);
    const panel = page.getByRole("complementary", { name: "Entry" });
    await panel.getByRole("tab", { name: /^Model/ }).click();
    await panel.getByText("KeyError: 'price'").first().waitFor();
    await panel.getByText("KeyError: 'count'").first().waitFor();
    const third = panel.getByLabel("Code attempt 3").last();
    await third.getByText("line['amount']").last().waitFor();
    // This line is in the second attempt, and the third attempt shows it as removed.
    await third.getByText("* line['count']").waitFor();
    await panel
      .getByText(/tokens|\d+ in, \d+ out/)
      .first()
      .waitFor();
    await picture(page, "run-steps-light-desk");
    expect(await findingsOf(page)).toEqual([]);
  });
});
