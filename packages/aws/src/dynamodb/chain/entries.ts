import type { Link, ScopeTip } from "@nova/engine";
import { type ChainTable, mostKeys } from "./chain-table.ts";
import { chainPartition, ENTRY, linkKey } from "./keys.ts";
import { linksOf } from "./link-item.ts";

/** Requests at once. */
const atOnce = 4;

/** Entries of many scopes whose lengths are known, a hundred in one request: each item of a map is a partition. */
export async function readEntries(
  table: ChainTable,
  execution: string,
  tips: readonly ScopeTip[],
): Promise<ReadonlyMap<string, Link[]>> {
  const keys = tips.flatMap(({ scope, seq }) => {
    const partition = chainPartition(execution, scope);
    return Array.from({ length: seq }, (_, before) => ({ partition, key: linkKey(scope, before + 1, ENTRY) }));
  });
  const batches = Array.from({ length: Math.ceil(keys.length / mostKeys) }, (_, number) =>
    keys.slice(number * mostKeys, (number + 1) * mostKeys),
  );
  const found = new Map<string, Link[]>(tips.map(({ scope }) => [scope, []]));
  for (let first = 0; first < batches.length; first += atOnce) {
    const items = await Promise.all(batches.slice(first, first + atOnce).map((batch) => table.items(batch)));
    for (const { scope, ...link } of linksOf(items.flat())) found.get(scope)?.push(link);
  }
  for (const links of found.values()) links.sort((a, b) => a.seq - b.seq);
  return found;
}
