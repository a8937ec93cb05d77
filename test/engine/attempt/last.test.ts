import { expect, it } from "vitest";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { Story } from "../../support/engine/story.ts";

/** Lists for each run of code, in order, whether its request marks it as the last one. */
async function lastOf(story: Story, ...nodes: [node: string, seq: number, scope?: string][]) {
  await story.start('{"list": [1]}');
  for (const [node, seq, scope] of nodes)
    await story.finish(story.deliver(node, seq, scope === undefined ? {} : { scope }));
  return story.begun.map(({ request }) => [request.node, request.isLast ?? false]);
}

it("marks code as the last one if no node follows unless it fails", async () => {
  const row = new Story(flow("row", [action("a"), action("b")], lines("start > a > b > end")));
  expect(await lastOf(row, ["a", 0], ["b", 1])).toEqual([
    ["a", false],
    ["b", true],
  ]);
});

it("does not mark code of a branch as the last one: other code runs beside it and after it", async () => {
  const nodes = [action("f"), action("a"), action("b")];
  const fork = new Story(flow("fork", nodes, lines("start > f > a > end", "f > b > end")));
  expect(await lastOf(fork, ["f", 0], ["a", 0, "/f@1.a"])).toEqual([
    ["f", false],
    ["a", false],
  ]);
});
