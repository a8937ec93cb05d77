import { expect, it, vi } from "vitest";
import { checkContext, checkData } from "../../../packages/workflow/src/inputs/within-time.ts";

vi.mock("node:worker_threads", () => ({
  Worker: class {
    constructor() {
      throw new Error("a thread was started");
    }
  },
  parentPort: null,
}));

const total = { properties: { total: { type: "number" } }, required: ["total"] };

it("a check runs without a thread if the value is small and the schema is simple", async () => {
  expect(await checkContext({ inputs: total }, '{"total": 1}')).toEqual([]);
  expect(await checkContext({ inputs: total }, "{}")).toMatchObject([{ code: "NOVA505", path: "$.total" }]);
  expect(await checkData(total, '{"total": "1"}')).toEqual(["data.total must be number"]);
});

it.each([
  ["refers to a part of itself", { $ref: "#/$defs/a", $defs: { a: {} } }, "{}"],
  ["has a pattern", { properties: { a: { pattern: "^a" } } }, "{}"],
  ["has patterns of keys", { patternProperties: { "^a": {} } }, "{}"],
  ["is long", { description: "x".repeat(10_001) }, "{}"],
  ["has two million characters", total, JSON.stringify({ total: 1, text: "x".repeat(2_000_000) })],
])("a check runs in a thread if its schema or value %s", async (_what, inputs, text) => {
  await expect(checkContext({ inputs }, text)).rejects.toThrow("a thread was started");
});
