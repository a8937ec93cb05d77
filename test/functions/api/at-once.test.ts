// @module-tag deep
import { expect, it } from "vitest";
import { useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();

it("the API starts all of 200 runs that are requested at the same time", { timeout: 120_000 }, async () => {
  await api.call("POST /workflows", { body: asking });
  const start = () => api.call("POST /workflows/asking/execute", { body: {} });
  const answers = await Promise.all(Array.from({ length: 200 }, start));
  const ids = answers.map(({ body }) => body.execution_id);
  const records = await Promise.all(ids.map((id) => api.ports.executions.get(id)));
  expect(new Set(records.map((record) => record?.id)).size).toBe(200);
});
