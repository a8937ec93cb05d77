import { readTrace, renderJson, type StoredEntry } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../packages/engine/src/sha256.ts";
import { contextAt } from "../../support/engine/context-at.ts";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { given, Story, succeeds } from "../../support/engine/story.ts";

const nodes = [action("f"), action("a"), action("b"), mapOver("m", [action("i")], [])];
const workflow = flow("tree", nodes, lines("start > f > a > m > end", "f > b > m"));

async function ran(): Promise<Story> {
  const echo = { i: (request: Parameters<typeof given>[0]) => succeeds("i", given(request, "item") ?? "") };
  const story = await new Story(workflow, echo).start('{"list":[1.50,2]}');
  await story.everything();
  return story;
}

describe("the chain of work of branches", () => {
  it("is listed inside their fork, branch by branch", async () => {
    const story = await ran();
    const trace = await readTrace(story.world.ports(atOnce), story.id, { full: true });
    const [, f, , m, join] = trace.entries;
    expect(f?.branches).toMatchObject([
      {
        branch: "a",
        scope: "/f@1.a",
        entries: [{ node_id: "a", seq: 1, prev: f?.hash, input_context: { text: '{"list":[1.50,2],"f":true}' } }],
      },
      { branch: "b", scope: "/f@1.b", entries: [{ node_id: "b" }] },
    ]);
    const [item] = m?.branches ?? [];
    expect(item).toMatchObject({ branch: "0", scope: "/m@3.0" });
    expect(item?.entries[0]?.input_context?.text).toBe(
      '{"list":[1.50,2],"f":true,"a":true,"b":true,"item":1.50,"index":0}',
    );
    expect(renderJson(item?.entries[0]?.changes)).toBe('{"set":{"i":1.50},"delete":[]}');
    expect(renderJson(join?.changes)).toBe('{"set":{"m":[{"i":1.50},{"i":2}]},"delete":[]}');
    expect(trace.path).toEqual(["start", "f", "a", "b", "m", "i", "i", "end"]);
  });

  it("has its checkpoints by scope", async () => {
    const story = await ran();
    const ports = story.world.ports(atOnce);
    expect((await contextAt(ports, { execution: story.id, scope: "/f@1.b", seq: 1 })).get("b")).toBe("true");
  });
});

describe("verify finds in a branch", () => {
  type Place = { scope: string; seq: number };
  const at = (story: Story, place: Place) => story.world.chain.at({ execution: story.id, ...place });
  const rewrite = (story: Story, place: Place, change: (entry: StoredEntry) => StoredEntry) => {
    const link = at(story, place);
    link.entry = change(link.entry as StoredEntry);
  };
  const inHead = (from: string, to: string) => (entry: StoredEntry) => {
    const head = entry.head.replace(from, to);
    expect(head).not.toBe(entry.head);
    return { ...entry, head, hash: sha256(head) };
  };

  it.each<[string, (story: Story) => void, object]>([
    [
      "a changed head",
      (story) =>
        rewrite(story, { scope: "/f@1.a", seq: 1 }, (entry) => ({ ...entry, head: entry.head.replace('"a"', '"x"') })),
      { scope: "/f@1.a", seq: 1, message: expect.stringContaining("it was changed") },
    ],
    [
      "a head that was rewritten with its hash",
      (story) => rewrite(story, { scope: "/f@1.a", seq: 1 }, inHead('"execution_time_ms":1', '"execution_time_ms":2')),
      { seq: 2, message: expect.stringContaining("the branches that it lists end otherwise") },
    ],
    [
      "a branch that is cut off",
      (story) => delete at(story, { scope: "/m@3.1", seq: 1 }).entry,
      { seq: 4, message: "it counts other entries than its branches have" },
    ],
    [
      "an entry that was added",
      (story) =>
        (at(story, { scope: "/m@3.1", seq: 2 }).entry = at(story, { scope: "/m@3.0", seq: 1 }).entry as StoredEntry),
      { scope: "/m@3.1", seq: 2 },
    ],
    [
      "a first entry of another fork",
      (story) =>
        rewrite(story, { scope: "/m@3.0", seq: 1 }, () => at(story, { scope: "/m@3.1", seq: 1 }).entry as StoredEntry),
      { scope: "/m@3.0", seq: 1, message: expect.stringMatching(/^it is link 1 of branch \/m@3.1 .* copied/) },
    ],
    [
      "a changed result",
      (story) =>
        rewrite(story, { scope: "/f@1.b", seq: 1 }, (entry) => ({
          ...entry,
          contents: { ...entry.contents, context: { text: "{}" } },
        })),
      { scope: "/f@1.b", seq: 1, message: "its context was changed: the digest in its head is another" },
    ],
    [
      "other items",
      (story) =>
        rewrite(story, { scope: "", seq: 3 }, (entry) => ({
          ...entry,
          contents: { ...entry.contents, items: { text: "{}" } },
        })),
      { seq: 3, message: "its items was changed: the digest in its head is another" },
    ],
    [
      "another list of branches",
      (story) =>
        rewrite(story, { scope: "", seq: 2 }, (entry) => ({
          ...entry,
          contents: { ...entry.contents, branches: { text: "[]" } },
        })),
      { seq: 2 },
    ],
  ])("%s", async (_what, tamper, problem) => {
    const story = await ran();
    expect(await story.verify()).toMatchObject({ state: "anchored", links: 11 });
    tamper(story);
    expect(await story.verify()).toMatchObject({ state: "broken", problem });
  });

  it("an item whose page was changed", async () => {
    const story = await ran();
    const { items } = (at(story, { scope: "", seq: 3 }).entry as StoredEntry).contents;
    const page = items && "text" in items ? JSON.parse(items.text).pages[0].sha256 : "";
    const [key] = Array.from(story.world.blobs.blobs.keys()).filter((name) => name.endsWith(page));
    story.world.blobs.blobs.set(key as string, Buffer.from("[1,2]"));
    expect(await story.verify()).toMatchObject({ state: "broken", problem: { seq: 3, blob: page } });
  });
});
