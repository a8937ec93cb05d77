import { startExecution } from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import { expect, it } from "vitest";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { atOnce, settled } from "../../support/engine/scheduler.ts";
import { Story, succeeds } from "../../support/engine/story.ts";

const branches = ["b0", "b1", "b2", "b3"];
const nodes = [action("f"), ...branches.map((id) => action(id)), action("j")];
const four = flow("four", nodes, lines("start > f > b0 > j > end", "f > b1 > j", "f > b2 > j", "f > b3 > j"));
const line = flow("line", [action("a")], lines("start > a > end"));

const killed = { status: "error", class: "NodeTimeout", message: "", traceback: "", logs: "", durationMs: 1 } as const;

/** Executes workflows with branches in one world with one pool of sandboxes. */
class Runs {
  readonly story: Story;

  constructor(scripts: ConstructorParameters<typeof Story>[1] = {}) {
    const long = branches.map((id) => [id, [succeeds(id, "1", { pauses: 50 })]]);
    this.story = new Story(four, { ...Object.fromEntries(long), ...scripts });
  }

  /**
   * Executes the workflows at the same time, and performs one call of each run in turn. Returns the ids of the
   * sandboxes of their nodes, sorted by node.
   */
  async run(...workflows: Workflow[]): Promise<string[]> {
    const { world, begun } = this.story;
    const before = begun.length;
    this.pass(1);
    for (const workflow of workflows.length > 0 ? workflows : [four]) {
      const version = world.publish(workflow);
      await startExecution(world.ports(atOnce), { version, context: "{}", client: "acme" });
    }
    await settled();
    for (let turn = 0, ready = world.scheduler.ready(); ready.length > 0; turn++, ready = world.scheduler.ready()) {
      await world.scheduler.perform(ready[turn % ready.length] as (typeof ready)[number]);
      await settled();
    }
    const runs = begun.slice(before).toSorted((a, b) => a.request.node.localeCompare(b.request.node));
    return runs.map(({ box }) => box.id);
  }

  /** Returns the ids of the sandboxes that ended runs offer. */
  async offered(): Promise<string[]> {
    const offers = await this.story.world.ports(atOnce).executions.idle();
    return offers.map(({ idle }) => idle.id);
  }

  alive(): string[] {
    return this.story.world.sandboxes.alive().map(({ id }) => id);
  }

  pass(seconds: number): void {
    this.story.world.clock.advance(seconds * 1000);
  }

  made(): number {
    return this.story.world.sandboxes.boxes.size;
  }

  async judge(): Promise<void> {
    await this.story.judge();
    expect(this.story.invariants.violations).toEqual([]);
  }
}

it("each run with branches leaves the next run twice as many sandboxes as it inherited, until no run needs a new sandbox", async () => {
  const runs = new Runs();
  const made: number[] = [];
  for (let count = 0; count < 6; count++) {
    const before = runs.made();
    expect(new Set(await runs.run()).size).toBe(5);
    made.push(runs.made() - before);
  }
  expect(made).toEqual([5, 4, 3, 1, 0, 0]);
  expect(await runs.offered()).toHaveLength(5);
  await runs.judge();
});

it("a run with branches that inherited no sandbox leaves one sandbox to the next run, and kills its other sandboxes", async () => {
  const runs = new Runs();
  for (let count = 0; count < 3; count++) {
    await runs.run();
    expect(runs.alive()).toHaveLength(1);
    runs.pass(61);
    expect(runs.alive()).toEqual([]);
  }
});

it("a run leaves the next run as many sandboxes as its workflow keeps warm", async () => {
  const runs = new Runs();
  await runs.run({ ...four, warm: 3 });
  expect(await runs.offered()).toHaveLength(3);
});

it("sandboxes of branches are reused by runs of another workflow with the same packages and network", async () => {
  const runs = new Runs();
  for (let count = 0; count < 5; count++) await runs.run();
  const made = runs.made();
  expect(new Set(await runs.run(line, line, line, line, line)).size).toBe(5);
  expect(runs.made()).toBe(made);
});

it("sandboxes are reused by branches that begin directly at the start node", async () => {
  const runs = new Runs();
  const early = { ...four, edges: four.edges.map(({ from, to }) => ({ from: from === "f" ? "start" : from, to })) };
  const made: number[] = [];
  for (let count = 0; count < 5; count++) {
    const before = runs.made();
    await runs.run({
      ...early,
      nodes: four.nodes.filter(({ id }) => id !== "f"),
      edges: early.edges.filter(({ to }) => to !== "f"),
    });
    made.push(runs.made() - before);
  }
  expect(made).toEqual([4, 3, 2, 0, 0]);
  await runs.judge();
});

it("the sandbox of a branch is not offered to other runs after a delivery killed code in it", async () => {
  const result = { ...killed, isUnfit: true } as const;
  const runs = new Runs({ b1: [{ pauses: 50, result }] });
  const rescued = nodes.map((node) => (node.id === "b1" ? action("b1", { onError: "j" }) : node));
  await runs.run({ ...four, nodes: [four.nodes[0], ...rescued, four.nodes.at(-1)] as Workflow["nodes"], warm: 5 });
  expect(runs.alive()).toHaveLength(4);
  await runs.judge();
});

it("spare sandboxes of branches are killed if the entry of the join has no room to name them", async () => {
  const ids = Array.from({ length: 25 }, (_, place) => `b${place}`);
  const runs = new Runs(Object.fromEntries(ids.map((id) => [id, [succeeds(id, "1", { pauses: 500 })]])));
  const arrows = lines(...ids.map((id) => `start > ${id} > end`));
  const wide = flow(
    "wide",
    ids.map((id) => action(id)),
    arrows,
  );
  await runs.run(...Array(25).fill(line));
  expect(await runs.offered()).toHaveLength(25);
  await runs.run(wide);
  expect(runs.alive().toSorted()).toEqual((await runs.offered()).toSorted());
  await runs.judge();
});
