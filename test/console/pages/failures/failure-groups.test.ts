import type { Execution } from "@nova/client";
import { describe, expect, it } from "vitest";
import { groupFailures } from "../../../../packages/console/src/pages/failures/failure-groups.ts";

let number = 0;

function failed(message: string, more: Partial<Execution> = {}, node = "book"): Execution {
  const started_at = new Date(Date.UTC(2026, 10, 1) + ++number * 1000).toISOString();
  const error = { node, class: "NodeFailed", message };
  const run = { execution_id: `exec_${number}`, workflow: "orders", version: 1, restarts: [], parent: null };
  return { ...run, started_at, error, ...more } as unknown as Execution;
}

describe("the groups of failures", () => {
  it("join messages that differ only in numbers, and list the newest run first", () => {
    const runs = [
      failed("row 1 is empty"),
      failed("row 22 is empty"),
      failed("no rate"),
      failed("row 3 is empty", {}, "x"),
    ];
    const groups = groupFailures(runs);
    expect(groups.map(({ node, message, runs: same }) => [node, message, same.length])).toEqual([
      ["book", "row 22 is empty", 2],
      ["x", "row 3 is empty", 1],
      ["book", "no rate", 1],
    ]);
  });

  it("leave out runs that did not fail", () => {
    expect(groupFailures([failed("a", { error: null })])).toEqual([]);
  });

  it("name the version in which a failure appeared first if an earlier version ran without this failure", () => {
    const runs = [failed("a", { version: 3 }), failed("a", { version: 2 }), failed("b", { version: 1 })];
    const told = groupFailures(runs, new Map([["orders", 1]]));
    expect(told.map(({ message, versions, newSince }) => [message, versions, newSince])).toEqual([
      ["a", [2, 3], 2],
      ["b", [1], undefined],
    ]);
    expect(groupFailures([failed("a", { version: 2 })], new Map([["orders", 2]]))[0]?.newSince).toBeUndefined();
  });

  it("offer a restart of all runs except child runs and runs that a user has restarted before", () => {
    const parent = { execution_id: "exec_0", scope: "", seq: 1 };
    const runs = [failed("a", { restarts: ["exec_9"] }), failed("a", { parent }), failed("a")];
    expect(groupFailures(runs)[0]?.restartable).toEqual([runs[2]]);
  });
});
