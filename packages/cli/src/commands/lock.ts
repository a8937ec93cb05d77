import { userInfo } from "node:os";
import { changeText, currentGenerator } from "@nova/agents";
import { formatUsd } from "@nova/client";
import { analysisFileOf, codeFileOf, type LockRecord, lockFileName } from "@nova/workflow";
import { shellWord } from "@nova/workflow/shell-word";
import { askApi, readCount } from "../api/ask.ts";
import { readGenerations } from "../api/recorded.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { costsOf, type NodeCosts, sumOf } from "../lock/costs.ts";
import {
  type LockFolder,
  type LockState,
  lockStates,
  type NodeState,
  readLockFolder,
  selectPrompts,
  writeLock,
  writeLockFile,
} from "../lock/folder.ts";
import { latestRuns, type PlanAction, type Planned, planLock, plannedCode, readSources } from "../lock/plan.ts";
import { proveFolder } from "../lock/prove.ts";
import { type CommandOutput, styled } from "../output/terminal.ts";
import { type ListShape, tableOf } from "../output/text.ts";
import { command } from "./command.ts";

export const lock = command({
  summary: "store the code that models wrote with the workflow, and report its state",
  takes: {
    "<folder|approve>": "folder with workflow.json or workflow.ts; or the word approve, then folder and node",
    "[folder|node]": "with --prove: the only node to prove",
    "[node]": "with approve: the node whose code is approved",
    "--from <execution_id>": "lock the code of this execution; absent: the latest code",
    "--check": "list nodes that are not locked or have changed; exit 1 if there is one",
    "--prove <n>": "run the code over the last n recorded inputs, without network and credentials",
    "--costs": "print the cost of writing the code, and its savings",
    "--as <who>": "with approve: the name of the person who approves; absent: the user of this machine",
  },

  async run([path = "", second, third], { from, check, prove, costs, as: by = userInfo().username }) {
    if (path === "approve") {
      if (second !== undefined && third !== undefined) return approveNode(second, third, by);
      throw new InvalidInput("nova lock approve needs a folder and a node: nova lock approve <folder> <node>");
    }
    const [one, two] = Object.entries({ check, costs, prove }).flatMap(([name, asked]) => (asked ? [name] : []));
    if (two !== undefined) throw new InvalidInput(`--${one} and --${two} exclude each other - leave one out`);
    if (check) return checkFolder(path);
    if (costs) return showCosts(path);
    if (prove === undefined) return lockFolder(path, from);
    return proveFolder({ path, from, node: second, count: readCount("--prove", prove) });
  },
});

/**
 * Locks the recorded code of prompt nodes, and the user's edits of locked code. `from` names the execution whose code
 * the command locks. If `from` is undefined, the command locks the code of the latest executions.
 */
export async function lockFolder(path: string, from: string | undefined): Promise<CommandOutput> {
  const folder = await readLockFolder(path);
  const planned = await askApi(async (nova) => planLock(folder, await readSources(nova, folder, from)));
  const { removed } = await writeLock(folder, plannedCode(planned));
  return {
    json: { lock_file: lockFileName, nodes: planned.map(plannedItem), removed },
    text: lockLines(planned, removed, folder.workflow.approval),
  };
}

function plannedItem({ node, action, locked }: Planned) {
  if (!locked) return { node, action };
  const { key, codeHash, analysisHash, origin, model, cost, createdAt, provenBy, approved } = locked;
  const analysis = { analysis_file: analysisFileOf(node), analysis_hash: analysisHash };
  return {
    node,
    action,
    file: codeFileOf(node),
    key,
    code_hash: codeHash,
    origin,
    model,
    ...(analysisHash !== undefined && analysis),
    cost_usd: cost.usd,
    created_at: createdAt,
    proven_by: provenBy ?? null,
    approved: approved ?? null,
  };
}

/**
 * Reports for every prompt node whether its code is locked, and what has changed since the code was locked. Reads only
 * the folder.
 */
export async function checkFolder(path: string): Promise<CommandOutput> {
  const states = lockStates(await readLockFolder(path), currentGenerator);
  const valid = states.every(({ state }) => state === "locked");
  return {
    json: { valid, nodes: states.map(({ node, state, changes }) => ({ node, state, changed: changes })) },
    text: checkLines(states, path),
    code: valid ? exitCodes.completed : exitCodes.failed,
  };
}

/** Marks the code of a node as approved in the lock file. */
export async function approveNode(path: string, node: string, by: string): Promise<CommandOutput> {
  const folder = await readLockFolder(path);
  const approved = { by, at: new Date().toISOString() };
  const records = approveLocked(folder, node, approved);
  await writeLockFile(folder, records);
  const { codeHash, analysisHash } = records[node] as LockRecord;
  const files = [codeFileOf(node), ...(analysisHash === undefined ? [] : [analysisFileOf(node)])].join(" and ");
  return { json: { node, code_hash: codeHash, approved }, text: `${node}: ${files} approved by ${by}` };
}

/**
 * Returns the lock records, with the code of one node marked as approved. Throws `InvalidInput` if the node has no code
 * to approve.
 */
