import { cancelExecution, runNode, type StoredEntry } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { headOf } from "../../../../packages/engine/src/chain/entry.ts";
import { sha256 } from "../../../../packages/engine/src/sha256.ts";
import { calledFlows, child } from "../../../support/engine/child-flows.ts";
import { action, flow, lines } from "../../../support/engine/flows.ts";
import { atOnce, type Process } from "../../../support/engine/scheduler.ts";
import { fails, Story, succeeds } from "../../../support/engine/story.ts";

const never = new AbortController().signal;
const called = flow("called", [action("x")], lines("start > x > end"));

interface Called {
  child: { arn: string; name: string; input: object };
}

/** A run whose first node runs another workflow. The test calls the tasks as Step Functions would. */
class Calling extends Story {
  readonly ports = this.world.ports(atOnce);

  constructor(scripts: ConstructorParameters<typeof Story>[1] = {}) {
    super(flow("calling", [child("c", "called", { output: { x: "x" } })], lines("start > c > end")), scripts);
    this.world.publish(called);
  }

  /** Runs the first task of the workflow node, and returns the id of the inner execution. */
  async call(): Promise<string> {
    const { child } = (await this.finish(this.deliver("c", 0))) as Called;
    return child.name;
  }

  inChild(execution: string, node: string, seq: number): Process {
    const at = { execution: { id: execution, workflowId: "called", version: 1 }, scope: "", seq };
    return this.world.deliver({ function: "nova-run-node", input: { ...at, node } });
  }

  /** Starts the second task of the workflow node. */
  ended(): Process {
    const at = { execution: { id: this.id, workflowId: "calling", version: 1 }, scope: "", seq: 0 };
    return this.world.deliver({ function: "nova-run-node", input: { ...at, node: "c", waited: true } });
  }

  /** Runs the inner execution completely, from its first node to its close. */
  async runChild(execution: string): Promise<void> {
    await this.finish(this.inChild(execution, "x", 0));
    await this.finish(this.inChild(execution, "end", 1));
  }

  childOf(execution: string): string[] {
    return this.world.chain.entriesOf(execution).map((entry) => {
      const { node_id, status, close } = headOf(entry);
      return `${node_id} ${close?.status ?? status}`;
    });
  }

  get records() {
    return Array.from(this.world.executions.records.values());
  }
}

describe("a workflow node", () => {
  it("creates an inner execution that names the outer execution, and records the hash of the inner execution's last entry", async () => {
    const story = new Calling({ x: [succeeds("x", "850.0")] });
    await story.start('{"n": 12345678901234567890}');
    const id = await story.call();
    expect(story.world.record(id)).toMatchObject({
      workflowId: "called",
      version: 1,
      status: "running",
      root: story.id,
      parent: { execution: story.id, scope: "", seq: 1, depth: 1 },
    });
    await story.runChild(id);
    expect(await story.finish(story.ended())).toMatchObject({ seq: 1, summary: { set: ["x"] } });
    const [, entry] = story.entriesOf("");
    const tip = story.world.chain.entriesOf(id).at(-1)?.hash;
    expect(entry && headOf(entry)).toMatchObject({ path_taken: "end", child: { execution: id, version: 1, tip } });
    expect(JSON.stringify(entry)).toContain("850.0");
    const events = story.world.events.published.map(({ detail }) => detail);
    expect(events).toEqual([expect.objectContaining({ execution_id: id, parent_execution_id: story.id })]);
    expect(story.world.chain.entriesOf(id)[0]?.contents.context).toEqual({
      text: expect.stringContaining('["n",0,"12345678901234567890"]'),
    });
  });

  it("creates one execution even if several deliveries start it, and runs the version that the first delivery found", async () => {
    const story = new Calling();
    await story.start();
    const [one, other] = [story.deliver("c", 0), story.deliver("c", 0)];
    await story.until(one, "entry 0");
    await story.until(other, "entry 0");
    story.world.publish(called, 2);
    const late = story.deliver("c", 0);
    await story.until(late, "entry 0");
    const answers = [await story.finish(one), await story.finish(late), await story.finish(other)];
    expect(new Set(answers.map((answer) => JSON.stringify((answer as Called).child)))).toHaveProperty("size", 1);
    expect(story.records.map(({ version, workflowId }) => `${workflowId} ${version}`)).toEqual([
      "calling 1",
      "called 1",
    ]);
    await story.runChild((answers[0] as Called).child.name);
    await story.finish(story.ended());
    expect(await story.finish(story.deliver("c", 0))).toEqual(answers[0]);
  });

  it("fails with the error of the workflow that it runs", async () => {
    const story = new Calling({ x: [fails("no total")] });
    await story.start();
    const id = await story.call();
    await story.finish(story.inChild(id, "x", 0));
    const at = { execution: { id, workflowId: "called", version: 1 }, scope: "", seq: 0 };
    const error = { Error: "NodeFailed", Cause: "no total" };
    await story.finish(story.world.deliver({ function: "nova-close-execution", input: { ...at, error } }));
    const again = {
      ...at,
      execution: { ...at.execution, id: story.id, workflowId: "calling" },
      node: "c",
      waited: true,
    };
    await expect(runNode(story.ports, again, never)).rejects.toThrow(
      `node "c": workflow "called" (${id}) failed: node "x": no total`,
    );
    expect(story.chain).toEqual(["start success", "c failed"]);
  });
});

