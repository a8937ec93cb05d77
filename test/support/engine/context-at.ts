import type { Context, EntryId, Ports } from "@nova/engine";
import { contextAfter } from "../../../packages/engine/src/chain/position.ts";

/** Returns the context after an entry. */
export async function contextAt(ports: Pick<Ports, "chain" | "blobs">, at: EntryId): Promise<Context> {
  const { entry } = await ports.chain.read(at);
  if (!entry) throw new TypeError(`execution ${at.execution} has no link ${at.seq}`);
  return (await contextAfter(entry, ports.blobs)).context;
}
