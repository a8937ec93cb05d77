// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentFlow, calling, toolNode } from "../support/agent.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";
import { hasBrowser } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

describe.skipIf(!hasBrowser)("the conversation of an agent on the page of its run", () => {
  let models: ModelServer;
  beforeAll(async () => {
    models = await modelServer(({ toolResults: { length } }) =>
      length === 0
        ? { calls: [calling("look_up", { id: 7 }), calling("look_up", { id: "x" })], text: "I look it up." }
        : { text: "The total is 850." },
    );
    Object.assign(process.env, models.environment);
  });
  const app = useConsole({ isEmpty: true });
  afterAll(async () => {
    for (const name of Object.keys(models.environment)) delete process.env[name];
    await models[Symbol.asyncDispose]();
  });

  it("shows messages, tokens and dollars without secrets, and opens the visit of a tool from its call", async () => {
    const code = 'context["order"] = {"total": 850.0}\nprint("uses", context["token"])';
    const lookUp = toolNode("look_up", code, { id: { type: "integer" } }, { effects: false });
    const inputs = { properties: { case: { type: "string" }, token: { type: "string", secret: true } } };
    await app.nova.workflows.publish({ ...agentFlow("talks", [lookUp]), inputs });
    const context = { case: "order 7, and not very-secret-token", token: "very-secret-token" };
    const { execution_id } = await app.nova.executions.run("talks", { context });
    const page = await app.open(`/runs/${execution_id}?node=resolve`);
    const talk = page.getByRole("region", { name: "Conversation" });
    await talk.getByText("The total is 850.").waitFor();
    const text = await talk.innerText();
    for (const part of ["Resolve order 7, and not ***.", "I look it up.", '{"id":7}', "2 calls", "2,000", "$0.003"])
      expect(text).toContain(part);
    expect(text).toMatch(/the arguments do not fit/);
    expect(text).not.toContain("very-secret-token");
    await talk.getByRole("button", { name: "look_up" }).first().click();
    await page.getByRole("tab", { name: "Logs" }).click();
    await page.getByText("uses ***").waitFor();
    expect(page.url()).toContain("look_up");
  });
});
