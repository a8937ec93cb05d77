import type { Link } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";

/** Fewer branches are read one by one: reading them together costs as much. */
export const fewestTogether = 50;

/**
 * The links of many branches that are not joined, one of each branch at a time, as long as `goesOn` says so of the last
 * one: most items of a large map have not begun, or have ended. A few long branches that are left are to be read one by
 * one: for these the answer is undefined.
 */
export async function linksOfBranches(
  { chain }: Pick<Ports, "chain">,
  execution: string,
  scopes: readonly string[],
  goesOn: (link: Link) => boolean,
): Promise<(scope: string) => readonly Link[] | undefined> {
  const links = new Map<string, Link[]>(scopes.map((scope) => [scope, []]));
  let open = scopes;
  for (let seq = 1; open.length >= fewestTogether; seq++) {
    const places = open.map((scope) => ({ scope, seq }));
    const found = await chain.linksAt(execution, places);
    for (const [scope, link] of found) links.get(scope)?.push(link);
    open = open.filter((scope) => {
      const link = found.get(scope);
      return link !== undefined && goesOn(link);
    });
  }
  const long = new Set(open);
  return (scope) => (long.has(scope) ? undefined : (links.get(scope) ?? []));
}
