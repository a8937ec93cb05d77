import { afterAll, beforeAll, expect, it } from "vitest";
import { useApi } from "../functions/api/support/api.ts";
import { type Connected, connectOverHttp } from "./support/connect.ts";

const api = useApi();
let connected: Connected;

beforeAll(async () => {
  connected = await connectOverHttp(api.url, await api.key("editor"));
  await connected.call("publish", { example: "invoice" });
  const text = "Northwind\nInvoice no. 7\nTotal EUR    734.40\n";
  // `total` is a text and `limit` is a number, so this code of the node fails when it compares them. The workflow's
  // `inputs` do not contain `total`.
  const broken = {
    op: "change_node",
    id: "is_large",
    changes: { code: 'context["branch_decision"] = context["total"] > context["limit"]' },
  };
  const { draft } = await connected.call("edit", { workflow: "invoice", operations: [broken] });
  await connected.call("publish", { draft });
  await connected.call("run", { workflow: "invoice", context: JSON.stringify({ text, limit: 1000 }) });
});
afterAll(() => connected[Symbol.asyncDispose]());

it("an agent finds a failed run, repairs the code of its node, and restarts the run in at most 6 calls", async () => {
  let calls = 0;
  const call: Connected["call"] = (name, asked) => {
    calls += 1;
    return connected.call(name, asked);
  };
  const { items } = await call("runs", { status: "failed" });
  const [{ execution_id, workflow, error: failure }] = items;
  const { error, detail } = await call("trace", { execution_id, node: failure.node });
  expect([error.line, error.keys]).toEqual([1, expect.arrayContaining(["total", "limit"])]);
  expect(error.message).toMatch(/^TypeError/);
  const code = detail.code.replace('context["total"]', 'float(context["total"])');
  const operations = [{ op: "change_node", id: error.node, changes: { code } }];
  const { draft, findings } = await call("edit", { workflow, operations });
  expect(findings).toEqual([]);
  const { version } = await call("publish", { draft });
  const { forecast } = await call("restart", { execution_id, version });
  expect(forecast).toMatchObject({ reused: ["read_invoice"], misfits: [] });
  const again = await call("restart", { execution_id, version, dry_run: false });
  expect(again).toMatchObject({ verdict: "ok", status: "completed", error: null });
  expect(JSON.parse(again.context)).toMatchObject({ total: "734.40", booking: { amount: "734.40" } });
  expect(calls).toBeLessThanOrEqual(6);
});
