import { answerTask, cancelExecution, requestApproval, taskContents } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { Asked, asking } from "../../../support/engine/waiting.ts";

/** Starts an approval whose message names an order and a secret. */
async function waiting(options = {}): Promise<Asked> {
  const workflow = asking({ message: "Pay?", ...options });
  workflow.inputs = { properties: { key: { secret: true } } };
  const context = '{"order": {"total": 850.0}, "who": null, "key": {"inside": "s3cr3t-value"}}';
  const story = await new Asked(workflow).begin(context);
  await requestApproval(story.ports, story.event());
  return story;
}

describe("the list of the values that an approval's message names", () => {
  it("has each named path with the value that the path had for the node, and masks secrets", async () => {
    const story = await waiting({ message: "Pay {{order.total}} to {{who}}? {{who}} has {{key.inside}}." });
    const { named } = await taskContents(story.ports, story.task);
    expect(named?.map(({ path, value }) => [path, value?.text])).toEqual([
      ["order.total", "850.0"],
      ["who", "null"],
      ["key.inside", '"***"'],
    ]);
  });

  it("is empty if the message names no value, and null if the context was erased", async () => {
    const story = await waiting();
    expect((await taskContents(story.ports, story.task)).named).toEqual([]);
    const naming = await waiting({ message: "Pay {{order.total}}?" });
    const { chain } = naming.ports;
    const readTail: typeof chain.readTail = async (at) => {
      const { here, ...tail } = await chain.readTail(at);
      return { ...tail, ...(here && { here: { ...here, contents: {} } }) };
    };
    const ports = { ...naming.ports, chain: { ...chain, readTail } };
    expect((await taskContents(ports, naming.task)).named).toBeNull();
  });

  it("is null if the workflow no longer exists", async () => {
    const story = await waiting();
    const ports = { ...story.ports, workflows: { ...story.ports.workflows, get: async () => undefined } };
    expect(await taskContents(ports, story.task)).toEqual({ named: null, outcome: null });
  });
});

describe("the outcome of an approval's task", () => {
  const answer = { choice: "approved", by: "ann", from: "a page" };

  it("is null while the task waits, and afterwards the answer, with all digits of the numbers in the answer's data", async () => {
    const story = await waiting({ into: "verdict" });
    const { task } = story;
    expect((await taskContents(story.ports, task)).outcome).toBeNull();
    const { at } = await answerTask(story.ports, { ...answer, task: task.id, data: '{"limit": 850.0}' });
    const { outcome } = await taskContents(story.ports, task);
    expect(outcome).toMatchObject({ choice: "approved", by: "ann", at, data: { text: '{"limit": 850.0}' } });
  });

  it("has no data if the answer had no data", async () => {
    const story = await waiting();
    await answerTask(story.ports, { ...answer, task: story.task.id });
    const { outcome } = await taskContents(story.ports, story.task);
    expect(outcome && Object.keys(outcome).sort()).toEqual(["at", "by", "choice"]);
  });

  it("is the choice `timeout` without a person if the timeout of the approval was over", async () => {
    const story = await waiting();
    const late = await new Asked(asking({}, [["ask", "end", "timeout"]])).begin();
    await requestApproval(late.ports, late.event());
    await late.finish(late.expiring());
    expect((await taskContents(late.ports, late.task)).outcome).toMatchObject({ choice: "timeout" });
    expect((await taskContents(late.ports, late.task)).outcome).not.toHaveProperty("by");
    await cancelExecution(story.ports, story.id);
    expect((await taskContents(story.ports, story.task)).outcome).toBeNull();
  });
});
