import { answerTask, requestApproval } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { loopsAfter } from "../../../packages/engine/src/protocol/commit.ts";
import { type Loops, reasonOf, takeEdge } from "../../../packages/engine/src/protocol/definition.ts";
import { action, decision, flow, lines } from "../../support/engine/flows.ts";
import { Story, succeeds } from "../../support/engine/story.ts";
import { Asked, approval } from "../../support/engine/waiting.ts";

/**
 * The path is start > a > d > e > end. Node d leads back to a at most twice and to itself at most once. Node e leads
 * back to a at most once, and has no default edge.
 */
const nested = flow(
  "nested",
  [action("a"), decision("d"), decision("e", { onError: "a2" }), action("a2")],
  [
    ...lines("start > a > d", "a2 > end"),
    ["d", "a", "again", 2],
    ["d", "d", "wait", 1],
    ["d", "e", "default"],
    ["e", "a", true, 1],
    ["e", "end", false],
  ],
);

const edgesOf = (from: string) => nested.edges.filter((edge) => edge.from === from);
function taken(from: string, condition: string | boolean, before?: Loops) {
  const edges = edgesOf(from);
  const edge = edges.find((one) => one.condition === condition);
  const node = nested.nodes.find(({ id }) => id === from);
  if (!edge || !node) throw new RangeError(`no edge ${from} -> ${condition}`);
  return takeEdge({ node, edges, version: { workflow: nested } as never }, edge, before);
}

describe("an edge that leads back to an earlier node", () => {
  it.each<[string, string | boolean, Loops | undefined, object]>([
    ["d", "again", undefined, { label: "again", to: "a", loops: { "d->again": 1 } }],
    ["d", "again", { "d->again": 1 }, { label: "again", to: "a", loops: { "d->again": 2 } }],
    ["d", "again", { "d->again": 2 }, { label: "default", to: "e" }],
    ["d", "wait", { "d->again": 2 }, { label: "wait", to: "d", loops: { "d->again": 2, "d->wait": 1 } }],
    ["d", "default", { "d->again": 2 }, { label: "default", to: "e" }],
    // Taking the outer loop starts the count of the inner loop again.
    ["e", true, { "d->again": 2, "d->wait": 1 }, { label: "true", to: "a", loops: { "e->true": 1 } }],
    // Taking the inner loop does not change the count of the outer loop.
    ["d", "again", { "e->true": 1 }, { label: "again", to: "a", loops: { "e->true": 1, "d->again": 1 } }],
    [
      "e",
      true,
      { "e->true": 1 },
      {
        problem:
          'the edge from "e" to "a" for "true" was taken once, which is its max - raise it, or add an edge with "default" for what follows then',
      },
    ],
  ])(
    "is taken, or the default edge instead, from node %s for the decision %j with the loop counts %j: %j",
    (from, condition, before, expected) => {
      expect(taken(from, condition, before)).toEqual(expected);
    },
  );

  it("has a count that starts from zero again after the run has left its loop", () => {
    expect(loopsAfter({ "d->again": 2, "d->wait": 1, "e->true": 1 }, "d")).toEqual({ "e->true": 1 });
    expect(loopsAfter({ "d->again": 2 }, "d")).toBeUndefined();
    expect(loopsAfter({ "dd->again": 2 }, "d")).toEqual({ "dd->again": 2 });
  });
});

it("a run takes a loop edge at most `max` times, and then the decision fails if it has no default edge", async () => {
  const scripts = { d: [succeeds("branch_decision", '"again"')], e: [succeeds("branch_decision", "true")] };
  const story = await new Story(nested, scripts).start();
  await story.everything();
  const inner = ["a", "d", "a", "d", "a", "d"].map((id) => `${id} success`);
  expect(story.chain).toEqual([
    ...["start success", ...inner, "e success", ...inner],
    ...["e failed", "a2 success", "end success", "(close) completed"],
  ]);
  await story.judge();
});

it("an approval takes a loop edge at most `max` times, and then the default edge", async () => {
  const asking = flow(
    "asking",
    [action("prepare"), approval("ask"), action("give_up")],
    [
      ...lines("start > prepare > ask", "give_up > end"),
      ["ask", "prepare", "rejected", 1],
      ["ask", "end", "approved"],
      ["ask", "give_up", "default"],
    ],
  );
  const story = await new Asked(asking).begin();
  for (const seq of [1, 3]) {
    const event = { ...story.event(), seq };
    await story.finish(story.world.spawn("request", (ports) => requestApproval(ports, event)));
    const task = story.world.tasks.all().at(-1)?.id ?? "";
    await answerTask(story.ports, { task, choice: "rejected", by: "ann", from: "a test" });
    if (seq === 1) await story.finish(story.deliver("prepare", 2));
  }
  const asked = story
    .entriesOf("")
    .map(headOf)
    .filter(({ node_id }) => node_id === "ask");
  expect(asked.map(({ decision_result, path_taken, loops }) => ({ decision_result, path_taken, loops }))).toEqual([
    { decision_result: "rejected", path_taken: "prepare", loops: { "ask->rejected": 1 } },
    { decision_result: "default", path_taken: "give_up", loops: undefined },
  ]);
});

it.each([
  ["NodeFailed", '{"errorType":"NodeFailed","errorMessage":"it \\"broke\\""}', "NodeFailed", 'it "broke"'],
  ["SandboxUnavailable", "plain words", "SandboxUnavailable", "plain words"],
  ["States.Timeout", "", "NodeTimeout", "Step Functions ended the task at its time limit"],
  ["Lambda.Unknown", "The process exited", "NodeInterrupted", "Lambda.Unknown: The process exited"],
  ["TypeError", '{"errorMessage":"x"}', "NodeInterrupted", "TypeError: x"],
  ["Odd", "null", "NodeInterrupted", "Odd: null"],
  ["toString", '{"errorMessage":5}', "NodeInterrupted", 'toString: {"errorMessage":5}'],
])("reasonOf converts the error %s with the cause %s to %s", (name, cause, className, message) => {
  expect(reasonOf({ Error: name, Cause: cause })).toEqual({ class: className, message });
});
