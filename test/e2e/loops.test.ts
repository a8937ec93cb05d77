import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestCloud, type TestCloud, verified } from "../support/cloud.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

const nodes = [
  { id: "start", type: "start" },
  { id: "ask", type: "action", code: "context['asked'] = context.get('asked', 0) + 1" },
  {
    id: "enough",
    type: "decision",
    code: "context['last'] = outputs['ask']['asked']\ncontext['branch_decision'] = context['asked'] >= context['wanted']",
  },
  { id: "give_up", type: "action", code: "context['gave_up'] = True" },
  { id: "end", type: "end" },
];
const edges = [
  { from: "start", to: "ask" },
  { from: "ask", to: "enough" },
  { from: "enough", to: "ask", condition: false, max: 3 },
  { from: "enough", to: "end", condition: true },
  { from: "enough", to: "give_up", condition: "default" },
  { from: "give_up", to: "end" },
];
const rounds = (count: number) => Array.from({ length: count }, () => ["ask", "enough"]).flat();

describe("a loop", { timeout: 60_000 }, () => {
  it.each([
    [1, rounds(1), { asked: 1, last: 1 }],
    [4, rounds(4), { asked: 4, last: 4 }],
    [9, [...rounds(4), "give_up"], { asked: 4, last: 4, gave_up: true }],
  ])("repeats until its counter reaches %i or until its edge was taken `max` times", async (wanted, visits, values) => {
    const version = await cloud.publish({ id: "loop", nodes, edges });
    const trace = await cloud.run(version, JSON.stringify({ wanted }));
    expect(trace.execution.status).toBe("completed");
    expect(trace.path).toEqual(["start", ...visits, "end"]);
    expect(JSON.parse(trace.context.text)).toMatchObject(values);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("fails at its decision with one sentence if its edge was taken `max` times and the decision has no default edge", async () => {
    const bounded = edges.filter(({ to }) => to !== "give_up").filter(({ from }) => from !== "give_up");
    const some = nodes.filter(({ id }) => id !== "give_up");
    const version = await cloud.publish({ id: "bounded", nodes: some, edges: bounded });
    const { execution } = await cloud.run(version, '{"wanted": 9}');
    expect(execution).toMatchObject({
      status: "failed",
      error: {
        node: "enough",
        class: "NodeFailed",
        message: expect.stringMatching(/^the edge from "enough" to "ask" .* 3 times/),
      },
    });
  });

  it("inside a map repeats separately for each item", async () => {
    const body = {
      nodes: [
        { id: "up", type: "action", code: "context['n'] = context.get('n', 0) + 1" },
        { id: "there", type: "decision", code: "context['branch_decision'] = context['n'] >= context['item']" },
        { id: "done", type: "end" },
      ],
      edges: [
        { from: "up", to: "there" },
        { from: "there", to: "up", condition: false, max: 2 },
        { from: "there", to: "done", condition: "default" },
      ],
    };
    const map = { id: "each", type: "map", items: "list", ...body };
    const whole = {
      id: "loops-in-a-map",
      nodes: [nodes[0], map, nodes.at(-1)],
      edges: [
        { from: "start", to: "each" },
        { from: "each", to: "end" },
      ],
    };
    const trace = await cloud.run(await cloud.publish(whole), '{"list": [1, 2, 3, 9]}');
    expect(JSON.parse(trace.context.text).results).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 3 }]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });
});
