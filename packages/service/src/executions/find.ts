import { type Execution, ExecutionNotFound, type ExecutionQuery } from "@nova/engine";
import { reaches } from "../access/principal.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Page } from "../ports/page.ts";

type FindPorts = Pick<ServicePorts, "executions">;

/**
 * An execution within reach. Throws `ExecutionNotFound`: after the same one read, in the same words, for one that is not
 * there and for another client's.
 */
export async function executionWithin(ports: FindPorts, by: Principal, id: string): Promise<Execution> {
  const record = await ports.executions.get(id);
  if (!record || !reaches(by, record.client)) throw new ExecutionNotFound(id);
  return record;
}

/** Newest first; of a client that is out of reach there are none, as of one that does not exist. */
export async function listExecutions(ports: FindPorts, by: Principal, query: ExecutionQuery): Promise<Page<Execution>> {
  const client = query.client ?? by.client;
  if (client !== null && !reaches(by, client)) return { items: [] };
  return ports.executions.list({ ...query, ...(client !== null && { client }) });
}
