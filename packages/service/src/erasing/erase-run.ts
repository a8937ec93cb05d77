import { cancelExecution, type Execution } from "@nova/engine";
import { demandClient } from "../clients/clients.ts";
import { Conflict, NotFound } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ErasableScope } from "../ports/archive.ts";
import { defaultClient } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";

/** Cancels a run that is open still, and what runs inside of it: without its contents nothing could close it any more. */
export async function endRun(ports: ServicePorts, id: string): Promise<void> {
  // The record itself, since the lists of what is open, and of a client, may be late.
  const record = await ports.executions.get(id);
  if (record?.open) await cancelExecution(ports, id);
}

type ErasePorts = Pick<ServicePorts, "eraser">;

/** A map may have ten thousand items, each a partition of its own. */
const atOnce = 16;

/** Its chain stays, and verifies. Throws `Conflict` while it is open, and inside of another one, whose blobs it has. */
export async function eraseExecution(ports: ErasePorts, { id, open, parent, client, root }: Execution): Promise<void> {
  if (open) throw new Conflict(`execution ${id} is open - cancel it, or wait for its end, and erase it then`);
  if (parent) throw new Conflict(`execution ${id} is a part of ${root} - erase that one`);
  await eraseContents(ports, id);
  await ports.eraser.blobs({ client, root });
}

/** The links before the blobs: what no link names any more is missed by nobody. */
export async function eraseContents({ eraser }: ErasePorts, execution: string): Promise<void> {
  const waiting: ErasableScope[] = [{ execution, scope: "" }];
  while (waiting.length > 0) {
    const erasing = waiting.splice(-atOnce).map(async (at) => {
      if (at.scope === "") await eraser.traces(at.execution);
      waiting.push(...(await eraser.contents(at)));
    });
    await Promise.all(erasing);
  }
}

/**
 * For whoever has just begun a run: of a client that was deleted since they looked it is cancelled and erased, for no
 * erasure that came before it can have found it; where there is a queue by whoever takes from that, since a function that
 * begins runs may end none. Throws `Conflict`, `NotFound` then, as if it had never begun.
 */
export async function demandClientStill(ports: ServicePorts, by: Principal, { id, client }: Execution): Promise<void> {
  try {
    await demandClient(ports, by, client);
  } catch (error) {
    if (error instanceof Conflict || error instanceof NotFound) {
      if (ports.erasureQueue) await ports.erasureQueue.enqueue({ client, execution: id });
      else await eraseStraggler(ports, client, id);
    }
    throw error;
  }
}

/** Erases a run that began for a client while that was deleted. False: its client is there, or it is no such run. */
export async function eraseStraggler(ports: ServicePorts, client: string, execution: string): Promise<boolean> {
  const record = await ports.executions.get(execution);
  if (record?.client !== client || client === defaultClient) return false;
  const whose = await ports.clients.get(client);
  if (whose && !whose.erasing) return false;
  await endRun(ports, record.root);
  await endRun(ports, execution);
  await eraseContents(ports, execution);
  await ports.eraser.blobs({ client, root: record.root });
  // What its end has left elsewhere; of a client that is still being erased the erasure itself looks once more.
  let cursor: string | undefined;
  do cursor = whose ? undefined : await ports.eraser.rest(client, cursor);
  while (cursor !== undefined);
  return true;
}
