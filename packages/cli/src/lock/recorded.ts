import { type Execution, executionOf, type Ports, readTrace, type Trace, type TraceEntry } from "@nova/engine";
import { InvalidInput } from "../errors.ts";

/** One run of a node, as the chain of work has it. */
export interface Recorded {
  execution: Execution;
  entry: TraceEntry;
  /** What ran before it in the same line of steps, and in those around it. */
  before: readonly TraceEntry[];
}

type Readable = Pick<Ports, "executions"> & Ports;

export interface Reading {
  /** Executions whose chains are read at most. */
  most: number;
  /** With the inputs of the nodes. */
  full: boolean;
}

/** What the latest executions of a workflow did in its nodes, newest first; those that go on still are left out. */
export async function* latestRuns(
  ports: Readable,
  workflow: string,
  { most, full }: Reading,
): AsyncGenerator<Recorded> {
  let read = 0;
  for (let cursor: string | undefined; ; ) {
    const page = await ports.executions.list({ workflow, limit: 25, ...(cursor !== undefined && { cursor }) });
    for (const { id, open } of page.items) {
      if (open) continue;
      yield* recordedIn(await readTrace(ports, id, { full }));
      if (++read === most) return;
    }
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

/** The same of one execution. Throws `ExecutionNotFound`, and `InvalidInput` where it is another workflow's. */
export async function* runsOf(ports: Readable, workflow: string, id: string): AsyncGenerator<Recorded> {
  const execution = await executionOf(ports, id);
  if (execution.workflowId !== workflow) {
    const wayOut = `nova executions --workflow ${workflow} lists its own`;
    throw new InvalidInput(`execution ${id} ran the workflow "${execution.workflowId}", not "${workflow}" - ${wayOut}`);
  }
  yield* recordedIn(await readTrace(ports, id, { full: true }));
}

/** Newest first. */
function recordedIn({ execution, entries }: Trace): Recorded[] {
  return Array.from(walk(execution, entries, [])).reverse();
}

function* walk(
  execution: Execution,
  entries: readonly TraceEntry[],
  around: readonly TraceEntry[],
): Iterable<Recorded> {
  for (const [index, entry] of entries.entries()) {
    const before = [...around, ...entries.slice(0, index)];
    yield { execution, entry, before };
    for (const branch of entry.branches ?? []) yield* walk(execution, branch.entries, [...before, entry]);
  }
}
