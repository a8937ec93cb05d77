import { executionOf, verifyExecution } from "@nova/engine";
import { publishBetween, publishChain, runChain } from "../chains.ts";
import { type Bench, rounded } from "../figure.ts";

/**
 * This number of visits needs more than one history: each visit makes 7 events, and Step Functions ends an execution
 * that has 25,000 events.
 */
const visits = 3_700;
/** The largest value that the `max` of an edge may have. */
const round = 1_000;
const chainLength = 100;

const counting = `n = context["n"] = context.get("n", 0) + 1
context["branch_decision"] = n % ${round} > 0 and n < ${visits}`;

/**
 * Compares the cost of a visit, in a loop that needs two executions of the state machine, with the cost of a node in a
 * chain.
 */
export const longLoop: Bench = async (cloud) => {
  const version = await publishBetween(
    cloud,
    "bench-long-loop",
    [
      { id: "count", type: "decision", code: counting },
      { id: "enough", type: "decision", code: `context["branch_decision"] = context["n"] >= ${visits}` },
    ],
    [
      { from: "start", to: "count" },
      { from: "count", to: "count", condition: true, max: round },
      { from: "count", to: "enough", condition: "default" },
      { from: "enough", to: "count", condition: false, max: round },
      { from: "enough", to: "end", condition: "default" },
    ],
  );
  const chain = await publishChain(cloud, chainLength);
  await runChain(cloud, chain);
  const nodeMs = (await runChain(cloud, chain)).wallMs / chainLength;
  const { id, wallMs } = await runChain(cloud, version);
  const { status } = await executionOf(cloud.ports, id);
  const { state } = await verifyExecution(cloud.ports, id);
  const further = await cloud.ports.stateMachines.describe(version.stateMachineArn, `${id}.1`);
  const isWhole = status === "completed" && state === "anchored" && further?.status === "succeeded";
  if (!isWhole) throw new RangeError(`the loop of ${visits} visits ended as ${status}, ${state}: ${id}`);
  const visitMs = wallMs / visits;
  return [
    {
      name: `a loop of ${visits} visits, 26,000 events: time per visit against a node in a chain`,
      aim: "at most 1.5 x",
      value: rounded(visitMs / nodeMs),
      met: visitMs / nodeMs <= 1.5,
      detail: { visit_ms: rounded(visitMs, 1), node_ms: rounded(nodeMs, 1), seconds: rounded(wallMs / 1000, 0) },
    },
  ];
};
