import { cancelExecution, type Execution, type StoredEntry, type WorkflowVersion } from "@nova/engine";
import { expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import frozen from "../../fixtures/formats/loops-1.json" with { type: "json" };
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story, succeeds } from "../../support/engine/story.ts";

/** A run of two nested loops up to its first further execution. Never regenerate this file. */
const { version, record, entries } = frozen as unknown as {
  version: WorkflowVersion;
  record: Execution;
  entries: StoredEntry[];
};

/** Restores the run before decision d. */
async function takenUp(): Promise<Story> {
  const story = new Story(version.workflow, { d: [succeeds("branch_decision", '"again"')] });
  const ports = story.world.ports(atOnce);
  story.world.workflows.versions.push(version);
  for (const [seq, entry] of entries.entries())
    await ports.chain.putEntry({ execution: record.id, scope: "", seq }, entry);
  await ports.executions.create(record);
  story.id = record.id;
  // The sandbox that the last entry names no longer exists.
  story.world.clock.advance(24 * 3600 * 1000);
  return story;
}

it("heads of format 1 count loops and events", async () => {
  const story = await takenUp();
  expect(await story.finish(story.deliver("d", 6))).toMatchObject({ decision: "again", seq: 7 });
  expect(headOf(story.entriesOf("").at(-1) as StoredEntry)).toMatchObject({
    loops: { "e->once more": 1, "d->again": 1 },
    events: 18,
    continuation: { number: 1, seq: 5 },
  });
  expect(await story.verify()).toMatchObject({ state: "open", links: 8 });
});

it("an entry of format 1 leads to a further execution", async () => {
  const story = await takenUp();
  expect(await story.finish(story.deliver("e", 4))).toMatchObject({
    continuation: { arn: version.stateMachineArn, name: `${record.id}.1`, input: { seq: 5, resume: "a" } },
  });
});

it("a run of format 1 with further executions can be cancelled", async () => {
  const story = await takenUp();
  const stopped: string[] = [];
  const ports = story.world.ports(atOnce);
  ports.stateMachines = { ...ports.stateMachines, stop: async (_arn, name) => void stopped.push(name) };
  expect(await cancelExecution(ports, record.id)).toMatchObject({ status: "cancelled" });
  expect(stopped).toEqual([record.id, `${record.id}.1`]);
});
