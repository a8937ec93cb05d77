import type { Head, ScopePlace } from "../chain/head.ts";
import { branchOf, isItem } from "../chain/scope.ts";
import type { Ports } from "../ports/index.ts";
import { wentOnWithout } from "../protocol/recorded-source.ts";
import { type RunHead, runHeads } from "../trace/run-heads.ts";

type Reads = Pick<Ports, "chain" | "workflows" | "blobs">;

/** One entry of the source, by the name of its place. */
export interface SourceLink extends RunHead {
  /** `find`, `poll#2` (its second visit), `each[3].find` (in an item). */
  name: string;
  /** It failed for good, and the run went on without it: a map tolerates that. */
  isTolerated: boolean;
}

/** An execution that has ended, with all its entries: what can be taken over from it. */
export class Source {
  /** By name, in the order in which they ran, a fork's branches behind it. */
  readonly links: ReadonlyMap<string, SourceLink>;
  readonly #scopes: ReadonlyMap<string, SourceLink[]>;

  private constructor(links: readonly SourceLink[]) {
    this.links = new Map(links.map((link) => [link.name, link]));
    this.#scopes = Map.groupBy(links, ({ head }) => head.scope);
  }

  static async read(ports: Reads, execution: string): Promise<Source> {
    const names = new Names();
    const found: RunHead[] = await Array.fromAsync(runHeads(ports, execution));
    const heads = new Map(found.map(({ head }) => [forkKey(head), head]));
    const links: SourceLink[] = [];
    for (const one of found) {
      const isTolerated = await wentOnWithout(one.head, (at) => heads.get(forkKey(at)));
      links.push({ ...one, name: names.of(one.head), isTolerated });
    }
    return new Source(links);
  }

  /** Names of the branches that began behind a link. */
  branches({ scope, seq }: ScopePlace): string[] {
    const places = Array.from(this.#scopes.keys(), branchOf);
    return places.flatMap((place) => (place?.parent === scope && place.seq === seq ? [place.branch] : []));
  }

  /** The entries of one scope, in order. */
  scope(scope: string): readonly SourceLink[] {
    return this.#scopes.get(scope) ?? [];
  }
}

/** Names of places, told link by link in the order of the run, a fork's branches behind it. */
export class Names {
  readonly #prefixes = new Map([["", ""]]);
  readonly #visits = new Map<string, number>();

  of({ scope, seq, node_id }: Pick<Head, "scope" | "seq" | "node_id">): string {
    const place = `${this.#prefixOf(scope)}${node_id}`;
    const visit = (this.#visits.get(place) ?? 0) + 1;
    this.#visits.set(place, visit);
    const name = visit === 1 ? place : `${place}#${visit}`;
    this.#prefixes.set(forkKey({ scope, seq }), name);
    return name;
  }

  /** Nodes of branches are named as those around them; items by their number. */
  #prefixOf(scope: string): string {
    const known = this.#prefixes.get(scope);
    if (known !== undefined) return known;
    const place = branchOf(scope);
    if (!place) return "";
    const { parent, seq, branch } = place;
    const prefix = isItem(branch)
      ? `${this.#prefixes.get(forkKey({ scope: parent, seq })) ?? ""}[${branch}].`
      : this.#prefixOf(parent);
    this.#prefixes.set(scope, prefix);
    return prefix;
  }
}

function forkKey({ scope, seq }: ScopePlace): string {
  return `${scope}#${seq}`;
}
