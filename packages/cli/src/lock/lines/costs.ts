import { tableLines } from "../../output/table.ts";
import type { NodeCosts } from "../costs.ts";

/** What code has cost and saves, as a table. */
export function costLines(costs: readonly NodeCosts[]): string[] {
  if (costs.length === 0) return ["no node has a prompt: there is nothing to write, and nothing to save"];
  const header = [
    "node",
    "written",
    "cost",
    "a run saves",
    "tokens",
    "runs",
    "without model",
    "saved",
    "pays off after",
  ];
  const spent = costs.reduce((all, { written }) => all + written.usd, 0);
  const saved = costs.reduce((all, { savedUsd }) => all + savedUsd, 0);
  return [...tableLines(header, costs.map(rowOf)), `written for ${dollars(spent)}, saved ${dollars(saved)}`];
}

function rowOf({ node, generations, written, savedPerRun, runs, hits, savedUsd, breakEvenRuns }: NodeCosts): string[] {
  const tokens = savedPerRun.tokens_input + savedPerRun.tokens_output;
  const after = breakEvenRuns === null ? "-" : `${breakEvenRuns} runs${hits >= breakEvenRuns ? " (it has)" : ""}`;
  return [
    ...[node, `${generations}×`, dollars(written.usd), dollars(savedPerRun.usd), String(tokens)],
    ...[String(runs), String(hits), dollars(savedUsd), after],
  ];
}

function dollars(usd: number): string {
  return `$${usd.toFixed(4)}`;
}
