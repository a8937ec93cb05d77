import { readDocstrings } from "@nova/sandbox";
import { expect, test } from "vitest";
import { Bench } from "./support/bench.ts";

const bench = Bench.use();

const isDownload = (call: string) => call === "GET /files";

test("readDocstrings reads a template's index, and kills its sandbox", async () => {
  bench.gateway.fault = (call) => (isDownload(call) ? { status: 200, body: '{"format": 1}' } : undefined);
  expect(await readDocstrings("nova")).toBe('{"format": 1}');
  expect(bench.server.sandboxes()).toEqual([]);
});

test("readDocstrings kills its sandbox if the template has no index", async () => {
  bench.gateway.fault = () => undefined;
  await expect(readDocstrings("nova")).rejects.toThrow(/docstrings\.json/);
  expect(bench.server.sandboxes()).toEqual([]);
});
