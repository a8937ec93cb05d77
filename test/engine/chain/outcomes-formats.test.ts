import type { Execution, StoredEntry, WorkflowVersion } from "@nova/engine";
import { expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { storeOutcomes } from "../../../packages/engine/src/chain/outcomes.ts";
import frozen from "../../fixtures/formats/outcomes-1.json" with { type: "json" };
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story } from "../../support/engine/story.ts";

/** A sealed run with a document of outcomes, before the second visit of its loop. Never regenerate this file. */
const { version, record, document, entries } = frozen as unknown as {
  version: WorkflowVersion;
  record: Execution;
  document: string;
  entries: StoredEntry[];
};

it("a run of format 1 continues with its document of outcomes", async () => {
  const story = new Story(version.workflow);
  const ports = story.world.ports(atOnce);
  story.world.workflows.versions.push(version);
  const [first] = entries.map(headOf);
  expect(first?.plan).toEqual({ outcomes: await storeOutcomes(ports.blobs, record, document) });
  for (const [seq, entry] of entries.entries())
    await ports.chain.putEntry({ execution: record.id, scope: "", seq }, entry);
  await ports.executions.create(record);
  story.id = record.id;
  await story.finish(story.deliver("ask", 2));
  const ask = headOf(story.entriesOf("").at(-1) as StoredEntry);
  expect(ask).toMatchObject({ sealed: true, code: null, visits: { ask: 2, enough: 1 }, path_taken: "enough" });
  expect(ask.reused_from).toEqual({
    execution: "exec_01M8000000000000000000000",
    scope: "",
    seq: 3,
    hash: "a".repeat(64),
  });
  expect(await story.finish(story.deliver("enough", 3))).toBe("NodeTimeout");
  expect(story.begun).toEqual([]);
  expect(story.entriesOf("").map((entry) => headOf(entry).edited?.by)).toEqual([
    undefined,
    "user:ann",
    ...[undefined, undefined, undefined],
  ]);
  expect(await story.verify()).toMatchObject({
    state: "open",
    links: 5,
    sourceGone: ["exec_01M8000000000000000000000"],
  });
});

it("a document that is missing breaks the check", async () => {
  const story = new Story(version.workflow);
  const ports = story.world.ports(atOnce);
  story.world.workflows.versions.push(version);
  for (const [seq, entry] of entries.entries())
    await ports.chain.putEntry({ execution: record.id, scope: "", seq }, entry);
  await ports.executions.create(record);
  story.id = record.id;
  expect((await story.verify()).problem).toMatchObject({
    seq: 0,
    message: expect.stringMatching(/document of outcomes.*missing/),
  });
});
