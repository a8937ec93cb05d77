// @module-tag deep
import { readTrace, startExecution } from "@nova/engine";
import { afterAll, expect, it } from "vitest";
import { historyText, openTestCloud, verified } from "../support/cloud.ts";
import { action, between, ways } from "../support/forked.ts";

const cloud = await openTestCloud();
afterAll(() => cloud.close());

const count = 250;
/**
 * Maps with more items than this run each item in its own execution. The real limit, about 1,300, would only make the
 * test slower.
 */
const inlineItems = 100;

it(`a map runs ${count} items in their own executions and keeps their order`, async () => {
  const list = Array.from({ length: count }, (_, i) => i);
  const square = action("square", "context['square'] = context['item'] ** 2");
  const each = { id: "each", type: "map", items: "list", nodes: [square], edges: [] };
  const sum = action("sum", "context['sum'] = sum(one['square'] for one in context['results'])");
  const same = action(
    "same",
    "context['same'] = [one['square'] for one in context['results']] == [n * n for n in context['list']]",
  );
  const source = between("long-map", [each, sum, same], ways("start > each > sum > same > end"));
  const version = await cloud.publish(source, { inlineItems });
  const { id } = await startExecution(cloud.ports, { version, context: JSON.stringify({ list }) });
  await cloud.untilEnd(id);
  const trace = await readTrace(cloud.ports, id);
  expect(trace.execution.status).toBe("completed");
  expect(JSON.parse(trace.context.text)).toMatchObject({
    same: true,
    sum: list.reduce((total, n) => total + n * n, 0),
  });
  expect(trace.entries[1]?.branches?.map(({ branch }) => Number(branch))).toEqual(list);
  expect(await verified(cloud, trace)).toBe("anchored");
  const history = await historyText(trace);
  expect(history).toContain("MapRunSucceeded");
  expect(history).not.toContain("square");
}, 120_000);
