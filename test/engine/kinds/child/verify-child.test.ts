import type { StoredEntry } from "@nova/engine";
import { expect, it } from "vitest";
import { sha256 } from "../../../../packages/engine/src/sha256.ts";
import { calledFlows, child } from "../../../support/engine/child-flows.ts";
import { flow, lines } from "../../../support/engine/flows.ts";
import { Story } from "../../../support/engine/story.ts";

/** A run that runs `called-deeper`, which runs `called`. */
async function closedStory() {
  const story = new Story(flow("calling", [child("c", "called-deeper")], lines("start > c > end")));
  for (const called of calledFlows) story.world.publish(called);
  await story.start();
  await story.everything();
  const [, outer, inner] = Array.from(story.world.executions.records.keys());
  return { story, outer: outer ?? "", inner: inner ?? "" };
}

type Told = Awaited<ReturnType<typeof closedStory>>;

const entriesOf = ({ story }: Told, execution: string) =>
  story.world.chain.linksOf(execution, "").map(({ seq }) => ({
    place: story.world.chain.at({ execution, scope: "", seq }),
    entry: story.world.chain.at({ execution, scope: "", seq }).entry as StoredEntry,
  }));

/** Rewrites a chain from its start, so that it is valid by itself. */
function rewrite(told: Told, execution: string, from: string | RegExp, to: string): void {
  let prev: string | undefined;
  for (const { place, entry } of entriesOf(told, execution)) {
    const linked = prev === undefined ? entry.head : entry.head.replace(/"prev":"\w+"/, `"prev":"${prev}"`);
    const head = linked.replace(from, to);
    prev = sha256(head);
    place.entry = { ...entry, head, hash: prev };
  }
}

it("a run is anchored with the executions that it ran, at any depth", async () => {
  const { story } = await closedStory();
  expect(await story.verify()).toEqual({ state: "anchored", links: 4 + 5 + 5, erased: [], sourceGone: [] });
});

it.each<[string, (told: Told) => void, (told: Told) => object]>([
  [
    "a link of a child",
    (told) => {
      const [, second] = entriesOf(told, told.inner);
      if (second) second.place.entry = { ...second.entry, head: second.entry.head.replace("success", "failed") };
    },
    ({ inner }) => ({ execution: inner, seq: 1, message: expect.stringMatching(/it was changed/) }),
  ],
  [
    "a content of a child",
    (told) => {
      const [, second] = entriesOf(told, told.outer);
      if (second) second.place.entry = { ...second.entry, contents: { context: { text: "{}" } } };
    },
    ({ outer }) => ({ execution: outer, seq: 1, message: expect.stringMatching(/context was changed/) }),
  ],
  [
    "the whole chain of a child, so that it holds by itself",
    (told) => rewrite(told, told.inner, '"execution_time_ms":1', '"execution_time_ms":2'),
    ({ outer }) => ({ execution: outer, seq: 2, message: expect.stringMatching(/has another end/) }),
  ],
  [
    "the close of a child: it was dropped",
    (told) => delete entriesOf(told, told.outer).at(-1)?.place.entry,
    () => ({ seq: 1, message: expect.stringMatching(/was cut off/) }),
  ],
  [
    "all of a child: it was dropped",
    (told) => {
      for (const { place } of entriesOf(told, told.outer)) delete place.entry;
    },
    () => ({ seq: 1, message: expect.stringMatching(/was cut off/) }),
  ],
])("the check names %s", async (_what, tamper, problem) => {
  const told = await closedStory();
  tamper(told);
  expect(await told.story.verify()).toMatchObject({ state: "broken", problem: problem(told) });
});

it("the check names a child that another node ran", async () => {
  const told = await closedStory();
  rewrite(told, told.outer, /"parent":\{"execution":"\w+"/, '"parent":{"execution":"exec_other"');
  const tip = entriesOf(told, told.outer).at(-1)?.entry.hash ?? "";
  rewrite(told, told.story.id, /"tip":"\w+"/, `"tip":"${tip}"`);
  expect(await told.story.verify()).toMatchObject({ state: "broken", problem: { seq: 1 } });
});
