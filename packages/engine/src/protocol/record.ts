import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";

export class ExecutionNotFound extends Error {
  override name = "ExecutionNotFound";

  constructor(id: string) {
    super(`there is no execution "${id}" - \`nova executions\` lists them`);
  }
}

/** The record of a run. Throws `ExecutionNotFound`. */
export async function executionOf(ports: Pick<Ports, "executions">, id: string): Promise<Execution> {
  const record = await ports.executions.get(id);
  if (!record) throw new ExecutionNotFound(id);
  return record;
}
