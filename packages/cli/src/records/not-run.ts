import { InvalidInput } from "../errors.ts";

/** For a command about a node of which the execution has no entry. */
export function notRun(
  node: unknown,
  execution: string,
  entries: readonly { node_id: string; node_type?: string }[],
): InvalidInput {
  const nodes = entries.filter(({ node_type }) => node_type !== "close");
  const ran = [...new Set(nodes.map(({ node_id }) => node_id))].join(", ");
  return new InvalidInput(`node "${node}" has not run in ${execution} - these have: ${ran}`);
}
