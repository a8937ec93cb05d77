import { readTrace, requestApproval } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { action, decision, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story, succeeds } from "../../support/engine/story.ts";
import { Asked, approval } from "../../support/engine/waiting.ts";

const loop = flow(
  "loop",
  [action("a"), decision("d"), action("b")],
  [...lines("start > a > d", "b > end"), ["d", "a", "again", 9], ["d", "b", "default"]],
);
const again = succeeds("branch_decision", '"again"');
const enough = succeeds("branch_decision", '"enough"');

const countsOf = (story: Story) =>
  story.entriesOf("").map((entry) => {
    const { node_id, events, continuation } = headOf(entry);
    return [node_id, events, ...(continuation ? [continuation.number, continuation.seq] : [])];
  });

/** Starts a run, and executes it until its decision has led back twice. */
async function continued(): Promise<Story> {
  const story = await new Story(loop, { d: [again, again, enough] }).start("{}", { historyEvents: 20 });
  for (const [seq, node] of ["a", "d", "a", "d"].entries()) await story.finish(story.deliver(node, seq));
  return story;
}

const further = (story: Story) => {
  const execution = { id: story.id, workflowId: "loop", version: 1 };
  const input = { execution, scope: "", seq: 4, resume: "a" };
  return { arn: "arn:loop:1", name: `${story.id}.1`, number: 1, input };
};

describe("a decision in a loop whose edge leads back to an earlier node", () => {
  it("names the same further execution in every delivery if the history of Step Functions exceeds its limit", async () => {
    const story = await continued();
    expect(await story.finish(story.deliver("d", 1))).not.toHaveProperty("continuation");
    expect(await story.finish(story.deliver("d", 3))).toMatchObject({
      ...{ decision: "again", seq: 4 },
      continuation: further(story),
    });
    expect(await story.finish(story.settle("d", 3))).toMatchObject({ failed: false, continuation: further(story) });
    expect(await story.finish(story.deliver("a", 4))).not.toHaveProperty("continuation");
    // The start of an execution, its first Choice and the Pass of the start node have 6 events. Each task has 5 events,
    // and a Choice after it has 2.
    expect(countsOf(story)).toEqual([
      ...[["start", 6] as unknown[], ["a", 11], ["d", 18], ["a", 23], ["d", 6, 1, 4]],
      ["a", 11, 1, 4],
    ]);
  });

  it("continues the run in one further execution after another, and all these executions end with the status of the last", async () => {
    const scripts = { d: [...Array.from({ length: 7 }, () => again), enough] };
    const story = await new Story(loop, scripts).start("{}", { historyEvents: 20 });
    await story.everything();
    expect(story.chain.filter((entry) => entry === "a success")).toHaveLength(8);
    expect(Array.from(story.world.machines, ([name, { status }]) => [name.slice(story.id.length), status])).toEqual(
      ["", ".1", ".2", ".3"].map((name) => [name, "succeeded"]),
    );
    const outputs = Array.from(story.world.machines.values(), ({ output }) => output);
    expect(outputs).toEqual(outputs.map(() => expect.objectContaining({ tip: expect.any(String), seq: 18 })));
    expect(new Set(outputs.map((output) => JSON.stringify(output))).size).toBe(1);
    const { pages } = await readTrace(story.world.ports(atOnce), story.id);
    expect(pages).toEqual(["", ".1", ".2", ".3"].map((name) => `page of ${story.id}${name}`));
    await story.judge();
  });

  it("never continues the run in a further execution if the decision is in a branch", async () => {
    const branched = flow(
      "branched",
      [action("f"), action("x"), decision("e"), action("y"), decision("d")],
      [
        ...lines("start > f > x > e", "f > y > d"),
        ["e", "x", "again", 3],
        ["e", "d", "default"],
        ["d", "f", "again", 3],
        ["d", "end", "default"],
      ],
    );
    const story = await new Story(branched, { d: [enough], e: [again, enough] }).start("{}", { historyEvents: 0 });
    await story.everything();
    const inside = story.entriesOf("/f@1.x").map(headOf);
    expect(inside.map(({ node_id, events, continuation }) => [node_id, events, continuation])).toEqual([
      ["x", 5, undefined],
      ["e", 12, undefined],
      ["x", 17, undefined],
      ["e", 24, undefined],
    ]);
    expect(story.world.machines.size).toBe(1);
  });

  it("does not count history events if the version of the workflow has no budget for them", async () => {
    const story = await new Story(loop, { d: [again, enough] }).start();
    await story.everything();
    expect(countsOf(story).every(([, events]) => events === undefined)).toBe(true);
    expect(story.world.machines.size).toBe(1);
  });

  it("may be an approval, after whose answer the run continues in a further execution", async () => {
    const asking = flow(
      "asking",
      [action("prepare"), approval("ask")],
      [
        ...lines("start > prepare > ask"),
        ["ask", "prepare", "rejected", 5],
        ["ask", "end", "approved"],
        ["ask", "end", "default"],
      ],
    );
    const story = new Asked(asking);
    await story.start("{}", { historyEvents: 0 });
    await story.finish(story.deliver("prepare", 0));
    await story.finish(story.world.spawn("request", (ports) => requestApproval(ports, story.event())));
    await story.finish(story.answering("rejected"));
    const sent = JSON.parse(story.world.answered.get("token-1") ?? "{}");
    expect(sent).toMatchObject({ decision: "rejected", continuation: { number: 1, input: { resume: "prepare" } } });
  });
});

