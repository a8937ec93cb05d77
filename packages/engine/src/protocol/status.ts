import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";

/**
 * Makes the record say `waiting` while a task of the execution is open, and `running` otherwise; then the records of
 * the executions around it, which wait while it does. A caller that changes a task calls it afterwards and looks again after
 * each change of the status, so the last one to look leaves the truth.
 */
export async function refreshStatus(ports: Ports, execution: string): Promise<void> {
  let waitsInside = false;
  for (let id: string | undefined = execution; id !== undefined; id = await parentOf(ports, id)) {
    waitsInside = await refreshed(ports, id, waitsInside);
  }
}

/** Marks a run and its outer runs as waiting. Call it before the node's entry is read again. */
export async function markWaiting(ports: Ports, execution: string): Promise<void> {
  for (let id: string | undefined = execution; id !== undefined; id = await parentOf(ports, id)) {
    await ports.executions.setStatus(id, "waiting", ["running"]);
  }
}

async function refreshed(ports: Ports, id: string, waitsInside: boolean): Promise<boolean> {
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

/** The record of a run has an unknown form, or names another key. */
export class UnreadableRecord extends Error {
  override name = "UnreadableRecord";
  /** Slug of its client; null if it cannot be read. */
  readonly client: string | null;

  constructor(message: string, client: string | null, options?: ErrorOptions) {
    super(message, options);
    this.client = client;
  }
}

/** The record of a run. Throws `ExecutionNotFound`. */
export async function executionOf(ports: Ports, id: string): Promise<Execution> {
  const record = await ports.executions.get(id);
  if (!record) throw new ExecutionNotFound(id);
  return record;
}
