import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestCloud, type TestCloud, verified } from "../support/cloud.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

const action = (id: string, code: string, more: object = {}) => ({ id, type: "action", code, ...more });
/** Parses lines such as `"a > b > c"` into edges. */
const ways = (...lines: string[]) =>
  lines.flatMap((line) => {
    const ids = line.split(" > ");
    return ids.slice(1).map((to, i) => ({ from: ids[i], to }));
  });
const run = async (nodes: object[], edges: object[], context = "{}") => {
  const all = [{ id: "start", type: "start" }, ...nodes, { id: "end", type: "end" }];
  const trace = await cloud.run(await cloud.publish({ id: "forks", nodes: all, edges }), context);
  expect(await verified(cloud, trace)).toBe("anchored");
  return trace;
};
const values = ({ context }: { context: { text: string } }) => JSON.parse(context.text);
const parallel = ways("start > f > a > j > end", "f > b > j");

describe("the branches of a fork", { timeout: 60_000 }, () => {
  it("start with the context of the fork, see no changes of each other, and are merged by the join", async () => {
    const trace = await run(
      [
        action("f", "context['n'] = 12345678901234567890"),
        action("a", "context['a'] = context['n'] + 1; context['seen_by_a'] = sorted(context)"),
        action("b", "context['b'] = outputs['f']['n']; del context['gone']; context['names'] = sorted(outputs)"),
        action("j", "context['sum'] = context['a'] + context['b']; context['names_behind'] = sorted(outputs)"),
      ],
      parallel,
      '{"gone": 1}',
    );
    expect(trace.context.text).toContain('"sum":24691357802469135781');
    expect(values(trace)).toMatchObject({
      seen_by_a: ["a", "gone", "n"],
      names: ["f", "start"],
      names_behind: ["a", "b", "f", "start"],
    });
    expect(values(trace)).not.toHaveProperty("gone");
    expect(trace.path).toEqual(["start", "f", "a", "b", "j", "end"]);
  });

  it("are all stopped as soon as one of them fails, and the error of the run names the failed node", async () => {
    const trace = await run(
      [
        action("f", "context['n'] = 1"),
        // This branch fails only after two seconds, when the code of the other branch is certainly running.
        action("a", "import time\ntime.sleep(2)\nraise ValueError('no total')"),
        action("b", "import time\ntime.sleep(600)"),
        action("j", "context['never'] = 1"),
      ],
      parallel,
    );
    expect(trace.execution).toMatchObject({
      status: "failed",
      error: { node: "a", class: "NodeFailed", message: 'in branch "a": ValueError: no total' },
    });
    const [, fork, join] = trace.entries;
    expect(join).toMatchObject({ node_id: "f.join", status: "failed" });
    expect(fork?.branches?.[1]?.entries).toMatchObject([{ node_id: "b", error_class: "ExecutionClosed" }]);
  });
});

describe("maps", { timeout: 60_000 }, () => {
  it("pass bytes and large values to each item, and return results in the order of the items", async () => {
    const trace = await run(
      [
        action("make", "context['files'] = [{'name': str(i), 'data': bytes([i]) * 20_000} for i in range(7)]"),
        {
          id: "m",
          type: "map",
          items: "files",
          as: "file",
          into: "sums",
          max_concurrency: 3,
          nodes: [
            action("read", "context['bytes'] = len(context['file']['data'])"),
            action("add", "context['sum'] = sum(context['file']['data']) + context['index']; del context['file']"),
          ],
          edges: ways("read > add"),
        },
        action("all", "context['total'] = sum(item['sum'] for item in context['sums'])"),
      ],
      ways("start > make > m > all > end"),
    );
    expect(values(trace)).toMatchObject({
      sums: Array.from({ length: 7 }, (_, i) => ({ bytes: 20_000, sum: 20_000 * i + i })),
      total: 20_001 * 21,
    });
    const boxes = trace.entries[2]?.branches?.flatMap(({ entries }) => entries.map(({ sandbox_id }) => sandbox_id));
    expect(new Set(boxes).size).toBeLessThanOrEqual(3);
  });

  it("tolerate as many failed items as permitted, and can contain forks and maps", async () => {
    const trace = await run(
      [
        {
          id: "m",
          type: "map",
          items: "rows",
          into: "results",
          tolerated_failures: 1,
          nodes: [
            {
              id: "n",
              type: "map",
              items: "item",
              as: "cell",
              into: "cells",
              nodes: [action("i", "context['c'] = 10 / context['cell']")],
              edges: [],
            },
            action("x", "context['x'] = len(context['cells'])"),
            action("y", "context['y'] = context['index']"),
          ],
          edges: ways("n > x", "n > y"),
        },
      ],
      ways("start > m > end"),
      '{"rows": [[1, 2], [0, 5], []]}',
    );
    expect(values(trace).results).toEqual([
      { cells: [{ c: 10 }, { c: 5 }], x: 2, y: 0 },
      { error: { node: "i", class: "NodeFailed", message: expect.stringContaining("ZeroDivisionError") } },
      { cells: [], x: 0, y: 2 },
    ]);
  });
});
