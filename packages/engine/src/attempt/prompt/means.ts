import { atOnce } from "../../at-once.ts";
import { branchOf } from "../../chain/scope.ts";
import { spentSince } from "../../chain/spending.ts";
import type { StepText } from "../../chain/steps/step-record.ts";
import { wholeValue } from "../../context/whole-value.ts";
import type { LinkId, StoredEntry, StoredStep } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { PipelineMeans } from "../../ports/pipeline.ts";
import { findOpenedFork, hasBegun, type OpenFork, opensFork, readTip } from "../../protocol/branches.ts";
import { extendForNode } from "../../sandboxes/life.ts";
import { promptBudgetSeconds } from "../../sandboxes/spec.ts";
import type { Task, TaskInput } from "../task-input.ts";
import { sandboxRuns } from "./execute.ts";
import type { JournalSite, StepJournal } from "./journal.ts";
import { judgementOf } from "./outcome.ts";

/** The functions that the pipeline of a node may use in one delivery. */
export function meansFor(
  site: JournalSite,
  task: Task,
  found: TaskInput,
  journal: StepJournal,
  delivery: { isFirst: boolean; signal: AbortSignal },
): PipelineMeans {
  const { ports, position, io } = site;
  const { input } = found;
  const source = { home: position.before, blobs: ports.blobs };
  const common = commonMeans(site, journal, delivery.signal);
  return {
    ...common,
    journal: {
      next: (work) =>
        journal.next(async (at) => {
          await extendSandbox(site, task, (endMsOf(site) - common.now()) / 1000);
          return work(at);
        }),
    },
    execute: sandboxRuns(site, task, found, journal, delivery),
    judge: (result) => judgementOf(task, result, io),
    valueText: (key, maxBytes) => wholeValue(input, key, maxBytes, source),
  };
}

/** The functions that every pipeline with models may use. */
export function commonMeans(site: JournalSite, journal: StepJournal, signal: AbortSignal) {
  const { ports, position } = site;
  const now = () => ports.clock.now();
  return {
    spentBesideUsd: () => spentBesideUsd(ports, position.at),
    monthBudget: () => ports.budgets.ofMonth(position.before.client),
    // A repeated step finds the time at which it was recorded.
    timeLeftMs: () => endMsOf(site) - (journal.nextRecordedMs ?? now()),
    signal,
    now,
  };
}

function endMsOf({ attempt }: JournalSite): number {
  return Date.parse(attempt.turn.since) + promptBudgetSeconds * 1000;
}

/** A sandbox that was to live for one run of pinned code has to live longer once a model is asked. */
async function extendSandbox({ ports, attempt }: JournalSite, { node }: Task, seconds: number): Promise<void> {
  const { sandbox } = attempt;
  if (sandbox) attempt.sandbox = (await extendForNode(ports, sandbox, node, seconds)) ?? sandbox;
}

/** US dollars that models have cost in branches and items beside a place, as far as it is recorded. */
export async function spentBesideUsd(ports: Ports, { execution, scope }: Omit<LinkId, "seq">): Promise<number> {
  const place = branchOf(scope);
  if (!place) return 0;
  const { entry } = await ports.chain.read({ execution, scope: place.parent, seq: place.seq });
  const around = await spentBesideUsd(ports, { execution, scope: place.parent });
  return around + (entry ? await spentInBranches(ports, entry, scope) : 0);
}

/** In the branches of a fork, `except` that one. */
async function spentInBranches(ports: Ports, fork: StoredEntry, except?: string): Promise<number> {
  const open = await findOpenedFork(ports, fork);
  const others = open?.branches.filter(({ scope }) => scope !== except) ?? [];
  return sum(await atOnce(others, ({ scope }) => spentIn(ports, open as OpenFork, scope)));
}

async function spentIn(ports: Ports, { entry, head }: OpenFork, scope: string): Promise<number> {
  const tip = await readTip(ports, head.execution_id, scope, entry);
  // A branch continues the sum of its fork.
  const recorded = spentSince(head.spent, tip.head.spent).cost_usd;
  const underWay = tip.turn ? sum((await ports.chain.steps(tip.next)).map(costOf)) : 0;
  const inside = hasBegun(tip) && opensFork(tip.head) ? await spentInBranches(ports, tip.entry) : 0;
  return recorded + underWay + inside;
}

/** Notes beside the steps cost nothing. */
function costOf({ text }: StoredStep): number {
  return (JSON.parse(text) as Partial<StepText>).cost_usd ?? 0;
}

function sum(usd: readonly number[]): number {
  return usd.reduce((all, one) => all + one, 0);
}
