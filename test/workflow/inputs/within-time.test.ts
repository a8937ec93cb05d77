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

it("the check of a value against a schema runs without a worker thread if the value is small and the schema is simple", async () => {
  expect(await checkContext({ inputs: total }, '{"total": 1}')).toEqual([]);
  expect(await checkContext({ inputs: total }, "{}")).toMatchObject([{ code: "NOVA505", path: "$.total" }]);
  expect(await checkData(total, '{"total": "1"}')).toEqual(["data.total must be number"]);
});

it.each([
  ["contains a reference", { $ref: "#/$defs/a", $defs: { a: {} } }, "{}"],
  ["contains a pattern", { properties: { a: { pattern: "^a" } } }, "{}"],
  ["contains patterns for keys", { patternProperties: { "^a": {} } }, "{}"],
  ["is long", { description: "x".repeat(10_001) }, "{}"],
  ["has two million characters", total, JSON.stringify({ total: 1, text: "x".repeat(2_000_000) })],
])(
  "the check of a value against a schema runs in a worker thread if the schema or the value %s",
  async (_what, inputs, text) => {
    await expect(checkContext({ inputs }, text)).rejects.toThrow("a thread was started");
  },
);
