import { readDocstrings } from "@nova/sandbox";
import { expect, test } from "vitest";
import { Bench } from "./support/bench.ts";

const bench = Bench.use();

const isDownload = (call: string) => call === "GET /files";

test("readDocstrings returns the documentation index of a template, and kills the sandbox in which it read the index", async () => {
  bench.gateway.fault = (call) => (isDownload(call) ? { status: 200, body: '{"format": 1}' } : undefined);
  expect(await readDocstrings("nova")).toBe('{"format": 1}');
  expect(bench.server.sandboxes()).toEqual([]);
});

test("readDocstrings kills its sandbox even if the template has no documentation index", async () => {
  bench.gateway.fault = () => undefined;
  await expect(readDocstrings("nova")).rejects.toThrow(/docstrings\.json/);
  expect(bench.server.sandboxes()).toEqual([]);
});
