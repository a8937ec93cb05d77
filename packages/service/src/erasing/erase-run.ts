import { type BlobHome, cancelExecution, type Execution, erasureText } from "@nova/engine";
import { decodeTime, isValid } from "ulid";
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

type ErasePorts = Pick<ServicePorts, "eraser" | "executions" | "clock" | "chain" | "signer">;

/** A map may have ten thousand items, each a partition of its own. */
const atOnce = 16;

/** Erases it and everything restarted from it; answers the ids. Their chains stay, and verify. Throws as `beginErasing`. */
export async function eraseExecution(ports: ErasePorts, execution: Execution): Promise<string[]> {
  const ids = await beginErasing(ports, execution);
  await eraseMembers(ports, execution, ids);
  return ids;
}

/**
 * From now on nothing is restarted from an execution and everything restarted from it, which has copies of what it said;
 * answers the ids. Throws `Conflict` while one of them is open, and for a part of another execution.
 */
export async function beginErasing(ports: ErasePorts, execution: Execution): Promise<string[]> {
  const { id, parent } = execution;
  if (parent) throw new Conflict(`execution ${id} is a part of ${await outermost(ports, execution)} - erase that one`);
  const family = await withRestarts(ports, execution);
  const open = family.find((one) => one.open);
  const which = open?.id === id ? "" : `, which was restarted from ${id},`;
  if (open) throw new Conflict(`execution ${open.id}${which} is open - cancel it, or wait for its end, and erase then`);
  const ids = family.map((one) => one.id);
  await mark(ports, ids, "asked");
  return ids;
}

function mark(
  { executions }: ErasePorts,
  ids: readonly string[],
  erased: NonNullable<Execution["erased"]>,
): Promise<unknown> {
  return Promise.all(ids.map((id) => executions.update(id, { erased })));
}

/** An execution and everything restarted from it. One that is being made counts as open. */
export async function withRestarts(ports: ErasePorts, execution: Execution): Promise<Execution[]> {
  const family = new Map([[execution.id, execution]]);
  for (const source of family.values()) {
    for (const id of source.restarts ?? []) {
      const restart = (await ports.executions.get(id)) ?? beingMade(ports, source, id);
      // What was imported unverified may name anything.
      if (restart?.client === source.client && restart.restartedFrom === source.id) family.set(id, restart);
    }
  }
  return [...family.values()];
}

/** Whoever has told the source, and not written the record since, died. */
const madeMs = 60 * 60 * 1000;

function beingMade({ clock }: ErasePorts, source: Execution, id: string): Execution | undefined {
  const { erased: _, restarts: __, ...like } = source;
  const ulid = id.slice("exec_".length);
  const isNew = isValid(ulid) && Math.abs(clock.now() - decodeTime(ulid)) < madeMs;
  return isNew ? { ...like, id, restartedFrom: source.id, open: true } : undefined;
}

/** Erases executions of one family. The blobs that all of it shares go with the last one that has contents. */
export async function eraseMembers(
  ports: ErasePorts,
  { client, root }: BlobHome,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) await eraseContents(ports, id);
  // Nothing is restarted from them behind this, so who is last is known. Whoever dies here does it again.
  await mark(ports, ids, "emptied");
  const first = await ports.executions.get(root);
  const family = first ? await withRestarts(ports, first) : [];
  if (family.every(({ erased }) => erased === "emptied" || erased === true)) await ports.eraser.blobs({ client, root });
  await mark(ports, ids, true);
}

/** The execution around all others that this one is a part of. */
export async function outermost(ports: Pick<ServicePorts, "executions">, { id, parent }: Execution): Promise<string> {
  const around = parent && (await ports.executions.get(parent.execution));
  return around ? outermost(ports, around) : (parent?.execution ?? id);
}

/**
 * A signed note comes first: without it the check of the chain calls a content that is gone taken away. Links are emptied
 * before the blobs go that they name.
 */
export async function eraseContents(
  { eraser, chain, signer }: Pick<ErasePorts, "eraser" | "chain" | "signer">,
  execution: string,
): Promise<void> {
  const waiting: ErasableScope[] = [{ execution, scope: "" }];
  while (waiting.length > 0) {
    const erasing = waiting.splice(-atOnce).map(async (at) => {
      if (at.scope === "") {
        const signature = await signer.sign(erasureText(at.execution));
        await chain.putNote(at.execution, { kind: "erased", signature });
        await eraser.traces(at.execution);
      }
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
  await endRun(ports, await outermost(ports, record));
  await endRun(ports, execution);
  await eraseContents(ports, execution);
  await ports.eraser.blobs({ client, root: record.root });
  // What its end has left elsewhere; of a client that is still being erased the erasure itself looks once more.
  let cursor: string | undefined;
  do cursor = whose ? undefined : await ports.eraser.rest(client, cursor);
  while (cursor !== undefined);
  return true;
}
