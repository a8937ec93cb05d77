import type { Generation } from "@nova/engine";
import type { LockRecord } from "@nova/workflow";
import type { Recorded } from "../replay/recorded.ts";
import type { LockFolder } from "./folder.ts";

type Cost = Generation["cost"];
type AiMetadata = NonNullable<Recorded["entry"]["ai_metadata"]>;

/** What the code of a node has cost, and what it saves; money in US dollars. */
export interface NodeCosts {
  node: string;
  /** How often code was written for it with success; the same code again counts again. */
  generations: number;
  /** All of them, and the recorded runs that failed without leaving code behind. */
  written: Cost;
  /** What writing the code that runs now has cost: what each of its runs does not cost again. */
  savedPerRun: Cost;
  /** Runs that are recorded, and those of them that asked no model. */
  runs: number;
  hits: number;
  savedUsd: number;
  /** Runs without a model after which writing has paid for itself; null where it has cost nothing. */
  breakEvenRuns: number | null;
}

/** Of every prompt node that code was ever written for, or that ran. */
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
    return { node: id, runs: ran.length, hits, ...money };
  });
}

/** What a failed run has cost; nothing where its code is kept nevertheless, for somebody to look at, with that cost. */
function lossOf({ entry: { status, code_hash, ai_metadata } }: Recorded, kept: readonly Generation[]): Cost[] {
  if (status !== "failed" || !ai_metadata || kept.some(({ codeHash }) => codeHash === code_hash)) return [];
  return [costOf(ai_metadata)];
}

/** Runs whose models wrote this very code, but for the one that it is kept with: items of a map write side by side. */
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

/** Of what is not kept as a generation of its own. */
interface Besides {
  lost: readonly Cost[];
  again: readonly Cost[];
  hits: number;
}

function moneyOf(kept: readonly Generation[], locked: LockRecord | undefined, { lost, again, hits }: Besides) {
  const isKept = kept.some(({ key, codeHash }) => key === locked?.key && codeHash === locked.codeHash);
  const isNew = locked !== undefined && !isKept && locked.origin === "generated";
  const all: readonly Pick<Generation, "cost">[] = isNew ? [...kept, locked] : kept;
  const pinned = kept.filter(({ status }) => status === "pinned").sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  const savedPerRun = (locked ?? pinned[0])?.cost ?? nothing;
  const written = sumOf([...all.map(({ cost }) => cost), ...lost, ...again]);
  return {
    generations: all.length + again.length,
    written,
    savedPerRun,
    savedUsd: hits * savedPerRun.usd,
    breakEvenRuns: savedPerRun.usd > 0 ? Math.ceil(rounded(written.usd / savedPerRun.usd)) : null,
  };
}

const nothing: Cost = { usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 };

/** Sums of dollars and of each kind of tokens. */
export function sumOf(costs: readonly Cost[]): Cost {
  const names = Object.keys(nothing) as (keyof Cost)[];
  return Object.fromEntries(names.map((name) => [name, costs.reduce((all, cost) => all + cost[name], 0)])) as Cost;
}

/** 0.3 / 0.1 is a little less than 3, and 0.6 / 0.2 a little more. */
function rounded(ratio: number): number {
  return Number(ratio.toFixed(6));
}
