import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { eventLine } from "../../../packages/cli/src/output/run.ts";

it.each([
  [{ node: "read", state: "started" }, "  · read"],
  [{ node: "read", state: "succeeded", items: [17] }, "  ✓ read  item 17"],
  [{ node: "read", state: "failed", items: [17, 0] }, "  ✗ read  item 17, 0"],
  [{ node: "ask", state: "waiting", items: [2] }, "  … ask waits  item 2"],
] as const)("%j is told in one line", (event, line) => {
  const { items, ...rest } = { items: undefined, ...event };
  expect(stripVTControlCharacters(eventLine({ ...rest, ...(items && { items: [...items] }) }))).toBe(line);
});
