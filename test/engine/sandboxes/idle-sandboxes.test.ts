import { NovaError, startExecution, sweepIdle } from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import { expect, it } from "vitest";
import { action, flow } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story, succeeds } from "../../support/engine/story.ts";

const oneNode = [
  ["start", "a"],
  ["a", "end"],
] as [string, string][];

/** Executes one workflow several times in one world, one run after the other. */
class Runs {
  readonly story: Story;
  active = 1;
  readonly #workflow: Workflow;

  constructor(more: Partial<Workflow> = {}, node: Parameters<typeof action>[1] = {}) {
    this.#workflow = { ...flow("one", [action("a", node)], oneNode), ...more };
    this.story = new Story(this.#workflow, { a: [succeeds("k", "1")] });
  }

  get #ports() {
    return this.story.world.ports(atOnce);
  }

  /** Runs the workflow, and returns the sandbox in which its node ran. */
  async run(client = "acme", workflow: Partial<Workflow> = {}): Promise<string | undefined> {
    const number = Object.keys(workflow).length === 0 ? 1 : 2;
    const version = this.story.world.publish({ ...this.#workflow, ...workflow }, number);
    const { id } = await startExecution(this.#ports, { version, context: "{}", client });
    this.story.id = id;
    await this.story.finish(this.story.deliver("a", 0));
    await this.story.finish(this.story.deliver("end", 1));
    return this.story.begun.at(-1)?.box.id;
  }

  alive(): string[] {
    return this.story.world.sandboxes.alive().map(({ id }) => id);
  }

  offers() {
    return this.#ports.executions.idle();
  }

  pass(seconds: number): void {
    this.story.world.clock.advance(seconds * 1000);
  }

  sweep() {
    return sweepIdle(this.#ports, async (_workflow, version) => version === this.active);
  }

  /**
   * Makes the creation of a sandbox fail while another sandbox lives, as if the limit of E2B's plan were one sandbox.
   */
  isFull(): void {
    const { sandboxes } = this.story.world;
    const create = sandboxes.create.bind(sandboxes);
    sandboxes.create = (...spec) => {
      if (this.alive().length > 0) throw new NovaError("SandboxUnavailable", "429");
      return create(...spec);
    };
  }
}

it("an idle sandbox is used by the next run of the same client", async () => {
  const runs = new Runs();
  expect([await runs.run(), await runs.run(), await runs.run()]).toEqual(["S1", "S1", "S1"]);
  expect(runs.alive()).toEqual(["S1"]);
});

it.each([
  ["of another client", ["other"]],
  ["with other modules in its `lib` folder", ["acme", { lib: { "x.py": "" } }]],
] as [string, Parameters<Runs["run"]>][])("an idle sandbox is not used by a run %s", async (_whose, other) => {
  const runs = new Runs();
  expect([await runs.run(), await runs.run(...other), await runs.run()]).toEqual(["S1", "S2", "S1"]);
});

it.each([
  ["idle_seconds is 0", new Runs({ idleSeconds: 0 })],
  ["the workflow has a node with `isolation: execution`", new Runs({}, { isolation: "execution" })],
  ["its node has `isolation: fresh`", new Runs({}, { isolation: "fresh" })],
])("a sandbox is killed at the end of its run if %s", async (_why, runs) => {
  expect([await runs.run(), runs.alive(), await runs.run()]).toEqual(["S1", [], "S2"]);
  expect(await runs.offers()).toEqual([]);
});

it("an idle sandbox lives as long as its workflow says, and then a sweep removes its offer to other runs", async () => {
  const runs = new Runs({ idleSeconds: 10 });
  await runs.run();
  runs.pass(9);
  await runs.sweep();
  expect(await runs.offers()).toHaveLength(1);
  runs.pass(2);
  expect(runs.alive()).toEqual([]);
  await runs.sweep();
  expect(await runs.offers()).toEqual([]);
});

it("an idle sandbox is killed for a run of another client if E2B's plan allows no further sandbox", async () => {
  const runs = new Runs();
  await runs.run();
  runs.isFull();
  expect(await runs.run("other")).toBe("S2");
  expect(runs.alive()).toEqual(["S2"]);
});

it("a sweep extends the life of an idle sandbox that its workflow keeps warm, or replaces the sandbox", async () => {
  const runs = new Runs({ warm: 1 });
  await runs.run();
  for (let minutes = 0; minutes < 15; minutes++) {
    runs.pass(60);
    await runs.sweep();
  }
  expect(runs.alive()).toEqual(["S1"]);
  for (let minutes = 0; minutes < 15; minutes++) {
    runs.pass(60);
    await runs.sweep();
  }
  expect(runs.alive()).toEqual(["S2"]);
  expect(await runs.run()).toBe("S2");
});

it("an idle sandbox is no longer kept warm after another version became active", async () => {
  const runs = new Runs({ warm: 1 });
  await runs.run();
  runs.active = 2;
  for (let minutes = 0; minutes < 5; minutes++) {
    runs.pass(60);
    await runs.sweep();
  }
  expect([runs.alive(), await runs.offers()]).toEqual([[], []]);
});