describe("the close of a run with a workflow node", () => {
  it("stops the inner execution before it writes the entry of the node", async () => {
    const story = new Calling();
    await story.start();
    const id = await story.call();
    story.world.startChild(...startOf(story, id));
    story.codeStopsAt = "finish";
    const code = story.inChild(id, "x", 0);
    await story.finish(code);
    await story.finish(story.cancel());
    expect(story.childOf(id)).toEqual(["start success", "x failed", "(close) cancelled"]);
    expect(story.chain).toEqual(["start success", "c failed", "(close) cancelled"]);
    expect(story.world.machines.get(id)?.status).toBe("aborted");
    expect(story.invariants.violations).toEqual([]);
    expect(await story.verify()).toEqual({ state: "anchored", links: 6, erased: [], sourceGone: [] });
  });

  it("uses the outcome of an inner execution that has already ended", async () => {
    const story = new Calling();
    await story.start();
    await story.runChild(await story.call());
    expect(await story.finish(story.settle("c", 0))).toMatchObject({ failed: false, seq: 1 });
    expect(story.chain).toEqual(["start success", "c success"]);
  });

  it.each(["entry 0", "create record", "read 1"])(
    "leaves no inner execution open, even if a late delivery makes its call %s after the close",
    async (call) => {
      const story = new Calling();
      await story.start();
      const late = story.deliver("c", 0);
      await story.until(late, call);
      await story.finish(story.cancel());
      expect(await story.finish(late)).toBe("ExecutionClosed");
      const [, made] = story.records;
      expect(made).toMatchObject({ status: "cancelled", open: false });
      expect(story.childOf(made?.id ?? "")).toEqual(["start success", "(close) cancelled"]);
      expect(await story.verify()).toMatchObject({ state: "anchored" });
    },
  );

  it("is followed by a sweep that closes an inner execution if a Lambda created the execution after the close and then died", async () => {
    const story = new Calling();
    await story.start();
    const late = story.deliver("c", 0);
    await story.until(late, "entry 0");
    await story.finish(story.cancel());
    await story.until(late, "create record");
    await story.perform(late);
    late.kill();
    const [, made] = story.records;
    expect(made).toMatchObject({ status: "running", open: true });
    story.world.clock.advance(60_000);
    await story.finish(story.sweeper());
    expect(story.records[1]).toMatchObject({ status: "cancelled", open: false });
    expect(story.world.machines.has(made?.id ?? "")).toBe(false);
  });

  it("must have happened before a sweep closes an inner execution that has not started", async () => {
    const story = new Calling();
    await story.start();
    const id = await story.call();
    story.world.clock.advance(60_000);
    await story.finish(story.sweeper());
    expect(story.world.record(id)).toMatchObject({ status: "running", open: true });
    expect(story.world.machines.has(id)).toBe(false);
  });
});

