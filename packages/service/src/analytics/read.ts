import { reaches } from "../access/principal.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { RunStats } from "../ports/stats.ts";

export interface AnalyticsQuery {
  /** ISO 8601: runs that ended then or later, then or earlier. */
  from: string;
  to: string;
  workflow?: string;
  client?: string;
}

/** Figures of the runs within reach; of a client that is out of reach there are none, as of one that does not exist. */
export async function* statsWithin(
  ports: Pick<ServicePorts, "stats" | "workflows">,
  by: Principal,
  { from, to, workflow, client = by.client ?? undefined }: AnalyticsQuery,
): AsyncGenerator<RunStats> {
  if (client !== undefined && !reaches(by, client)) return;
  // DynamoDB refuses a range that ends before it begins.
  if (to < from) return;
  const whose = client !== undefined && { client };
  if (workflow !== undefined) yield* ports.stats.read({ from, to, workflow, ...whose });
  else if (client !== undefined) yield* ports.stats.read({ from, to, client });
  else for await (const id of ports.workflows.ids()) yield* ports.stats.read({ from, to, workflow: id });
}
