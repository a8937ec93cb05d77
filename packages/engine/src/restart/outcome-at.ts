import type { RunErrorClass } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import { contentOrNull, unlessErased } from "../chain/contents.ts";
import { type FailureRecord, headOf } from "../chain/head.ts";
import { failureOf } from "../chain/position.ts";
import { type Changes, linkLabel } from "../context/context.ts";
import { blobPages, loadStored, rowsIn } from "../context/pages.ts";
import type { ChainStore, LinkId, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";

/** What one entry came to. Values are as contexts keep them: large ones are references to blobs of its family. */
export interface OutcomeAt extends Changes {
  decision: string | null;
  error?: { class: RunErrorClass; failure: FailureRecord };
}

type Reads = Pick<Ports, "chain" | "blobs">;

/** A session asks for the same ones with every run. Whoever asks has looked whether their execution was erased. */
const maxKept = 2_000;
const kept = new WeakMap<ChainStore, LRUCache<string, OutcomeAt>>();

/** Undefined where the entry is not there, or its contents were erased. */
export async function outcomeAt(ports: Reads, at: LinkId): Promise<OutcomeAt | undefined> {
  const known = kept.get(ports.chain) ?? new LRUCache<string, OutcomeAt>({ max: maxKept });
  kept.set(ports.chain, known);
  const name = `${at.execution}${at.scope}#${at.seq}`;
  const there = known.get(name);
  if (there) return there;
  const { entry } = await ports.chain.read(at);
  const outcome = entry && (await outcomeOf(ports, entry));
  if (outcome) known.set(name, outcome);
  return outcome;
}

async function outcomeOf(ports: Reads, entry: StoredEntry): Promise<OutcomeAt | undefined> {
  const head = headOf(entry);
  const nothing = { set: [], delete: [], decision: head.decision_result };
  if (head.status === "failed") {
    const failure = await failureOf(entry, ports.blobs);
    return head.error_class && { ...nothing, error: { class: head.error_class, failure } };
  }
  const text = await contentOrNull(ports, entry, head, "context");
  if (text === null) return undefined;
  const { inline, pages, deleted } = loadStored(text);
  // A link that has nothing inline has just made a page of it; else what it has set is there.
  const last = inline.length === 0 ? pages.at(-1) : undefined;
  const page = last && (await unlessErased(() => blobPages(ports.blobs, head).load(last.sha256)));
  if (page === null) return undefined;
  const own = linkLabel(head);
  const rows = page === undefined ? inline : rowsIn(page);
  return { ...nothing, set: rows.flatMap(([key, by, json]) => (by === own ? [{ key, json }] : [])), delete: deleted };
}
