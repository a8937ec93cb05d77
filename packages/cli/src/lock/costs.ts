import type { Generation } from "@nova/engine";
import type { LockRecord } from "@nova/workflow";
import type { Recorded } from "../api/recorded.ts";
import type { LockFolder } from "./folder.ts";

type Cost = Generation["cost"];
type AiMetadata = NonNullable<Recorded["entry"]["ai_metadata"]>;

/** The cost of writing a node's code, and how much the runs of this code have saved, in US dollars. */
export interface NodeCosts {
  node: string;
  generations: number;
  /** The cost of all generations of code, and of the recorded runs that failed and left no code. */
  written: Cost;
  /** The cost of writing the current code, which each run with this code saves. */
  saved_per_run: Cost;
  /** The number of recorded runs. `hits` is the number of those runs that used no model. */
  runs: number;
  hits: number;
  saved_usd: number;
  /**
   * The number of runs without a model after which the savings equal the cost of writing the code; null if writing the
   * current code cost nothing.
   */
  break_even_runs: number | null;
}

/** Returns the costs of every prompt node. */
export function costsOf(
  { prompts, entries }: LockFolder,
  generations: readonly Generation[],
  runs: readonly Recorded[],
): NodeCosts[] {
  return prompts.map(({ node: { id } }) => {
    const ran = runs.filter(({ entry }) => entry.node_id === id);
    const hits = ran.filter(({ entry }) => entry.ai_metadata?.cache_hit).length;
    const kept = generations.filter((one) => one.node === id && one.origin === "generated");
    const again = kept.flatMap((one) => writtenAgain(one, ran));
    const money = moneyOf(kept, entries[id]?.record, { lost: ran.flatMap((run) => lossOf(run, kept)), again, hits });
    return { node: id, ...money, runs: ran.length, hits };
  });
}

/**
 * Returns the cost of a failed run. Returns no cost if NOVA kept the code of the run for review, because the record of
 * this code already contains the cost.
 */
function lossOf({ entry: { status, code_hash, ai_metadata } }: Recorded, kept: readonly Generation[]): Cost[] {
  if (status !== "failed" || !ai_metadata || kept.some(({ codeHash }) => codeHash === code_hash)) return [];
  return [costOf(ai_metadata)];
}

/**
 * Returns the costs of further runs that wrote the same code, for example parallel items of a map. The record of the
 * generation contains only the cost of the first of these runs.
 */
function writtenAgain({ codeHash, cost }: Generation, ran: readonly Recorded[]): Cost[] {
  const costs = ran.flatMap(({ entry: { status, code_hash, ai_metadata } }): Cost[] => {
    const isOther = status !== "success" || code_hash !== codeHash || !ai_metadata || ai_metadata.cache_hit;
    return isOther ? [] : [costOf(ai_metadata)];
  });
  const isOwn = ({ usd, tokens_input }: Cost) =>
    rounded(usd) === rounded(cost.usd) && tokens_input === cost.tokens_input;
  const first = costs.findLastIndex(isOwn);
  return costs.filter((_, index) => index !== (first < 0 ? costs.length - 1 : first));
}

function costOf({ cost_usd, tokens_input, tokens_cached, tokens_output }: AiMetadata): Cost {
  return { usd: cost_usd, tokens_input, tokens_cached, tokens_output };
}

interface UnstoredCosts {
  lost: readonly Cost[];
  again: readonly Cost[];
  hits: number;
}

function moneyOf(kept: readonly Generation[], locked: LockRecord | undefined, { lost, again, hits }: UnstoredCosts) {
  const isKept = kept.some(({ key, codeHash }) => key === locked?.key && codeHash === locked.codeHash);
  const isNew = locked !== undefined && !isKept && locked.origin === "generated";
  const all: readonly Pick<Generation, "cost">[] = isNew ? [...kept, locked] : kept;
  const pinned = kept.filter(({ status }) => status === "pinned").sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  const saved_per_run = (locked ?? pinned[0])?.cost ?? nothing;
  const written = sumOf([...all.map(({ cost }) => cost), ...lost, ...again]);
  return {
    generations: all.length + again.length,
    written,
    saved_per_run,
    saved_usd: hits * saved_per_run.usd,
    break_even_runs: saved_per_run.usd > 0 ? Math.ceil(rounded(written.usd / saved_per_run.usd)) : null,
  };
}

const nothing: Cost = { usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 };

/** Adds dollars and each kind of tokens. */
export function sumOf(costs: readonly Cost[]): Cost {
  const names = Object.keys(nothing) as (keyof Cost)[];
  return Object.fromEntries(names.map((name) => [name, costs.reduce((all, cost) => all + cost[name], 0)])) as Cost;
}

/** Removes floating point errors by rounding. Without rounding, 0.3 / 0.1 is slightly below 3. */
function rounded(ratio: number): number {
  return Number(ratio.toFixed(6));
}
