import { invalid } from "../errors.ts";
import { Input } from "../request/input.ts";

/** The RequestItems of a batch, by table. */
export function requestedTables(input: Input): [string, Input][] {
  return requestItems(input).map(([name, request]) => [name, new Input(request, `requestItems.${name}.member.`)]);
}

export function requestItems(input: Input): [string, unknown][] {
  const items = input.map("RequestItems");
  if (!items) throw input.missing("RequestItems");
  const tables = Object.entries(items);
  if (tables.length > 0) return tables;
  const rule = "Member must have length greater than or equal to 1";
  throw invalid(`1 validation error detected: Value '{}' at 'requestItems' failed to satisfy constraint: ${rule}`);
}
