import { cancelExecution, type Execution, type StoredEntry, type WorkflowVersion } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { storeOutcomes } from "../../../packages/engine/src/chain/outcomes.ts";
import closed from "../../fixtures/formats/closed-1.json" with { type: "json" };
import loops from "../../fixtures/formats/loops-1.json" with { type: "json" };
import outcomes from "../../fixtures/formats/outcomes-1.json" with { type: "json" };
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story, succeeds } from "../../support/engine/story.ts";

/** A run that was stored when format 1 was defined. Never regenerate these files. */
interface FrozenRun {
  version: WorkflowVersion;
  record: Execution;
  entries: StoredEntry[];
}

async function stored({ version, record, entries }: FrozenRun, decision = "null"): Promise<Story> {
  const story = new Story(version.workflow, { d: [succeeds("branch_decision", decision)] });
  const ports = story.world.ports(atOnce);
  story.world.workflows.versions.push(version);
  for (const [seq, entry] of entries.entries())
    await ports.chain.putEntry({ execution: record.id, scope: "", seq }, entry);
  await ports.executions.create(record);
  story.id = record.id;
  return story;
}

describe("a finished run that was stored in format 1", () => {
  const runs = closed as unknown as FrozenRun[];

  it.each(runs.map((run) => [run.record.status, run] as const))(
    "with the status %s is verified as `anchored`",
    async (_, run) => {
      const links = run.entries.length;
      expect(await (await stored(run)).verify()).toEqual({ state: "anchored", links, erased: [], sourceGone: [] });
    },
  );

  it.each<[keyof Execution, unknown]>([
    ["client", "another"],
    ["status", "completed"],
    ["startedAt", "2020-01-01T00:00:00.000Z"],
    ["nodes", 7],
    ["trigger", "nightly"],
    ["error", undefined],
  ])("is reported as broken if the field %s of its record was changed", async (field, value) => {
    const story = await stored(runs.find(({ record }) => record.status === "failed") as FrozenRun);
    Object.assign(story.world.record(story.id), { [field]: value });
    const problem = { message: expect.stringContaining(field) };
    expect(await story.verify()).toMatchObject({ state: "broken", problem });
  });
});

/** A run with two nested loops. It was stored just before decision d, together with its first further execution. */
describe("a run with loops that was stored in format 1", () => {
  const run = loops as unknown as FrozenRun;
  const { version, record } = run;

  async function storedLoops(): Promise<Story> {
    const story = await stored(run, '"again"');
    // After a day, the sandbox that the last entry names has died.
    story.world.clock.advance(24 * 3600 * 1000);
    return story;
  }

  it("keeps its counts of loops and history events, and continues to count", async () => {
    const story = await storedLoops();
    expect(await story.finish(story.deliver("d", 6))).toMatchObject({ decision: "again", seq: 7 });
    expect(headOf(story.entriesOf("").at(-1) as StoredEntry)).toMatchObject({
      loops: { "e->once more": 1, "d->again": 1 },
      events: 18,
      continuation: { number: 1, seq: 5 },
    });
    expect(await story.verify()).toMatchObject({ state: "open", links: 8 });
  });

  it("continues in a further execution of Step Functions", async () => {
    const story = await storedLoops();
    expect(await story.finish(story.deliver("e", 4))).toMatchObject({
      continuation: { arn: version.stateMachineArn, name: `${record.id}.1`, input: { seq: 5, resume: "a" } },
    });
  });

  it("can be cancelled together with its further executions", async () => {
    const story = await storedLoops();
    const stopped: string[] = [];
    const ports = story.world.ports(atOnce);
    ports.stateMachines = { ...ports.stateMachines, stop: async (_arn, name) => void stopped.push(name) };
    expect(await cancelExecution(ports, record.id)).toMatchObject({ status: "cancelled" });
    expect(stopped).toEqual([record.id, `${record.id}.1`]);
  });
});

/** A run with the option `sealed`. It was stored before the second visit of its loop. */
describe("a run in format 1 whose entry 0 names a document of places", () => {
  const run = outcomes as unknown as FrozenRun & { document: string };
  const source = "exec_01M8000000000000000000000";

  it("reuses the outcomes in the document after an update of NOVA", async () => {
    const story = await stored(run);
    const [first] = run.entries.map(headOf);
    const hash = await storeOutcomes(story.world.ports(atOnce).blobs, run.record, run.document);
    expect(first?.plan).toEqual({ outcomes: hash });
    await story.finish(story.deliver("ask", 2));
    const ask = headOf(story.entriesOf("").at(-1) as StoredEntry);
    expect(ask).toMatchObject({ sealed: true, code: null, visits: { ask: 2, enough: 1 }, path_taken: "enough" });
    expect(ask.reused_from).toEqual({ execution: source, scope: "", seq: 3, hash: "a".repeat(64) });
    expect(await story.finish(story.deliver("enough", 3))).toBe("NodeTimeout");
    expect(story.begun).toEqual([]);
    const authors = story.entriesOf("").map((entry) => headOf(entry).edited?.by);
    expect(authors).toEqual([undefined, "user:ann", undefined, undefined, undefined]);
    expect(await story.verify()).toMatchObject({ state: "open", links: 5, sourceGone: [source] });
  });

  it("is reported as broken if the document is missing", async () => {
    const { problem } = await (await stored(run)).verify();
    expect(problem).toMatchObject({ seq: 0, message: expect.stringMatching(/document of places.*missing/) });
  });
});
