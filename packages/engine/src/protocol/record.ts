import { defined } from "@nova/workflow";
import { type CloseStatus, contentText, type Head, headOf } from "../chain/entry.ts";
import { storableError, storableNumber, sumOfSpendings } from "../chain/spending.ts";
import { chainBroken } from "../errors.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Execution, ExecutionError, Spending } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import { moveSandboxes, prepareOffers } from "../sandboxes/life.ts";

/**
 * Sets the status of a run to `waiting` while the run, or an execution inside it, has an open task. Otherwise sets it
 * to `running`. Call this function after you have changed a task. It looks for open tasks again after each change of
 * the status, so that the last caller writes the true status.
 */
export async function refreshStatus(ports: Ports, execution: string): Promise<void> {
  let waitsInside = false;
  for (let id: string | undefined = execution; id !== undefined; id = await parentOf(ports, id)) {
    waitsInside = await refreshOne(ports, id, waitsInside);
  }
}

/** Marks a run and its outer runs as waiting. Call this function before you read the entry of the node again. */
export async function markWaiting(ports: Ports, execution: string): Promise<void> {
  for (let id: string | undefined = execution; id !== undefined; id = await parentOf(ports, id)) {
    await ports.executions.setStatus(id, "waiting", ["running"]);
  }
}

async function refreshOne(ports: Ports, id: string, waitsInside: boolean): Promise<boolean> {
  for (;;) {
    const isWaiting = waitsInside || (await ports.tasks.hasOpen(id));
    const [status, other] = isWaiting ? (["waiting", "running"] as const) : (["running", "waiting"] as const);
    if (!(await ports.executions.setStatus(id, status, [other]))) return isWaiting;
  }
}

async function parentOf(ports: Ports, id: string): Promise<string | undefined> {
  return (await ports.executions.get(id))?.parent?.execution;
}

export class ExecutionNotFound extends Error {
  override name = "ExecutionNotFound";

  constructor(id: string) {
    super(`there is no execution "${id}" - \`nova executions\` lists them`);
  }
}

/**
 * Thrown if the stored record of a run lacks a field, has a wrong value, or is stored under the key of another record.
 */
export class UnreadableRecord extends Error {
  override name = "UnreadableRecord";
  readonly client: string | null;

  constructor(message: string, client: string | null, options?: ErrorOptions) {
    super(message, options);
    this.client = client;
  }
}

/** Reads the record of a run. Throws `ExecutionNotFound` if there is none. */
export async function executionOf(ports: Ports, id: string): Promise<Execution> {
  const record = await ports.executions.get(id);
  if (!record) throw new ExecutionNotFound(id);
  return record;
}

export interface Closed {
  status: CloseStatus;
  /** Hash of the close entry. */
  tip: string;
  error?: ExecutionError;
  spent?: Spending;
}

/**
 * Finishes the steps after a close entry. It sets the status, publishes the event, offers sandboxes to other runs, and
 * calls the port of the service. Last, it takes the run out of the index of open runs. Every caller that finds the
 * entry while the record is still open repeats these steps. Only the writer of the entry knows the sandboxes that are
 * `left`, and may offer some of them. The caller that takes the run out of the index kills all sandboxes that no caller
 * has offered.
 */
export async function finishClose(ports: Ports, entry: StoredEntry, left: readonly Sandbox[] = []): Promise<Closed> {
  const head = headOf(entry);
  if (!head.close) throw chainBroken(`link ${head.seq} of ${head.execution_id} is no close entry`);
  const { status } = head.close;
  const failure =
    entry.contents.error && (JSON.parse(await contentText(entry.contents.error, head, ports.blobs)) as ExecutionError);
  const error = failure && storableError(failure);
  const { spent, nodes } = { spent: undefined, ...storableFigures(head) };
  const closed: Closed = { status, tip: entry.hash, ...defined({ error, spent }) };

  const record = await ports.executions.get(head.execution_id);
  if (!record?.open) {
    const unoffered = left.map(({ id }) => id);
    await moveSandboxes(ports, "in use", "not offered", unoffered);
    return closed;
  }
  const durationMs = durationOf(record.startedAt, head.timestamp);
  const { timestamp: endedAt } = head;
  const ending = { status, endedAt, durationMs, nodes, tip: entry.hash, ...defined({ spent, error }) };
  await ports.executions.update(record.id, ending);
  ports.endings.tell(record.id);
  if (!record.endPublished) await publishEnd(ports, { ...record, ...ending }, status);
  if (record.parent) await refreshStatus(ports, record.parent.execution);
  const { idle: named = [] } = head.close;
  let idle: Sandbox[] = [];
  try {
    idle = await prepareOffers(ports, record, named, left);
    // This call comes after the run has offered its sandboxes to other runs, because the next run of the queue may be
    // waiting for one of them.
    await ports.onExecutionEnded({ ...record, ...ending });
  } catch (error) {
    // The sweeper repeats these steps, for minutes if E2B is unreachable for so long. It must not publish the event
    // about the end again.
    await ports.executions.update(record.id, { endPublished: true });
    throw error;
  }
  const isLast = await ports.executions.leave(record, idle);
  // From now on no caller can offer another sandbox of this run.
  const offered = idle.map(({ id }) => id);
  const lost = isLast ? named.filter((id) => !offered.includes(id)) : offered;
  await moveSandboxes(ports, "in use", "not offered", lost);
  return closed;
}

/**
 * Returns the counts of a close entry, limited to numbers that the store accepts. A record that the store refuses would
 * keep the run open.
 */
export function storableFigures({ nodes, spent }: Pick<Head, "nodes" | "spent">) {
  return { nodes: storableNumber(nodes), ...(spent && { spent: sumOfSpendings([spent]) }) };
}

/**
 * Returns the milliseconds between two times in ISO 8601; at least 0, because the clocks of two machines may differ.
 */
export function durationOf(startedAt: string, endedAt: string): number {
  return storableNumber(Date.parse(endedAt) - Date.parse(startedAt));
}

async function publishEnd(ports: Ports, record: Execution, status: CloseStatus): Promise<void> {
  const { durationMs, spent } = record;
  await ports.events.publish(status === "completed" ? "execution.completed" : "execution.failed", {
    execution_id: record.id,
    workflow: record.workflowId,
    version: record.version,
    client: record.client,
    status,
    duration_ms: durationMs,
    ...defined({ parent_execution_id: record.parent?.execution, cost_usd: spent?.cost_usd }),
  });
}
