import { readDocstrings } from "@nova/sandbox";
import { expect, test } from "vitest";
import { Bench } from "./support/bench.ts";

const bench = Bench.use();

const isDownload = (call: string) => call === "GET /files";

test("reads the index that a template carries, and leaves no sandbox behind", async () => {
  bench.gateway.fault = (call) => (isDownload(call) ? { status: 200, body: '{"format": 1}' } : undefined);
  expect(await readDocstrings("nova")).toBe('{"format": 1}');
  expect(bench.server.sandboxes()).toEqual([]);
});

test("leaves none behind either where a template has no index", async () => {
  bench.gateway.fault = () => undefined;
  await expect(readDocstrings("nova")).rejects.toThrow(/docstrings\.json/);
  expect(bench.server.sandboxes()).toEqual([]);
});
