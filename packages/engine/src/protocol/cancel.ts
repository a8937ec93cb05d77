import { closeExecution } from "./close.ts";
import type { Closed } from "./finish-close.ts";
import { executionOf } from "./record.ts";
import type { KindPorts } from "./settling.ts";
import { stopMachine } from "./stop.ts";

/** No node ran, so none was cut off. */
const unbegun = { class: "ExecutionClosed", message: "the execution was cancelled while it was queued" } as const;

/**
 * Stops the state machine first, then closes the chain; of a run that is over it answers how it ended. Throws
 * `ExecutionNotFound`.
 */
export async function cancelExecution(ports: KindPorts, id: string): Promise<Closed> {
  const record = await executionOf(ports, id);
  if (record.open) await stopMachine(ports, record, "The execution was cancelled.");
  return closeExecution(ports, {
    execution: id,
    status: "cancelled",
    ...(record.status === "queued" && { reason: unbegun }),
  });
}
