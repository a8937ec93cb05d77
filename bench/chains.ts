import { createHash, randomBytes } from "node:crypto";
import { compileWorkflow } from "@nova/compiler";
import {
  type FileInput,
  publishWorkflow,
  readEntries,
  startExecution,
  type TraceEntry,
  type WorkflowVersion,
} from "@nova/engine";
import type { LocalCloud } from "@nova/local";

/** Code of the smallest useful node: it reads one key and writes one key. */
export const countingCode = 'context["n"] = context.get("n", 0) + 1';

/** Publishes a workflow of `length` code nodes in a row. */
export function publishChain(cloud: LocalCloud, length: number): Promise<WorkflowVersion> {
  return publish(cloud, chainOf(length));
}

export function chainOf(length: number): Source {
  const ids = Array.from({ length }, (_, i) => `n${i + 1}`);
  const chain = ["start", ...ids, "end"];
  return between(
    `bench-chain-${length}`,
    ids.map((id) => ({ id, type: "action", code: countingCode })),
    chain.slice(1).map((to, i) => ({ from: chain[i] as string, to })),
  );
}

/** Code that sleeps. It takes long enough to show whether branches wait for each other, and uses no processor time. */
const waitingCode = "import time\ntime.sleep(0.3)";

/** Returns the definition of a workflow with `width` parallel branches. */
export function branchesOf(width: number): Source {
  const ids = Array.from({ length: width }, (_, i) => `wait${i + 1}`);
  return between(
    `bench-branches-${width}`,
    ids.map((id) => ({ id, type: "action", code: waitingCode })),
    ids.flatMap((id) => [
      { from: "start", to: id },
      { from: id, to: "end" },
    ]),
  );
}

type Edge = { from: string; to: string; condition?: string | boolean; max?: number };
type Source = { id: string; nodes: object[]; edges: Edge[] };

/** Publishes a workflow that has the nodes of `source` between `start` and `end`. */
export function publishBetween(cloud: LocalCloud, ...source: Parameters<typeof between>): Promise<WorkflowVersion> {
  return publish(cloud, between(...source));
}

function between(id: string, nodes: object[], edges: Edge[]): Source {
  return { id, nodes: [{ id: "start", type: "start" }, ...nodes, { id: "end", type: "end" }], edges };
}

export async function publish(cloud: LocalCloud, source: Source): Promise<WorkflowVersion> {
  const compiled = await compileWorkflow({ text: JSON.stringify(source), fileName: "bench.json", files: {} });
  if (!compiled.workflow)
    throw new TypeError(`the bench's own workflow has findings: ${JSON.stringify(compiled.findings)}`);
  const { workflow, definition, history } = compiled;
  const template = await cloud.templateFor(workflow);
  return publishWorkflow(cloud.ports, { workflow, stateMachine: definition, history, template });
}

export interface Run {
  id: string;
  /** The time from StartExecution to the end of the run, as a client measures it. */
  wallMs: number;
}

export async function runChain(
  cloud: LocalCloud,
  version: WorkflowVersion,
  files: FileInput[] = [],
  context = "{}",
): Promise<Run> {
  const start = performance.now();
  const { id } = await startExecution(cloud.ports, { version, context, files });
  await cloud.untilEnd(id);
  return { id, wallMs: performance.now() - start };
}

/** Returns the time from the start of the first node to the end of the last one, according to the chain of work. */
export async function nodesMs(cloud: LocalCloud, id: string): Promise<number> {
  const { entries } = await readEntries(cloud.ports, id);
  const tasks = entries.filter(({ node_type }) => node_type === "action");
  const [first, last] = [tasks[0] as TraceEntry, tasks.at(-1) as TraceEntry];
  const before = entries[0] as TraceEntry;
  return (
    Date.parse(last.timestamp) -
    Math.max(Date.parse(before.timestamp), Date.parse(first.timestamp) - first.execution_time_ms)
  );
}

export function randomFile(key: string, bytes: number): FileInput {
  const body = randomBytes(bytes);
  return {
    key,
    sha256: createHash("sha256").update(body).digest("hex"),
    bytes,
    async *open() {
      for (let at = 0; at < bytes; at += 1 << 16) yield body.subarray(at, at + (1 << 16));
    },
  };
}
