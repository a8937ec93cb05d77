import type { PlanPart, ScopePlace } from "../chain/head.ts";
import { branchScope } from "../chain/scope.ts";
import type { Ports } from "../ports/index.ts";
import { Source } from "./source.ts";

/** An execution cannot be restarted as it was asked for. */
export class RestartRefused extends Error {
  override name = "RestartRefused";
}

type Reads = Pick<Ports, "chain" | "workflows" | "blobs">;

/**
 * The part of a source that does not count if everything from these places on runs again: `find`, `poll#2`, `each[3]`,
 * `each[3].find`; `billing/send` is in the execution that the node `billing` ran. Throws `RestartRefused`.
 */
export async function partFrom(
  ports: Reads,
  source: Source,
  places: readonly string[],
  execution: string,
): Promise<PlanPart> {
  const inner = Map.groupBy(places, (place) => place.split("/")[0] ?? "");
  const from = new Map<string, ScopePlace>();
  const inside: Record<string, PlanPart> = {};
  for (const [name, all] of inner) {
    const { child, ...at } = startOf(source, name, execution);
    const key = `${at.scope}#${at.seq}`;
    from.set(key, at);
    // The whole node runs again if one of the places names it.
    if (all.includes(name)) continue;
    const rest = all.map((place) => place.slice(name.length + 1));
    if (!child) throw noInside(name, rest);
    inside[key] = await partFrom(ports, await Source.read(ports, child), rest, child);
  }
  if (from.size === 0) return {};
  return { from: [...from.values()], ...(Object.keys(inside).length > 0 && { inside }) };
}

/** The link of a place without `/`, and the execution that its node ran. Of an item the first link, begun or not. */
function startOf(source: Source, name: string, execution: string): ScopePlace & { child?: string | undefined } {
  const link = source.links.get(name);
  if (link && isStep(link.head.node_type)) {
    const { scope, seq, child } = link.head;
    return { scope, seq, child: child?.execution };
  }
  const [, map = "", index = ""] = /^(.+)\[(0|[1-9]\d{0,8})\]$/.exec(name) ?? [];
  const fork = source.links.get(map)?.head;
  if (fork?.node_type !== "map" || fork.count === undefined) throw neverCame(source, name, execution);
  if (Number(index) >= fork.count) throw noItem(map, fork.count, execution);
  return { scope: branchScope(fork, fork.node_id, index), seq: 1 };
}

function neverCame(source: Source, name: string, execution: string): RestartRefused {
  const known = [...source.links.values()].flatMap(({ name, head }) => (isStep(head.node_type) ? [name] : []));
  return new RestartRefused(`execution ${execution} never came to "${name}" - it came to ${shortList(known)}`);
}

function noItem(map: string, count: number, execution: string): RestartRefused {
  const items = count === 0 ? "no items" : `${count} ${count === 1 ? "item" : "items"}: ${map}[0]`;
  const last = count > 1 ? ` to ${map}[${count - 1}]` : "";
  return new RestartRefused(
    `map "${map}" of execution ${execution} had ${items}${last} - name one of them, or the map`,
  );
}

function noInside(name: string, rest: readonly string[]): RestartRefused {
  const advice = name.endsWith("]") ? ` - write ${name}.${rest[0]} for a node of the item` : "";
  return new RestartRefused(`"${name}" ran no other workflow, so it has no "${rest[0]}" inside${advice}`);
}

export function isStep(type: string): boolean {
  return !["start", "end", "join", "close"].includes(type);
}

const maxListed = 20;

export function shortList(names: readonly string[]): string {
  if (names.length === 0) return "no node";
  const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : "";
  return names.slice(0, maxListed).join(", ") + more;
}
