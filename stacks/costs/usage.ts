/** What a run is like, as far as it costs something. */
export interface Run {
  /** Nodes that run code, decisions among them; `start` and `end` come on top. */
  nodes: number;
  decisions: number;
  /** What the code of one node takes. */
  secondsPerNode: number;
  /** Nodes whose code a model writes in this run; pinned code costs as much as hand-written code. */
  written: number;
}

/**
 * Calls of DynamoDB: a node reads once, unless it comes to the process that ran the node before, and writes its turn and
 * its entry. test/stacks/costs measures them.
 */
export const callsPerNode = 3;
/** The most that start, end and close add, with the figures of the run. */
export const callsPerRun = 13;

/** Bytes of a turn and of an entry in 1 KB units, and of what is read before a node in 4 KB units. */
const writesPerNode = 3;
const readsPerNode = 2;
/** The run's record lies in three indexes: each of its four writes counts fourfold; its figures lie in one. */
const writesPerRun = 24;
const readsPerRun = 9;

/** What surrounds the code in a Lambda: reading, the turn, the way to the sandbox and back, committing. */
const overheadSeconds = 0.15;
/** Until a sandbox answers for the first time: facts of E2B's p50, and its end. */
const sandboxStartSeconds = 1;
/** What three agents wait for their models. */
const writingSeconds = 15;
const logBytesPerInvocation = 1_500;

/** Quantities of one run, in the units of prices.json. */
export function usageOf({ nodes, decisions, secondsPerNode, written }: Run) {
  const invocations = nodes + 3; // the request, the end node, and the event that the run has ended
  const seconds = nodes * (secondsPerNode + overheadSeconds) + 2 * overheadSeconds + written * writingSeconds;
  const lifeSeconds = sandboxStartSeconds + seconds;
  return {
    transition: nodes + decisions + 2,
    lambdaRequest: invocations,
    lambdaGibSecond: seconds + overheadSeconds,
    dynamodbWrite: nodes * writesPerNode + writesPerRun,
    dynamodbRead: nodes * readsPerNode + readsPerRun,
    kmsRequest: 1,
    apiRequest: 1,
    busEvent: 1,
    logsGib: (invocations * logBytesPerInvocation) / 1024 ** 3,
    trace: 1 + invocations,
    sandboxVcpuSecond: 2 * lifeSeconds,
    sandboxGibSecond: 2 * lifeSeconds,
  };
}

export type Quantity = keyof ReturnType<typeof usageOf>;
