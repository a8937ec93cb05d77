import { startExecution } from "@nova/engine";
import type { TaskNode } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { EventWait } from "../../support/engine/event-wait.ts";
import { action, flow, lines } from "../../support/engine/flows.ts";
import type { Process } from "../../support/engine/scheduler.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story, wellTold } from "../../support/engine/story.ts";

const line = flow("line", [action("a")], lines("start > a > end"));
const nodes = [action("b0", { onError: "j" }), action("b1"), action("j")];
const two = flow("two", nodes, lines("start > b0 > j > end", "start > b1 > j"));
const failure = { class: "NodeTimeout", message: "", traceback: "", logs: "", durationMs: 1 } as const;
/** The result of code that the sandbox had to kill. */
const killed = { result: { status: "error", ...failure, isUnfit: true } } as const;

const alive = ({ world }: Story) => world.sandboxes.alive().map(({ id }) => id);
const offered = async ({ world }: Story) => (await world.ports(atOnce).executions.idle()).map(({ idle }) => idle.id);

/** Starts another run of the client and the delivery of its node. Returns the id of the run and the delivery. */
async function another({ world }: Story): Promise<{ id: string; delivery: Process }> {
  const version = world.publish(line);
  const { id } = await startExecution(world.ports(atOnce), { version, context: "{}" });
  const at = { execution: { id, workflowId: line.id, version: 1 }, scope: "", seq: 0 };
  return { id, delivery: world.deliver({ function: "nova-run-node", input: { ...at, node: "a" } }) };
}

/** Executes another run of the client to its end, so that this run offers its sandbox. */
async function leftByAnother(story: Story): Promise<void> {
  const { id, delivery } = await another(story);
  await story.finish(delivery);
  const input = { execution: { id, workflowId: line.id, version: 1 }, scope: "", seq: 1, node: "end" };
  await story.finish(story.world.deliver({ function: "nova-run-node", input }));
  expect(await offered(story)).toEqual(["S1"]);
}

describe("a sandbox that several branches have used", () => {
  it("is not offered to other runs if code in one branch was killed, whether this branch ends first or last", async () => {
    const story = await new Story(two, { b0: [killed] }).start();
    await story.finish(story.deliver("b1", 0, { scope: "/start@0.b1" }));
    await story.finish(story.deliver("b0", 0, { scope: "/start@0.b0" }));
    expect(story.begun.map(({ box }) => box.id)).toEqual(["S1", "S1"]);
    await story.finish(story.join("start", 0));
    await story.finish(story.cancel());
    expect([await offered(story), alive(story)]).toEqual([[], []]);
    wellTold(story);
  });

  it("is not killed by a late delivery of a closed run, because another run may use the sandbox", async () => {
    const story = await new Story(two).start();
    await story.finish(story.deliver("b0", 0, { scope: "/start@0.b0" }));
    const late = story.deliver("b1", 0, { scope: "/start@0.b1" });
    await story.until(late, "turn 1");
    await story.finish(story.cancel());
    const { id, delivery } = await another(story);
    story.codeStopsAt = "finish";
    await story.finish(delivery);
    await story.finish(late);
    story.codeStopsAt = undefined;
    await story.finish(delivery);
    const [, link] = story.world.chain.linksOf(id, "");
    expect(link?.entry && headOf(link.entry)).toMatchObject({ status: "success", sandbox_id: "S1" });
    wellTold(story);
  });
});

it("a sandbox is not offered to other runs if a settle task finds the result of killed code in it", async () => {
  const story = await new Story(line, { a: [killed] }).start();
  const delivery = story.deliver("a", 0);
  await story.until(delivery, "entry 1");
  delivery.kill();
  await story.finish(story.settle("a", 0));
  await story.finish(story.close(0));
  expect([await offered(story), alive(story)]).toEqual([[], []]);
});

