import { readFileSync, writeFileSync } from "node:fs";
import { costOf } from "@nova/agents";
import prices from "./prices.json" with { type: "json" };

/** The properties of a run that affect its cost. */
interface Run {
  /** The number of nodes with code: it includes decisions, but not `start` and `end`. */
  nodes: number;
  decisions: number;
  secondsPerNode: number;
  /**
   * The number of nodes whose code a model writes in this run. Nodes with pinned code cost the same as nodes with
   * hand-written code.
   */
  written: number;
}

/**
 * DynamoDB calls per node: one to read, one to write the turn and one to write the entry. There is no read if the same
 * process ran the previous node. test/stacks/costs measures the calls.
 */
export const callsPerNode = 3;
/**
 * The largest number of further calls per run: for start, end and close, including the statistics of the run and its
 * leaf for the next Merkle tree.
 */
export const callsPerRun = 12;

/**
 * DynamoDB's units per node: write units (1 KB each) for the node's turn and entry, and read units (4 KB each) before
 * the node runs.
 */
const writesPerNode = 3;
const readsPerNode = 2;
/**
 * Write units per run. Three indexes contain the run's record, so each of its four writes counts fourfold. One index
 * contains the run's statistics. The tree adds three: the leaf, its removal, and the note beside the chain.
 */
const writesPerRun = 26;
/** Read units per run. The tree adds two: the job reads the leaf, and looks for a note of the run. */
const readsPerRun = 10;

/**
 * Seconds that the Lambda needs per node in addition to the node's code: for reading, the turn, the calls of the
 * sandbox, and committing.
 */
const overheadSeconds = 0.15;
/** Seconds to start and end a sandbox. The start takes the median time that E2B reports. */
const sandboxStartSeconds = 1;
/** Seconds for which a node waits until the models of three agents have written its code. */
const writingSeconds = 15;
const logBytesPerInvocation = 1_500;

/** Returns the quantities of one run, in the units of prices.json. */
export function usageOf({ nodes, decisions, secondsPerNode, written }: Run) {
  // There are three further invocations: for the request, for the end node, and for the event about the end of the run.
  const invocations = nodes + 3;
  const seconds = nodes * (secondsPerNode + overheadSeconds) + 2 * overheadSeconds + written * writingSeconds;
  const lifeSeconds = sandboxStartSeconds + seconds;
  return {
    transition: nodes + decisions + 2,
    lambdaRequest: invocations,
    lambdaGibSecond: seconds + overheadSeconds,
    dynamodbWrite: nodes * writesPerNode + writesPerRun,
    dynamodbRead: nodes * readsPerNode + readsPerRun,
    kmsSignature: 1,
    apiRequest: 1,
    busEvent: 1,
    logsGib: (invocations * logBytesPerInvocation) / 1024 ** 3,
    trace: 1 + invocations,
    sandboxVcpuSecond: 2 * lifeSeconds,
    sandboxGibSecond: 2 * lifeSeconds,
  };
}

type Quantity = keyof ReturnType<typeof usageOf>;

/** Cost of one run in US dollars, by provider. */
interface RunCost {
  stepFunctions: number;
  lambda: number;
  dynamodb: number;
  /** The cost of API Gateway, EventBridge, KMS, logs and traces. */
  otherAws: number;
  sandbox: number;
  model: number;
}

/**
 * The requests to models for the code of one node, if the first attempt succeeds. A second attempt costs the same
 * again.
 */
const requests = [
  { model: "gpt-6-luna", input: 1_500, cached: 0, output: 100 },
  { model: "gpt-6.1-terra", input: 4_000, cached: 1_500, output: 900 },
  { model: "gpt-6-luna", input: 2_500, cached: 0, output: 150 },
];

export function costOfRun(run: Run): RunCost {
  const usage = usageOf(run);
  const usd = (...quantities: Quantity[]) =>
    quantities.reduce((sum, quantity) => sum + usage[quantity] * prices.usd[quantity], 0);
  return {
    stepFunctions: usd("transition"),
    lambda: usd("lambdaRequest", "lambdaGibSecond"),
    dynamodb: usd("dynamodbWrite", "dynamodbRead"),
    otherAws: usd("apiRequest", "busEvent", "kmsSignature", "logsGib", "trace"),
    sandbox: usd("sandboxVcpuSecond", "sandboxGibSecond"),
    model: run.written * requests.reduce((sum, { model, ...usage }) => sum + costOf(model, usage), 0),
  };
}

const eight = { nodes: 8, decisions: 2, secondsPerNode: 0.5 };
const runs: { what: string; run: Run }[] = [
  { what: "3 nodes of code, 0.1 s each", run: { nodes: 3, decisions: 1, secondsPerNode: 0.1, written: 0 } },
  { what: "8 nodes, 0.5 s each, prompts with pinned code among them", run: { ...eight, written: 0 } },
  { what: "the same, 3 prompts written again in each run", run: { ...eight, written: 3 } },
  { what: "40 nodes of code, 2 s each", run: { nodes: 40, decisions: 10, secondsPerNode: 2, written: 0 } },
];

const columns: Record<keyof RunCost, string> = {
  stepFunctions: "Step Functions",
  lambda: "Lambda",
  dynamodb: "DynamoDB",
  otherAws: "API, events, KMS, logs, traces",
  sandbox: "E2B",
  model: "models",
};

/** Returns the cost of 1,000 runs in US dollars, as a Markdown table. */
function costTable(): string {
  const names = Object.keys(columns) as (keyof RunCost)[];
  const lines = runs.map(({ what, run }) => {
    const cost = costOfRun(run);
    const parts = names.map((name) => 1000 * cost[name]);
    return [what, ...parts.map(dollars), `**${dollars(parts.reduce((sum, part) => sum + part, 0))}**`];
  });
  const head = ["1,000 runs of", ...Object.values(columns), "together, $"];
  const rows = [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...lines];
  return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function dollars(usd: number): string {
  return usd.toFixed(2);
}

const file = new URL("../docs/deploy.md", import.meta.url);
const between = /(<!-- costs -->).*(<!-- \/costs -->)/s;

/**
 * Reads the page about deployment. `now` is the current text of the page, and `wanted` is the text with the table of
 * today's costs.
 */
export function readCostPage(): { now: string; wanted: string } {
  const now = readFileSync(file, "utf8");
  return { now, wanted: now.replace(between, (_, start, end) => `${start}\n${costTable()}\n${end}`) };
}

if (import.meta.main) writeFileSync(file, readCostPage().wanted);
