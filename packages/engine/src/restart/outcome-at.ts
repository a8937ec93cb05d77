import type { RunErrorClass } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import { unlessErased } from "../chain/contents.ts";
import { type FailureRecord, headOf } from "../chain/head.ts";
import { failureOf, readChanges } from "../chain/position.ts";
import type { Changes } from "../context/context.ts";
import type { ChainStore, LinkId, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";

/** The outcome of one entry. Large values are references to blobs of its family. */
export interface OutcomeAt extends Changes {
  decision: string | null;
  error?: { class: RunErrorClass; failure: FailureRecord };
}

type Reads = Pick<Ports, "chain" | "blobs">;

/** A session asks for the same outcomes with every run. The caller has checked that their execution was not erased. */
const maxKept = 2_000;
const kept = new WeakMap<ChainStore, LRUCache<string, OutcomeAt>>();

/** Reads the outcome of an entry. Undefined if the entry is gone, or its contents were erased. */
export async function readOutcomeAt(ports: Reads, at: LinkId): Promise<OutcomeAt | undefined> {
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
  const { status, decision_result: decision, error_class } = headOf(entry);
  if (status === "failed") {
    const failure = await failureOf(entry, ports.blobs);
    return error_class && { set: [], delete: [], decision, error: { class: error_class, failure } };
  }
  const changes = "context" in entry.contents ? await unlessErased(() => readChanges(entry, ports.blobs)) : null;
  return changes ? { ...changes, decision } : undefined;
}