describe("a sandbox that a run has inherited from an earlier run", () => {
  it.each(["cancelled", "lost"])(
    "is kept for the next run if the code of a node in another, fresh sandbox is %s",
    async (how) => {
      const fresh = flow("fresh", [action("a"), action("b", { isolation: "fresh" })], lines("start > a > b > end"));
      const story = new Story(fresh);
      await leftByAnother(story);
      await story.start();
      await story.finish(story.deliver("a", 0));
      story.codeStopsAt = "finish";
      const delivery = story.deliver("b", 1);
      await story.finish(delivery);
      if (how === "lost") {
        story.world.sandboxes.kill("S2");
        await story.finish(delivery);
      }
      await story.finish(story.cancel());
      expect([await offered(story), alive(story)]).toEqual([["S1"], ["S1"]]);
    },
  );

  it("is killed if a wait takes an earlier event and continues at once", async () => {
    const story = new EventWait({ source: ["crm"], detail: { customer: ["{{customer}}"] } }, { since: "start" });
    await leftByAnother(story);
    await story.begin('{"customer":"acme"}');
    expect(story.begun.at(-1)?.box.id).toBe("S1");
    await story.emit('{"customer":"acme"}');
    await story.wait();
    await story.finish(story.cancel());
    expect([await offered(story), alive(story)]).toEqual([[], []]);
  });

  it("is killed if the run is cancelled during a short wait for which the run kept the sandbox", async () => {
    const wait = { id: "w", type: "wait", for: { kind: "seconds", seconds: 30 } } as unknown as TaskNode;
    const story = new Story(flow("waits", [action("a"), wait], lines("start > a > w > end")));
    await leftByAnother(story);
    await story.start();
    await story.finish(story.deliver("a", 0));
    await story.finish(story.deliver("w", 1));
    await story.finish(story.cancel());
    expect([await offered(story), alive(story)]).toEqual([[], []]);
  });

  it("lives as long as the longest extension by one of its branches", async () => {
    const one = [action("b0", { timeoutSeconds: 600 }), action("b1", { timeoutSeconds: 1 }), action("j")];
    const story = new Story(flow("two", one, lines("start > b0 > j > end", "start > b1 > j")));
    await leftByAnother(story);
    await story.start();
    for (const branch of ["b1", "b0"]) await story.finish(story.deliver(branch, 0, { scope: `/start@0.${branch}` }));
    await story.finish(story.join("start", 0));
    story.world.clock.advance(500_000);
    await story.finish(story.cancel());
    expect(await offered(story)).toEqual(["S1"]);
  });
});

it("a second attempt uses no spare sandbox, because its sandbox is killed if a delivery commits the first attempt's result", async () => {
  const retried = action("a", { timeoutSeconds: 20, retry: { attempts: 3, delaySeconds: 1 } });
  const steps = [action("b0"), action("b1"), retried, action("b", { timeoutSeconds: 500 })];
  const story = await new Story(flow("late", steps, lines("start > b0 > a > b > end", "start > b1 > a"))).start();
  story.codeStopsAt = "finish";
  const branches = ["b0", "b1"].map((id) => story.deliver(id, 0, { scope: `/start@0.${id}` }));
  for (const branch of branches) await story.finish(branch);
  story.codeStopsAt = undefined;
  for (const branch of branches) await story.finish(branch);
  await story.finish(story.join("start", 0));
  const first = story.deliver("a", 1);
  await story.until(first, "entry 2");
  story.world.sandboxes.kill(story.begun.at(-1)?.box.id ?? "");
  await story.finish(story.deliver("a", 1));
  story.world.clock.advance(2_000);
  const late = story.deliver("a", 1);
  await story.until(late, "turn 2");
  await story.finish(first);
  story.codeStopsAt = "finish";
  const behind = story.deliver("b", 2);
  await story.finish(behind);
  await story.finish(late);
  expect(story.begun.at(-1)).toMatchObject({ request: { node: "b" }, box: { killed: false } });
});
