import type { Execution, StoredEntry, WorkflowVersion } from "@nova/engine";
import { expect, it } from "vitest";
import frozen from "../../fixtures/formats/closed-1.json" with { type: "json" };
import { flow } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story } from "../../support/engine/story.ts";

/** Finished runs, a completed one and a failed one. Never regenerate this file. */
const runs = frozen as unknown as { version: WorkflowVersion; record: Execution; entries: StoredEntry[] }[];

async function stored({ version, record, entries }: (typeof runs)[number]): Promise<Story> {
  const story = new Story(flow("closed", [], []));
  const ports = story.world.ports(atOnce);
  story.world.workflows.versions.push(version);
  for (const [seq, entry] of entries.entries())
    await ports.chain.putEntry({ execution: record.id, scope: "", seq }, entry);
  await ports.executions.create(record);
  story.id = record.id;
  return story;
}

it.each(runs.map((run) => [run.record.status, run] as const))("a %s run of format 1 is anchored", async (_, run) => {
  const story = await stored(run);
  expect(await story.verify()).toEqual({ state: "anchored", links: run.entries.length, erased: [], sourceGone: [] });
});

it.each<[keyof Execution, unknown]>([
  ["client", "another"],
  ["status", "completed"],
  ["startedAt", "2020-01-01T00:00:00.000Z"],
  ["nodes", 7],
  ["trigger", "nightly"],
  ["error", undefined],
])("a run of format 1 is broken if its record has another %s", async (field, value) => {
  const failed = runs.find(({ record }) => record.status === "failed") as (typeof runs)[number];
  const story = await stored(failed);
  Object.assign(story.world.record(story.id), { [field]: value });
  expect(await story.verify()).toMatchObject({ state: "broken", problem: { message: expect.stringContaining(field) } });
});
