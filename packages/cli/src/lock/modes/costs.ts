import { askApi } from "../../api/ask.ts";
import { readGenerations } from "../../api/recorded.ts";
import { type ExitCode, exitCodes } from "../../errors.ts";
import { tableLines } from "../../output/table.ts";
import { print } from "../../output/terminal.ts";
import { costsOf, type NodeCosts, sum } from "../costs.ts";
import { readLockFolder } from "../folder.ts";
import { latestRuns } from "../recorded.ts";

/** What writing the code has cost, node by node, and what its runs save. */
export async function showCosts({ path, json }: { path: string; json: boolean }): Promise<ExitCode> {
  const folder = await readLockFolder(path);
  const costs = await askApi(async (nova) => {
    const { id } = folder.workflow;
    const runs = await Array.fromAsync(latestRuns(nova, id, { max: 100, full: false }));
    return costsOf(folder, await readGenerations(nova, id), runs);
  });
  print(json ? JSON.stringify(resultOf(costs)) : costLines(costs).join("\n"), json);
  return exitCodes.completed;
}

function resultOf(costs: readonly NodeCosts[]) {
  const written = costs
    .map((one) => one.written)
    .reduce(sum, { usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 });
  const saved = costs.reduce((all, { savedUsd }) => all + savedUsd, 0);
  return { nodes: costs.map(itemOf), written: spending(written), saved_usd: saved };
}

function itemOf({ node, generations, written, savedPerRun, runs, hits, savedUsd, breakEvenRuns }: NodeCosts) {
  return {
    ...{ node, generations, written: spending(written), saved_per_run: spending(savedPerRun) },
    ...{ runs, hits, saved_usd: savedUsd, break_even_runs: breakEvenRuns },
    paid_off: breakEvenRuns !== null && hits >= breakEvenRuns,
  };
}

function spending({ usd, ...tokens }: NodeCosts["written"]) {
  return { cost_usd: usd, ...tokens };
}

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
