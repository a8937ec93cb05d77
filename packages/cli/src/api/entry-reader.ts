import type { NovaClient } from "@nova/client";
import type { TraceEntry } from "@nova/engine";
import { entryFrom, listEntries } from "./recorded.ts";

/** Reads the new entries of all branches of a running execution. It reads again only entries that may still grow. */
export class EntryReader {
  readonly #server: NovaClient;
  readonly #id: string;
  readonly #query: { full?: "true" };
  /** Entries of the main line that are complete with all their branches. */
  #whole = 0;
  /** Later entries that `fresh` has already returned. */
  #returned = new Set<string>();
  #nodes = -1;

  /** `full`: with code, contexts and logs. */
  constructor(server: NovaClient, id: string, { full }: { full: boolean }) {
    this.#server = server;
    this.#id = id;
    this.#query = full ? { full: "true" } : {};
  }

  /**
   * Returns the entries since the last call. `nodes` counts the executed nodes; if it is unchanged, there is nothing
   * new.
   */
  async readNew(nodes: number, isOver: boolean): Promise<TraceEntry[]> {
    if (nodes === this.#nodes && !isOver) return [];
    this.#nodes = nodes;
    const cursor = Buffer.from(String(this.#whole)).toString("base64url");
    const asked = { path: { id: this.#id }, query: { ...this.#query, cursor } };
    const list = (await Array.fromAsync(this.#server.list("/executions/{id}/chain", asked))).map(entryFrom);
    const found = listEntries({ entries: list });
    const fresh = found.filter((entry) => !this.#returned.has(entryName(entry)));
    const open = list.at(-1)?.branches ? list.slice(-1) : [];
    this.#whole += list.length - open.length;
    this.#returned = new Set(listEntries({ entries: open }).map(entryName));
    return fresh;
  }
}

/** Identifies an entry inside its execution. */
export function entryName({ scope, seq }: Pick<TraceEntry, "scope" | "seq">): string {
  return `${scope}#${seq}`;
}
