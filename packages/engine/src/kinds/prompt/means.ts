import type { PipelineMeans } from "../../ports/pipeline.ts";
import { keepWarm, promptBudgetSeconds } from "../task/sandbox-choice.ts";
import type { Task, TaskInput } from "../task/task.ts";
import { sandboxRuns } from "./execute.ts";
import type { JournalSite, StepJournal } from "./journal.ts";
import { judgementOf } from "./outcome.ts";
import { spentBesideUsd } from "./spent-beside.ts";
import { wholeValue } from "./whole-value.ts";

/** What the pipeline of a node may use, for one delivery. */
export function meansFor(
  site: JournalSite,
  task: Task,
  { input, overlay }: TaskInput,
  journal: StepJournal,
  delivery: { isFirst: boolean; signal: AbortSignal },
): PipelineMeans {
  const { ports, position, place, io } = site;
  const endMs = Date.parse(place.turn.since) + promptBudgetSeconds * 1000;
  const now = () => ports.clock.now();
  const source = { home: position.before, blobs: ports.blobs };
  return {
    journal: {
      next: (work) =>
        journal.next(async (at) => {
          await keepSandbox(site, task, (endMs - now()) / 1000);
          return work(at);
        }),
    },
    execute: sandboxRuns(site, task, input, journal, delivery, overlay),
    judge: (result) => judgementOf(task, result, io),
    valueText: (key, maxBytes) => wholeValue(input, key, maxBytes, source),
    spentBesideUsd: () => spentBesideUsd(ports, position.at),
    monthBudget: () => ports.budgets.ofMonth(position.before.client),
    // Steps that are repeated find the time as it was.
    timeLeftMs: () => endMs - (journal.nextRecordedMs ?? now()),
    signal: delivery.signal,
    now,
  };
}

/** A sandbox that was to live for one run of pinned code has to live longer once a model is asked. */
async function keepSandbox({ ports, place }: JournalSite, { node }: Task, seconds: number): Promise<void> {
  if (place.sandbox) place.sandbox = (await keepWarm(ports, place.sandbox, node, seconds)) ?? place.sandbox;
}
