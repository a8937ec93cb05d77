import type { Execution } from "@nova/engine";
import { Conflict } from "../errors.ts";
import type { ErasableScope, Eraser } from "../ports/erasing.ts";
import type { ServicePorts } from "../ports/index.ts";

type ErasePorts = Pick<ServicePorts, "eraser">;

/** A map may have ten thousand items, each a partition of its own. */
const atOnce = 16;

/**
 * Erases what a run knew, said and stored; its chain and the digests in it stay, and `nova verify` tells what is gone.
 * Throws `Conflict` while it is open, and for an execution inside of another one, with which it shares its blobs.
 */
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
    const found = await Promise.all(waiting.splice(-atOnce).map((at) => eraseScope(eraser, at)));
    waiting.push(...found.flat());
  }
}

async function eraseScope(eraser: Eraser, at: ErasableScope): Promise<ErasableScope[]> {
  if (at.scope === "") await eraser.traces(at.execution);
  return eraser.contents(at);
}
