import type { StoredEntry } from "@nova/engine";
import { expect, it } from "vitest";
import { headOf } from "../../../../packages/engine/src/chain/entry.ts";
import { failureOf } from "../../../../packages/engine/src/chain/position.ts";
import { action, flow, lines, mapOver } from "../../../support/engine/flows.ts";
import { atOnce } from "../../../support/engine/scheduler.ts";
import { Story } from "../../../support/engine/story.ts";

const inner = mapOver("n", [action("i")], [], { items: "item" });
const nested = flow("nested", [mapOver("m", [inner], [])], lines("start > m > end"));

it.each([
  [3, "success", undefined],
  [2, "failed", "item has 3 items, this map takes 2 - split the list, or map over parts of it"],
])("a map inside a map that takes %i items is a %s for a list of three", async (most_items, status, message) => {
  const story = await new Story(nested).start('{"list": [[1, 2, 3]]}');
  await story.finish(story.deliver("m", 0));
  const execution = { id: story.id, workflowId: "nested", version: 1 };
  const input = { execution, scope: "/m@1.0", seq: 0, node: "n", most_items };
  await story.finish(story.world.deliver({ function: "nova-run-node", input }));
  const entry = story.entriesOf("/m@1.0").at(-1) as StoredEntry;
  expect(headOf(entry)).toMatchObject({ node_id: "n", status });
  if (message) expect((await failureOf(entry, story.world.ports(atOnce).blobs)).message).toBe(message);
});
