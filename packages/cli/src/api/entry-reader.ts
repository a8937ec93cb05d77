import type { NovaClient } from "@nova/client";
import type { TraceEntry } from "@nova/engine";
import { entriesOf, entryFrom } from "./recorded.ts";

/** Entries of all branches as they come; reads again only what may still grow. */
export class EntryReader {
  readonly #server: NovaClient;
  readonly #id: string;
  readonly #query: { full?: "true" };
  /** Entries of the main line that are whole, with all that is in their branches. */
  #whole = 0;
  /** Of those behind them, the ones that were told. */
  #told = new Set<string>();
  #nodes = -1;

  /** `full`: with code, contexts and logs. */
  constructor(server: NovaClient, id: string, { full }: { full: boolean }) {
    this.#server = server;
    this.#id = id;
    this.#query = full ? { full: "true" } : {};
  }

  /** `nodes`: how many have run; where it is the same there is nothing new. */
  async fresh(nodes: number, isOver: boolean): Promise<TraceEntry[]> {
    if (nodes === this.#nodes && !isOver) return [];
    this.#nodes = nodes;
    const cursor = Buffer.from(String(this.#whole)).toString("base64url");
    const asked = { path: { id: this.#id }, query: { ...this.#query, cursor } };
    const list = (await Array.fromAsync(this.#server.list("/executions/{id}/chain", asked))).map(entryFrom);
    const found = entriesOf({ entries: list });
    const fresh = found.filter((entry) => !this.#told.has(nameOf(entry)));
    const open = list.at(-1)?.branches ? list.slice(-1) : [];
    this.#whole += list.length - open.length;
    this.#told = new Set(entriesOf({ entries: open }).map(nameOf));
    return fresh;
  }
}

/** Names the link of an entry within its execution. */
export function nameOf({ scope, seq }: Pick<TraceEntry, "scope" | "seq">): string {
  return `${scope}#${seq}`;
}
