import type { Head, Ports } from "@nova/engine";
import { LRUCache } from "lru-cache";

type Reads = Pick<Ports, "workflows" | "generations">;

/** What code has cost to write never changes, so a process asks once. */
const known = new LRUCache<string, number>({ max: 10_000 });

/** US dollars that a run of pinned code did not spend: what writing it has cost. 0 where no model was replaced. */
export async function savedBy(ports: Reads, head: Head): Promise<number> {
  const { cache_hit, generation, workflow_id, workflow_version, node_id } = head;
  if (!cache_hit || generation === undefined) return 0;
  const name = `${workflow_id}#${workflow_version}#${node_id}#${generation}`;
  const usd = known.get(name) ?? (await costOf(ports, head, generation));
  known.set(name, usd);
  return usd;
}

async function costOf({ workflows, generations }: Reads, head: Head, key: string): Promise<number> {
  const locked = (await workflows.get(head.workflow_id, head.workflow_version))?.workflow.lock?.[head.node_id];
  if (locked?.key === key) return locked.cost.usd;
  for (const client of [head.client, null]) {
    const found = (await generations.of(head.workflow_id, head.node_id, client)).find((one) => one.key === key);
    if (found) return found.cost.usd;
  }
  return 0;
}