describe("the counted history events of one pass through a loop", () => {
  const eventsOf = (story: Story, node: string) =>
    story
      .entriesOf("")
      .map(headOf)
      .findLast(({ node_id }) => node_id === node)?.events ?? 0;

  it("include the events of the branches in the loop", async () => {
    const forked = flow(
      "forked",
      [action("f"), action("x"), action("y"), decision("d")],
      [...lines("start > f > x > d", "f > y > d"), ["d", "f", "again", 3], ["d", "end", "default"]],
    );
    const story = await new Story(forked, { d: [enough] }).start("{}", { historyEvents: 20 });
    await story.everything();
    // The Parallel has 4 events. In each branch the two Passes have 4 events and the task has 5. The join and its
    // Choice have 7.
    expect(eventsOf(story, "f.join") - eventsOf(story, "f")).toBe(4 + 2 * (4 + 5) + 7);
  });

  it.each([
    ["inside the map's execution", "[1, 2]", 2 * (2 + 4 + 5)],
    ["in executions of their own", "[1, 2, 3]", 0],
  ])("include the events of the items of a map that run %s", async (_, list, items) => {
    const mapped = flow(
      "mapped",
      [mapOver("m", [action("i")], []), decision("d")],
      [...lines("start > m > d"), ["d", "m", "again", 3], ["d", "end", "default"]],
    );
    const story = await new Story(mapped, { d: [enough] }).start(`{"list": ${list}}`, { historyEvents: 20 });
    await story.everything();
    expect(eventsOf(story, "m.join") - eventsOf(story, "m")).toBe(2 + 4 + 2 + 7 + items);
  });
});

describe("a run whose loop continues in a further execution", () => {
  const machineOf = (story: Story) => story.world.machines.get(`${story.id}.1`);

  it("stops the further execution when the run is cancelled", async () => {
    const story = await continued();
    const { continuation } = (await story.finish(story.deliver("d", 3))) as { continuation: { input: object } };
    const further = story.world.startChild("arn:loop:1", `${story.id}.1`, JSON.stringify(continuation.input));
    await story.finish(story.cancel());
    expect(further).toMatchObject({ status: "aborted", error: { Error: "Cancelled" } });
    expect(story.world.record(story.id)).toMatchObject({ status: "cancelled", open: false });
  });

  it("stops the further execution when the first execution was stopped", async () => {
    const story = await continued();
    const further = story.world.startChild("arn:loop:1", `${story.id}.1`, "{}");
    story.world.machines.get(story.id)?.end("aborted");
    expect(await story.finish(story.sweeper())).toMatchObject({ closed: [story.id] });
    expect(further).toMatchObject({ status: "aborted" });
  });

  it.each<[string, (story: Story) => void, string, string | undefined]>([
    ["was stopped by hand", (story) => machineOf(story)?.end("aborted"), "cancelled", undefined],
    ["ran out of time", (story) => machineOf(story)?.end("timed_out"), "failed", "NodeTimeout"],
    ["could not be started", (story) => void story.world.machines.delete(`${story.id}.1`), "failed", "NodeInterrupted"],
    ["is given up by Step Functions", () => undefined, "failed", "NodeInterrupted"],
  ])("ends with the status of its further execution if that execution %s", async (_, happens, status, error) => {
    const story = await continued();
    const run = story.world.startChild("arn:loop:1", `${story.id}.1`, "{}");
    happens(story);
    const execution = { id: story.id, workflowId: "loop", version: 1 };
    const failed = { Error: "States.TaskFailed", Cause: "{}" };
    const input = { execution, scope: "", seq: 4, decision: "again", continuation: further(story), error: failed };
    await story.finish(story.world.deliver({ function: "nova-close-execution", input }));
    expect(story.world.record(story.id)).toMatchObject({ status, ...(error && { error: { class: error } }) });
    if ("status" in run && story.world.machines.has(`${story.id}.1`)) expect(run.status).not.toBe("running");
  });

  it("is not changed by the status event of the further execution", async () => {
    const story = await continued();
    await story.finish(story.world.tellEnded(`${story.id}.1`));
    expect(story.world.record(story.id)).toMatchObject({ status: "running", open: true });
    expect(await story.world.ports(atOnce).chain.tip(story.id, "")).toHaveLength(1);
  });
});
