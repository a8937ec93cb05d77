import { expect, it } from "vitest";
import { readPosition } from "../../../packages/engine/src/chain/position.ts";
import { resumeUrl } from "../../../packages/engine/src/kinds/waiting/resume.ts";
import { useApi } from "./support/api.ts";

const api = useApi();

/** Starts a waiting run, and returns the resume link that its code can read. */
async function waiting(customer: string) {
  const event = { source: ["crm"], detail: { customer: ["{{customer}}"] } };
  const nodes = [
    { id: "start", type: "start" },
    { id: "ask", type: "approval", message: "Go on?", choices: ["yes"] },
    { id: "wait", type: "wait", event },
    { id: "end", type: "end" },
  ];
  const edges = [
    { from: "start", to: "ask" },
    { from: "ask", to: "wait", condition: "yes" },
    { from: "wait", to: "end" },
  ];
  await api.call("POST /workflows", { body: { id: "linked", nodes, edges } });
  const started = await api.call("POST /workflows/linked/execute", { body: { context: { customer } } });
  const execution: string = started.body.execution_id;
  const position = await readPosition(api.ports, { execution, scope: "", seq: 1 });
  const url = new URL((await resumeUrl(api.ports, position, "wait")) ?? "");
  return { execution, path: `POST ${url.pathname}`, query: url.search };
}

it("a resume link needs no key, is valid before its wait, and works for one call", async () => {
  const { execution, path, query } = await waiting("acme");
  const call = (search: string, body: unknown = { deal: 1 }) => api.call(path + search, { key: null, body });
  expect((await call(`${query.slice(0, -1)}${query.endsWith("A") ? "B" : "A"}`)).status).toBe(404);
  expect((await call("?token=short")).status).toBe(404);
  expect((await call(query, "{")).status).toBe(400);
  expect(await call(query)).toMatchObject({
    status: 200,
    body: { execution_id: execution, node: "wait", sent: false },
  });
  expect((await call(query, { deal: 2 })).status).toBe(409);
  const { body } = await api.call("GET /tasks");
  const { task_id: task } = body.items.find((item: { execution_id: string }) => item.execution_id === execution);
  await api.call(`POST /tasks/${task}`, { body: { choice: "yes" } });
  await api.cloud.untilEnd(execution);
  const run = await api.call(`GET /executions/${execution}`);
  expect(run.body).toMatchObject({ status: "completed", context: { wait: { deal: 1 } } });
});

it("a resume link to an ended run gets status 410", async () => {
  const { execution, path, query } = await waiting("initech");
  await api.call(`POST /executions/${execution}/cancel`);
  expect((await api.call(path + query, { key: null, body: {} })).status).toBe(410);
});
