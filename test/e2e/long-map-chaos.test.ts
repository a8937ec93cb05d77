// @module-tag deep
import { compileWorkflow, toStateMachine } from "@nova/compiler";
import { publishWorkflow } from "@nova/engine";
import { afterAll, expect, it } from "vitest";
import { openChaoticCloud, verified } from "../support/cloud.ts";
import { action, between, ways } from "../support/forked.ts";

const cloud = await openChaoticCloud(7);
afterAll(() => cloud.close());

it("a map with an execution for each item has the same results even if Lambdas fail", async () => {
  const divide = action("divide", "context['part'] = 12 // context['item']", { effects: false });
  const each = { id: "each", type: "map", items: "list", nodes: [divide], edges: [], tolerated_failures: 1 };
  const source = between("long-map-chaos", [each], ways("start > each > end"));
  const { workflow } = await compileWorkflow({ text: JSON.stringify(source), fileName: "workflow.json", files: {} });
  if (!workflow) throw new TypeError("the workflow has findings");
  const stateMachine = JSON.stringify(toStateMachine(workflow, { inlineItems: 3 }));
  const template = await cloud.templateFor(workflow);
  const version = await publishWorkflow(cloud.ports, { workflow, stateMachine, template });
  const trace = await cloud.run(version, JSON.stringify({ list: [1, 2, 0, 3, 4, 6] }));
  expect(trace.execution.status).toBe("completed");
  const parts: unknown[] = JSON.parse(trace.context.text).results.map(({ part }: { part?: number }) => part);
  expect(parts).toEqual([12, 6, undefined, 4, 3, 2]);
  expect(await verified(cloud, trace)).toBe("anchored");
}, 120_000);
