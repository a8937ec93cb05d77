import type { Execution } from "@nova/engine";
import { demandClient } from "../clients/clients.ts";
import { Conflict, NotFound } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import { defaultClient } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import { endRun } from "./end-run.ts";
import { eraseContents } from "./erase-execution.ts";

/**
 * For whoever has just begun a run: of a client that was deleted since they looked it is cancelled and erased, for no
 * erasure that came before it can have found it; where there is a queue by whoever takes from that, since a function that
 * begins runs may end none. Throws `Conflict`, `NotFound` then, as if it had never begun.
 */
export async function demandClientStill(ports: ServicePorts, by: Principal, { id, client }: Execution): Promise<void> {
  try {
    await demandClient(ports, by, client);
  } catch (error) {
    if (error instanceof Conflict || error instanceof NotFound) await dropStraggler(ports, client, id);
    throw error;
  }
}

async function dropStraggler(ports: ServicePorts, client: string, execution: string): Promise<void> {
  if (ports.erasureQueue) await ports.erasureQueue.enqueue({ client, execution });
  else await eraseStraggler(ports, client, execution);
}

/**
 * Erases a run that began for a client while that was deleted. Answers whether it is one: of a client that is there it
 * does nothing.
 */
export async function eraseStraggler(ports: ServicePorts, client: string, execution: string): Promise<boolean> {
  const record = await ports.executions.get(execution);
  if (record?.client !== client || client === defaultClient) return false;
  const whose = await ports.clients.get(client);
  if (whose && !whose.erasing) return false;
  await endRun(ports, record.root);
  await endRun(ports, execution);
  await eraseContents(ports, execution);
  await ports.eraser.blobs({ client, root: record.root });
  // Of a client that is still being erased the erasure itself looks once more.
  if (!whose) await eraseFigures(ports, client);
  return true;
}

/** What the end of the run has left elsewhere. */
async function eraseFigures({ eraser }: ServicePorts, client: string): Promise<void> {
  let cursor: string | undefined;
  do cursor = await eraser.rest(client, cursor);
  while (cursor !== undefined);
}
