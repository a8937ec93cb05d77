import type { LinkId, StoredEntry } from "../ports/chain.ts";

/** More would only be of runs that go on elsewhere. */
const mostKept = 64;
/** The node behind a link comes at once; one that comes later has probably been somewhere else before. */
const keptMs = 5_000;

/**
 * The links that this process wrote last, for the nodes behind them, as long as they come to the same process. Nothing
 * can lie behind a link before it is written, so the entry alone is what a read at that very moment would have found;
 * the node's own writes are conditional on that, as behind any read. Lives in the memory of one Lambda process.
 */
export class WrittenTips {
  readonly #entries = new Map<string, { entry: StoredEntry; until: number }>();

  /** Only by whoever's put was the one that wrote it. */
  keep(at: LinkId, entry: StoredEntry, nowMs: number): void {
    this.#entries.set(nameOf(at), { entry, until: nowMs + keptMs });
    if (this.#entries.size > mostKept) this.#entries.delete(this.#entries.keys().next().value ?? "");
  }

  /** Once: a second delivery of the node has to read. */
  take(at: LinkId, nowMs: number): StoredEntry | undefined {
    const kept = this.#entries.get(nameOf(at));
    this.#entries.delete(nameOf(at));
    return kept && nowMs < kept.until ? kept.entry : undefined;
  }
}

function nameOf({ execution, scope, seq }: LinkId): string {
  return `${execution}${scope}#${seq}`;
}
