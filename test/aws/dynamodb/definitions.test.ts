import { createServiceStores } from "@nova/aws";
import type { Publication } from "@nova/service";
import { describe, expect, it } from "vitest";
import { createWorkflowStore, workflowIds } from "../../../packages/aws/src/dynamodb/workflows.ts";
import { useBucket, useTable } from "../support/endpoints.ts";

const table = useTable();
const bucket = useBucket();

/** An index of workflows and versions with two items per page. */
function index(...rows: [workflowId: string, version: number][]) {
  const asked: string[] = [];
  const key = (workflowId: string, version: number) => `${workflowId}#${String(version).padStart(10, "0")}`;
  const behind = (last: { workflowId: string; version: number }) => {
    const left = rows.filter(([id, version]) => key(id, version) > key(last.workflowId, last.version));
    asked.push(last.workflowId);
    const data = left.slice(0, 2).map(([workflowId]) => ({ workflowId }));
    return { go: async () => ({ data, cursor: left.length > 2 ? "there is more" : null }) };
  };
  return { asked, behind };
}

describe("ids of workflows", () => {
  it.each<[string, [string, number][], string, string[], string[]]>([
    ["of none", [], "", [], [""]],
    [
      "of one page",
      [
        ["a", 1],
        ["b", 1],
      ],
      "",
      ["a", "b"],
      [""],
    ],
    [
      "continue after a page that ends inside a workflow",
      [
        ["a", 1],
        ["b", 1],
        ["b", 2],
        ["b", 3],
      ],
      "",
      ["a", "b"],
      ["", "b"],
    ],
    [
      "skip the further versions of a workflow",
      [
        ["a", 1],
        ["a", 2],
        ["a", 3],
        ["a", 4],
        ["c", 1],
      ],
      "",
      ["a", "c"],
      ["", "a"],
    ],
    [
      "after a given id exclude that id",
      [
        ["a", 1],
        ["b", 1],
        ["c", 7],
      ],
      "a",
      ["b", "c"],
      ["a"],
    ],
    [
      "after an unknown id start with the next one",
      [
        ["a", 1],
        ["c", 1],
      ],
      "b",
      ["c"],
      ["b"],
    ],
  ])("%s", async (_what, rows, after, expected, queries) => {
    const { asked, behind } = index(...rows);
    expect(await Array.fromAsync(workflowIds(behind, after))).toEqual(expected);
    expect(asked).toEqual(queries);
  });

  const version = (workflowId: string, number: number) => ({
    format: 1,
    workflowId,
    version: number,
    hash: `hash-${number}`,
    template: "base",
    createdAt: "2026-01-01",
    ...{
      stateMachineArn: "arn",
      status: "publishing",
      workflow: { id: workflowId, lib: { "big.py": "#".repeat(9000) } },
    },
  });

  it("are read from versions and publications without their definitions", async () => {
    const stores = { versions: createWorkflowStore(table, bucket), ...createServiceStores({ ...table, bucket }) };
    for (const [id, number] of [
      ["b", 1],
      ["b", 2],
      ["b-2", 1],
      ["b_2", 10],
      ["a", 1],
    ] as const) {
      const { status: _, ...ready } = version(id, number);
      await stores.versions.create(ready as never);
      const { stateMachineArn: __, ...unready } = version(id, number);
      await stores.publications.create(unready as unknown as Publication);
    }
    bucket.operations.length = 0;
    for (const store of [stores.versions, stores.publications]) {
      table.requests.length = 0;
      expect(await Array.fromAsync(store.ids())).toEqual(["a", "b", "b-2", "b_2"]);
      expect(await Array.fromAsync(store.ids("b"))).toEqual(["b-2", "b_2"]);
      expect(table.requests).toMatchObject([{ Limit: 200 }, { Limit: 200 }]);
      for (const { ProjectionExpression } of table.requests)
        expect(ProjectionExpression).toMatch(/^((?!definition).)*#workflowId((?!definition).)*$/);
    }
    expect(bucket.operations).toEqual([]);
  });
});
