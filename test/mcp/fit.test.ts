import { tools } from "@nova/mcp";
import { afterEach, expect, it, vi } from "vitest";
import { fitResult, maxResultBytes } from "../../packages/mcp/src/fit.ts";

afterEach(() => vi.restoreAllMocks());

const places = Array.from({ length: 10_000 }, (_, index) => `each[${index}].find`);
const files = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`nodes/n${index}.py`, `# ${index}`]));
const nothing = { execution_id: null, error: null, findings: [], context: null, next: "" };
const forecast = { reused: [...places], runs: [...places], again: places, misfits: [] };

it.each<[string, Record<string, unknown>]>([
  ["restart", { verdict: "forecast", status: "forecast", ...nothing, forecast }],
  ["read", { id: "w", name: "W", version: 1, revision: null, definition: "{}", files }],
])("a result of the tool %s with thousands of values is shortened in a few passes", (name, result) => {
  const schema = tools.find((tool) => tool.name === name)?.output as (typeof tools)[number]["output"];
  const size = Buffer.byteLength(JSON.stringify(result));
  const validated = vi.spyOn(schema, "safeParse");
  const write = JSON.stringify;
  let bytes = 0;
  const written = vi.spyOn(JSON, "stringify").mockImplementation((value) => {
    const text = write(value);
    bytes += text?.length ?? 0;
    if (bytes > 12 * size) throw new RangeError("the result is written too often");
    return text;
  });
  const { result: fitted } = fitResult(result, schema);
  expect(validated.mock.calls.length).toBeLessThan(10);
  written.mockRestore();
  const left = Buffer.byteLength(JSON.stringify(fitted));
  expect(left).toBeLessThanOrEqual(maxResultBytes);
  expect(left).toBeGreaterThan(maxResultBytes * 0.9);
});
