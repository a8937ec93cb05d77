import { contextAt, historyOf, rollback } from "@nova/engine";
import { expect, it } from "vitest";
import { action, flow } from "../../support/engine/flows.ts";
import type { Script } from "../../support/engine/harness.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story } from "../../support/engine/story.ts";

const three = flow(
  "three",
  [action("a"), action("b"), action("c")],
  [
    ["start", "a"],
    ["a", "b"],
    ["b", "c"],
    ["c", "end"],
  ],
);

function changes(set: Record<string, string>, deleted: string[] = []): Script {
  const members = Object.entries(set).map(([key, json]) => ({ key, json }));
  return { result: { status: "success", set: members, delete: deleted, logs: "", durationMs: 1 } };
}

async function closedStory() {
  const scripts = { a: [changes({ x: "2", y: '"a"' })], b: [changes({}, ["x"])], c: [changes({ x: "850.0" })] };
  const story = await new Story(three, scripts).start('{"x":1.0,"kept":[12345678901234567890]}');
  await story.everything();
  return { story, ports: story.world.ports(atOnce), at: (seq: number) => ({ execution: story.id, scope: "", seq }) };
}

it("tells who set and who deleted a key, digit for digit", async () => {
  const { story, ports } = await closedStory();
  expect(await historyOf(ports, story.id, "x")).toEqual([
    { seq: 0, node: "start", json: "1.0" },
    { seq: 1, node: "a", json: "2" },
    { seq: 2, node: "b", json: null },
    { seq: 3, node: "c", json: "850.0" },
  ]);
  expect(await historyOf(ports, story.id, "nobody's")).toEqual([]);
});

it("has a checkpoint at every link", async () => {
  const { ports, at } = await closedStory();
  const contexts = await Promise.all([0, 1, 2, 3].map(async (seq) => (await contextAt(ports, at(seq))).get("x")));
  expect(contexts).toEqual(["1.0", "2", undefined, "850.0"]);
  await expect(contextAt(ports, at(9))).rejects.toThrow(/has no link 9/);
});

it("says which changes lead back to a checkpoint", async () => {
  const { ports, at } = await closedStory();
  const back = await rollback(ports, at(3), 0);
  expect(back).toEqual({ set: [expect.objectContaining({ key: "x", json: "1.0" })], delete: ["y"] });
  const now = (await contextAt(ports, at(3))).apply(back, 4);
  expect([now.get("x"), now.get("y"), now.get("kept.0")]).toEqual(["1.0", undefined, "12345678901234567890"]);
  expect(await rollback(ports, at(3), 3)).toEqual({ set: [], delete: [] });
});
