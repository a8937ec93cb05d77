import { expect, it } from "vitest";
import { createNodeIo } from "../../../packages/engine/src/attempt/task-input.ts";
import { readPosition } from "../../../packages/engine/src/chain/position.ts";
import { Context } from "../../../packages/engine/src/context/context.ts";
import { withKinds } from "../../../packages/engine/src/kinds/table.ts";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { given, Story, succeeds } from "../../support/engine/story.ts";

const nodes = [
  action("f"),
  action("a"),
  action("c"),
  action("b"),
  mapOver("m", [action("i"), action("k")], lines("i > k")),
];
const workflow = flow("seen", nodes, lines("start > f > a > c > m > end", "f > b > m"));

/** The `outputs` of the node at an entry of a run that is over. */
async function seenAt(scope: string, seq: number) {
  const echo = { i: (request: Parameters<typeof given>[0]) => succeeds("i", given(request, "item") ?? "") };
  const story = await new Story(workflow, echo).start('{"list":[7,8]}');
  await story.everything();
  expect(story.chain.at(-1)).toBe("(close) completed");
  const ports = story.world.ports(atOnce);
  const position = await readPosition(ports, { execution: story.id, scope, seq });
  const io = await createNodeIo(withKinds(ports), position, new Context(), new Set());
  const names = await io.outputNames();
  return Promise.all(names.map(async (name) => [name, await io.outputs(name)]));
}

const start = ["start", '{"list":[7,8]}'];
const f = ["f", '{"f":true}'];
const branches = ["a", "c", "b"].map((id) => [id, `{"${id}":true}`]);

it.each([
  ["a branch: what ran before its fork, nothing of a sibling", "/f@1.b", 1, [start, f]],
  ["the second node of a branch: the first one too", "/f@1.a", 2, [start, f, ["a", '{"a":true}']]],
  ["what follows the join: the branches", "", 3, [start, f, ...branches]],
  [
    "an item: its own nodes, none of another item's",
    "/m@3.1",
    2,
    [start, f, ...branches, ["m", "{}"], ["i", '{"i":8}']],
  ],
  ["what follows a map: its list", "", 5, [start, f, ...branches, ["m", '{"m":[{"i":7,"k":true},{"i":8,"k":true}]}']]],
])("shows to %s", async (_who, scope, seq, expected) => {
  expect(await seenAt(scope, seq)).toEqual(expected);
});
