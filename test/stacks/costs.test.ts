import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callsPerNode, callsPerRun, costOfRun, readCostPage, usageOf } from "../../stacks/costs.ts";
import { inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";

const small = { nodes: 3, decisions: 1, secondsPerNode: 0.1, written: 0 };

describe("the cost of a run", () => {
  it("is computed from the price lists of AWS, E2B and the models", () => {
    const { stepFunctions, dynamodb, sandbox, model } = costOfRun(small);
    expect(stepFunctions).toBeCloseTo(0.025 * (6 / 1000), 9); // The run has three nodes, a choice, a start and an end.
    expect(dynamodb).toBeCloseTo((35 * 0.625 + 16 * 0.125) / 1e6, 9);
    expect(sandbox).toBeCloseTo(2.05 * 2 * (0.000014 + 0.0000045), 9);
    expect(model).toBe(0);
  });

  it("includes the cost of models only if models write code", () => {
    const { model } = costOfRun({ ...small, written: 1 });
    const [luna, terra] = [4_000 * 0.1 + 250 * 0.5, 2_500 * 1 + 1_500 * 0.05 + 900 * 5];
    expect(model).toBeCloseTo((luna + terra) / 1e6, 9);
    expect(costOfRun({ ...small, written: 3 }).model).toBeCloseTo(3 * model, 9);
  });

  it("grows linearly with the nodes", () => {
    const writes = (nodes: number) => usageOf({ ...small, nodes }).dynamodbWrite;
    expect(writes(20) - writes(10)).toBe(writes(30) - writes(20));
  });
});

it("docs/deploy.md shows the computed costs, which `node stacks/costs.ts` writes", () => {
  const { now, wanted } = readCostPage();
  expect(now).toContain("<!-- costs -->");
  expect(now).toBe(wanted);
});

describe("a run on a laptop", () => {
  let cloud: TestCloud;

  beforeAll(async () => {
    cloud = await openTestCloud();
  });
  afterAll(() => cloud.close());

  async function callsOf(nodes: number): Promise<number> {
    const actions = Object.fromEntries(Array.from({ length: nodes }, (_, at) => [`n${at}`, `context["k"] = ${at}`]));
    const version = await cloud.publish(inARow(`row-${nodes}`, actions));
    const { execution } = await cloud.run(version);
    return (await cloud.counters(execution.id)).aws_calls.dynamodb;
  }

  it("makes the DynamoDB calls of the cost model, but no reads between nodes that run in the same process", async () => {
    const [two, six] = [await callsOf(2), await callsOf(6)];
    const perNode = callsPerNode - 1;
    expect((six - two) / 4).toBe(perNode);
    const readsOfTheTest = 3;
    expect(two - 2 * perNode - readsOfTheTest).toBeLessThanOrEqual(callsPerRun);
  });
});