export function approveLocked(
  folder: LockFolder,
  id: string,
  approved: NonNullable<LockRecord["approved"]>,
): Record<string, LockRecord> {
  selectPrompts(folder, id);
  const entry = folder.entries[id];
  const file = entry && "file" in entry ? entry.file : codeFileOf(id);
  const wayOut = `run nova lock ${shellWord(folder.path)}, review ${file}, then approve it`;
  if (!entry) throw new InvalidInput(`node "${id}" has no locked code yet - ${wayOut}`);
  if (entry.state === "missing") throw new InvalidInput(`${file} does not exist - ${wayOut}`);
  if (entry.state === "edited") throw new InvalidInput(`${file} was edited since it was locked - ${wayOut}`);
  const records = Object.entries(folder.entries).map(([node, { record }]) => [node, record] as const);
  return { ...Object.fromEntries(records), [id]: { ...entry.record, approved } };
}

/** Reports for each node how much the writing of its code cost, and how much the runs with this code have saved. */
export async function showCosts(path: string): Promise<CommandOutput> {
  const folder = await readLockFolder(path);
  const { id } = folder.workflow;
  const costs = await askApi(async (nova) => {
    const runs = await Array.fromAsync(latestRuns(nova, id, { max: 100, full: false }));
    return costsOf(folder, await readGenerations(nova, id), runs);
  });
  const written = spending(sumOf(costs.map((one) => one.written)));
  const saved = costs.reduce((all, { saved_usd }) => all + saved_usd, 0);
  return { json: { nodes: costs.map(costItem), written, saved_usd: saved }, text: costLines(costs) };
}

function costItem(costs: NodeCosts) {
  const { written, saved_per_run, hits, break_even_runs } = costs;
  return {
    ...costs,
    written: spending(written),
    saved_per_run: spending(saved_per_run),
    paid_off: break_even_runs !== null && hits >= break_even_runs,
  };
}

function spending({ usd, ...tokens }: NodeCosts["written"]) {
  return { cost_usd: usd, ...tokens };
}

/** Formats costs and savings as a table. */
export function costLines(costs: readonly NodeCosts[]): string[] {
  if (costs.length === 0) return ["no node has a prompt, so no code has a cost"];
  const spent = costs.reduce((all, { written }) => all + written.usd, 0);
  const saved = costs.reduce((all, { saved_usd }) => all + saved_usd, 0);
  return [...tableOf(costs, costColumns), `written for ${formatUsd(spent)}, saved ${formatUsd(saved)}`];
}

const costColumns: ListShape<NodeCosts>["columns"] = {
  node: "node",
  written: ({ generations }) => `${generations}×`,
  cost: ({ written }) => formatUsd(written.usd),
  "a run saves": ({ saved_per_run }) => formatUsd(saved_per_run.usd),
  tokens: ({ saved_per_run }) => String(saved_per_run.tokens_input + saved_per_run.tokens_output),
  runs: "runs",
  "without model": "hits",
  saved: ({ saved_usd }) => formatUsd(saved_usd),
  "pays off after": ({ hits, break_even_runs: runs }) =>
    runs === null ? "-" : `${runs} runs${hits >= runs ? " (reached)" : ""}`,
};

const actionTexts: Record<PlanAction, string> = {
  added: "locked",
  updated: "locked again",
  edited: "your edit is locked now",
  restored: "its file is restored",
  unchanged: "unchanged",
  none: "no code for the current definition of the node - run it with a model, then lock again",
};

/** Describes the result of `nova lock`. */
export function lockLines(planned: readonly Planned[], removed: readonly string[], approval?: "required"): string[] {
  if (planned.length === 0 && removed.length === 0) return ["no node has a prompt, so no code can be locked"];
  return [
    ...planned.flatMap(({ node, action, locked }) => [
      `${styled(action === "none" ? "yellow" : "green", node)}: ${actionTexts[action]}`,
      ...(locked ? [styled("dim", `  ${codeFileOf(node)}${originText(locked)}`)] : []),
      ...(locked && approval && !locked.approved ? ["  it is not approved: review it, then nova lock approve"] : []),
    ]),
    ...removed.map((node) => `${node}: removed from the lock`),
  ];
}

function originText({ origin, model, cost, provenBy }: NonNullable<Planned["locked"]>): string {
  const writer = origin === "edited" ? "edited by hand" : `written by ${model} for ${formatUsd(cost.usd)}`;
  return `, ${writer}${provenBy === undefined ? "" : `, proven by ${provenBy}`}`;
}

const meanings: Record<LockState, string> = {
  locked: "locked",
  unlocked: "has no locked code - run it with a model, then nova lock",
  missing: "its code file is gone - take it from version control, or nova lock",
  edited: "its code was edited by hand - nova lock locks the edit",
  stale: "its code was written for another definition",
  unapproved: "its code is not approved - review it, then nova lock approve",
  stranger: "is no longer a prompt node - nova lock removes it",
};

/** Describes the result of `nova lock --check`. */
export function checkLines(states: readonly NodeState[], path: string): string[] {
  const wrong = states.filter(({ state }) => state !== "locked").length;
  const all =
    wrong === 0
      ? `the code of every prompt node of ${path} is locked`
      : `${wrong} of ${states.length} nodes cannot run frozen now`;
  return [...states.map(stateLine), all];
}

function stateLine({ node, state, changes }: NodeState): string {
  const since = state === "stale" ? `, changed since: ${changes.map(changeText).join(", ") || "its key"}` : "";
  const mark = state === "locked" ? styled("green", "✓") : styled("red", "✗");
  return `${mark} ${styled("bold", node)} ${meanings[state]}${since}`;
}