it("a workflow node fails as interrupted if a caller cancelled the inner execution directly", async () => {
  const story = new Calling();
  await story.start();
  const id = await story.call();
  await cancelExecution(story.ports, id);
  expect(await story.finish(story.ended())).toBe("NodeInterrupted");
});

it("a workflow node stops its inner execution if Step Functions gave it up or never started it", async () => {
  const story = new Calling();
  await story.start();
  const id = await story.call();
  expect(await story.finish(story.ended())).toBe("NodeInterrupted");
  expect(story.childOf(id)).toEqual(["start success", "(close) cancelled"]);
});

function startOf(story: Calling, id: string): [arn: string, name: string, input: string] {
  const { stateMachineArn, workflowId, version } = story.world.record(id);
  return [stateMachineArn, id, JSON.stringify({ execution: { id, workflowId, version }, scope: "", seq: 0 })];
}

/** A closed run that ran the workflow `called-deeper`, which ran the workflow `called`. */
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

/** Changes the entries of one execution's chain and computes all hashes again, so that this chain alone is valid. */
function rewrite(told: Told, execution: string, from: string | RegExp, to: string): void {
  let prev: string | undefined;
  for (const { place, entry } of entriesOf(told, execution)) {
    const linked = prev === undefined ? entry.head : entry.head.replace(/"prev":"\w+"/, `"prev":"${prev}"`);
    const head = linked.replace(from, to);
    prev = sha256(head);
    place.entry = { ...entry, head, hash: prev };
  }
}

it("verify checks a run together with its inner executions at any depth", async () => {
  const { story } = await closedStory();
  expect(await story.verify()).toEqual({ state: "anchored", links: 4 + 5 + 5, erased: [], sourceGone: [] });
});

it.each<[string, (told: Told) => void, (told: Told) => object]>([
  [
    "an entry of the inner run",
    (told) => {
      const [, second] = entriesOf(told, told.inner);
      if (second) second.place.entry = { ...second.entry, head: second.entry.head.replace("success", "failed") };
    },
    ({ inner }) => ({ execution: inner, seq: 1, message: expect.stringMatching(/it was changed/) }),
  ],
  [
    "a content of an entry of the inner run",
    (told) => {
      const [, second] = entriesOf(told, told.outer);
      if (second) second.place.entry = { ...second.entry, contents: { context: { text: "{}" } } };
    },
    ({ outer }) => ({ execution: outer, seq: 1, message: expect.stringMatching(/context was changed/) }),
  ],
  [
    "the whole chain of the inner run, with all hashes computed again",
    (told) => rewrite(told, told.inner, '"execution_time_ms":1', '"execution_time_ms":2'),
    ({ outer }) => ({ execution: outer, seq: 2, message: expect.stringMatching(/has another end/) }),
  ],
  [
    "the end of the inner run, whose close entry was deleted",
    (told) => delete entriesOf(told, told.outer).at(-1)?.place.entry,
    () => ({ seq: 1, message: expect.stringMatching(/was cut off/) }),
  ],
  [
    "an inner run whose entries were all deleted",
    (told) => {
      for (const { place } of entriesOf(told, told.outer)) delete place.entry;
    },
    () => ({ seq: 1, message: expect.stringMatching(/was cut off/) }),
  ],
])("verify of the outer run detects that an attacker changed %s", async (_what, tamper, problem) => {
  const told = await closedStory();
  tamper(told);
  expect(await told.story.verify()).toMatchObject({ state: "broken", problem: problem(told) });
});

it("verify reports an entry of a workflow node that names the inner run of another node", async () => {
  const told = await closedStory();
  rewrite(told, told.outer, /"parent":\{"execution":"\w+"/, '"parent":{"execution":"exec_other"');
  const tip = entriesOf(told, told.outer).at(-1)?.entry.hash ?? "";
  rewrite(told, told.story.id, /"tip":"\w+"/, `"tip":"${tip}"`);
  expect(await told.story.verify()).toMatchObject({ state: "broken", problem: { seq: 1 } });
});
