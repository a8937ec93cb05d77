import { type Member, maskValue, parseExact } from "@nova/workflow";
import { atOnce } from "../../at-once.ts";
import { contentText, sealContents } from "../../chain/entry.ts";
import { branchOf } from "../../chain/ids.ts";
import { spentSince } from "../../chain/spending.ts";
import { isPinnedPlace, noteNumber, type StepText } from "../../chain/step-record.ts";
import type { Context } from "../../context/context.ts";
import { wholeValue } from "../../context/references.ts";
import { chainBroken, NovaError } from "../../errors.ts";
import type { EntryId, StoredEntry, StoredStep, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { Judgement, PipelineMeans } from "../../ports/pipeline.ts";
import type { CodeResult, RunOutcome } from "../../ports/sandboxes.ts";
import { findOpenedFork, hasBegun, type OpenFork, opensFork, readTip } from "../../protocol/branches.ts";
import type { RunFacts } from "../../protocol/outcome.ts";
import { extendForNode, withoutPool } from "../../sandboxes/life.ts";
import { lifetimeOf, promptBudgetSeconds } from "../../sandboxes/spec.ts";
import { sha256 } from "../../sha256.ts";
import { allowedFor, networkOf, requestFor, timeLimit } from "../code.ts";
import { judge, secretProblem } from "../judge.ts";
import type { NodeIo, Task, TaskInput } from "../task-input.ts";
import { CodeLost, type JournalSite, type StepJournal, TurnLost } from "./journal.ts";

/**
 * Builds the functions that a delivery gives to the pipeline. `isFirst`: no earlier delivery has chosen a sandbox for
 * this turn.
 */
export function meansFor(site: JournalSite, found: TaskInput, journal: StepJournal, isFirst: boolean): PipelineMeans {
  const { ports, task, io } = site;
  const source = { home: task.position.before, blobs: ports.blobs };
  const common = commonMeans(site, journal);
  return {
    ...common,
    journal: {
      next: (work) =>
        journal.next(async (at) => {
          await extendSandbox(site, (endMsOf(site) - common.now()) / 1000);
          return work(at);
        }),
    },
    execute: sandboxRuns(site, found, journal, isFirst),
    judge: (result) => judgementOf(task, result, io),
    valueText: (key, maxBytes) => wholeValue(found.input, key, maxBytes, source),
  };
}

export function commonMeans(site: JournalSite, journal: StepJournal) {
  const { ports, time } = site;
  const { at, before } = site.task.position;
  const now = () => ports.clock.now();
  return {
    spentBesideUsd: () => spentBesideUsd(ports, at),
    monthBudget: () => ports.budgets.ofMonth(before.client),
    // For a replayed step, this is the time that was left when the step was recorded, so every delivery makes the same
    // decisions.
    timeLeftMs: () => endMsOf(site) - (journal.nextRecordedMs ?? now()),
    signal: time.signal,
    now,
  };
}

function endMsOf({ attempt }: JournalSite): number {
  return Date.parse(attempt.turn.since) + promptBudgetSeconds * 1000;
}

/**
 * Extends the life of a sandbox before a model is asked, because the sandbox may have been chosen only for a run of
 * pinned code.
 */
async function extendSandbox({ ports, task, attempt }: JournalSite, seconds: number): Promise<void> {
  const { sandbox } = attempt;
  if (sandbox) attempt.sandbox = (await extendForNode(ports, sandbox, task.node, seconds)) ?? sandbox;
}

/**
 * Returns the recorded cost of models, in US dollars, in all other branches and items of every fork around this scope.
 */
export async function spentBesideUsd(ports: Ports, { execution, scope }: Omit<EntryId, "seq">): Promise<number> {
  const place = branchOf(scope);
  if (!place) return 0;
  const { entry } = await ports.chain.read({ execution, scope: place.parent, seq: place.seq });
  const around = await spentBesideUsd(ports, { execution, scope: place.parent });
  return around + (entry ? await spentInBranches(ports, entry, scope) : 0);
}

async function spentInBranches(ports: Ports, fork: StoredEntry, except?: string): Promise<number> {
  const open = await findOpenedFork(ports, fork);
  const others = open?.branches.filter(({ scope }) => scope !== except) ?? [];
  return sum(await atOnce(others, ({ scope }) => spentIn(ports, open as OpenFork, scope)));
}

async function spentIn(ports: Ports, { entry, head }: OpenFork, scope: string): Promise<number> {
  const tip = await readTip(ports, head.execution_id, scope, entry);
  // The spending of a branch includes the spending before its fork. That part is subtracted here.
  const recorded = spentSince(head.spent, tip.head.spent).cost_usd;
  const underWay = tip.turn ? sum((await ports.chain.steps(tip.next)).map(costOf)) : 0;
  const inside = hasBegun(tip) && opensFork(tip.head) ? await spentInBranches(ports, tip.entry) : 0;
  return recorded + underWay + inside;
}

/** The cost of a stored step; 0 for notes, which are stored among the steps. */
function costOf({ text }: StoredStep): number {
  return (JSON.parse(text) as Partial<StepText>).cost_usd ?? 0;
}

function sum(usd: readonly number[]): number {
  return usd.reduce((all, one) => all + one, 0);
}

/**
 * Returns a function that runs code of the pipeline in the sandbox of the turn. Each step has a claim of its own, so
 * its code runs once.
 */
function sandboxRuns(
  site: JournalSite,
  { input, overlay, restartKey }: TaskInput,
  journal: StepJournal,
  isFirst: boolean,
): PipelineMeans["execute"] {
  const { ports, task, attempt, io, time } = site;
  const { id } = task.node;
  const allow = allowedFor(task, overlay) ?? [];
  const asked = new Set<number>();
  return async (step, written, { timeoutSeconds, extra = [], network }) => {
    if (asked.has(step)) throw new RangeError(`code of node "${id}" is to begin twice at place ${step} of its journal`);
    asked.add(step);
    const known = isPinnedPlace(step) ? await journal.pinnedRun(step) : null;
    if (known) return { ...known, code: written };
    const isAnalysis = network === false;
    const sandboxId = attempt.turn.sandbox as string;
    const code = await codeToBegin(site, journal, step, written);
    const context = withKeys(input, extra);
    const run = { step, code, fileName: `${id}.py`, timeoutSeconds };
    const request = requestFor(
      { ...task, restartKey },
      attempt.turn,
      { ...run, ...networkOf(isAnalysis ? [] : allow, attempt.turn) },
      context,
      io,
    );
    const limit = codeLimit(ports, attempt.turn, timeoutSeconds);
    if (limit.aborted) throw new CodeLost(step, timeoutSeconds);
    const outcome = await ports.sandboxes.run(sandboxId, request, io, {
      first: isFirst,
      turnWritten: attempt.turnWritten,
      lifetimeSeconds: lifetimeOf(timeoutSeconds),
      signal: AbortSignal.any([time.signal, limit]),
    });
    if (outcome.kind === "unfinished" && limit.aborted) throw new CodeLost(step, timeoutSeconds);
    const { isUnfit, ...raw } = resultOf(outcome, id, step);
    if (isUnfit) attempt.sandbox = withoutPool(attempt.sandbox);
    const result = confinedResult(withoutKeys(raw, extra), io, { isAnalysis });
    journal.ran(step, result);
    return { sandboxId, result, code };
  };
}

/**
 * Limits the time of a run of code: each delivery may use the whole timeout of the code, and all deliveries together
 * may use the time budget of the node.
 */
function codeLimit(ports: Ports, { since }: Turn, timeoutSeconds: number): AbortSignal {
  const now = new Date(ports.clock.now()).toISOString();
  return AbortSignal.any([timeLimit(ports, since, promptBudgetSeconds), timeLimit(ports, now, timeoutSeconds)]);
}

function resultOf(outcome: RunOutcome, node: string, step: number): CodeResult {
  switch (outcome.kind) {
    case "finished":
      return outcome.result;
    case "gone":
      throw new CodeLost(step);
    case "refused":
    case "tombstoned":
      throw new TurnLost();
    case "unfinished":
      throw new NovaError("NodeUnfinished", `code of node "${node}" still runs; the next delivery attaches to it`);
  }
}

function withKeys(input: Context, extra: readonly Member[]): Member[] {
  const keys = new Set(extra.map(({ key }) => key));
  return [...input.slots().filter(({ key }) => !keys.has(key)), ...extra];
}

function withoutKeys(result: CodeResult, extra: readonly Member[]): CodeResult {
  if (result.status === "error" || extra.length === 0) return result;
  const keys = new Set(extra.map(({ key }) => key));
  return {
    ...result,
    set: result.set.filter(({ key }) => !keys.has(key)),
    delete: result.delete.filter((key) => !keys.has(key)),
  };
}

/**
 * Returns the code that runs for a step with this number: the code of the recorded step. If there is none, returns the
 * code that the first delivery noted before the run.
 */
async function codeToBegin(site: JournalSite, journal: StepJournal, place: number, code: string): Promise<string> {
  if (isPinnedPlace(place) || journal.hasCode(code)) return code;
  const { ports, task, attempt } = site;
  const { at, before } = task.position;
  const step = noteNumber(attempt.turn, place);
  const read = ({ contents }: StoredStep) =>
    contents?.code ? contentText(contents.code, before, ports.blobs) : Promise.resolve(code);
  const known = journal.noteAt(place);
  if (known) return read(known);
  const { contents, digests } = await sealContents({ code }, before, ports.blobs);
  const text = JSON.stringify({ format: 1, begins_at: place, digests });
  if (await ports.chain.putStep(at, { step, text, hash: sha256(text), contents })) return code;
  const winner = (await ports.chain.steps(at)).find((stored) => stored.step === step);
  if (winner) return read(winner);
  throw chainBroken(`link ${at.seq} of ${at.execution} refuses the note of step ${place} and has none`);
}

/**
 * Removes secrets from a result before models and steps see it. In logs, errors and the result of an analysis, it masks
 * them. If any other code sets a secret, it returns a failed result.
 */
export function confinedResult(raw: CodeResult, io: NodeIo, { isAnalysis }: { isAnalysis: boolean }): CodeResult {
  const result = io.withoutOverlay(raw);
  const logs = io.maskLogs(result.logs);
  if (result.status === "error") {
    return { ...result, logs, message: io.mask(result.message), traceback: io.mask(result.traceback) };
  }
  if (isAnalysis) return { ...result, logs, set: result.set.map((one) => maskedMember(one, io)) };
  const problem = secretProblem(result.set, io);
  if (problem === undefined) return { ...result, logs };
  const { durationMs } = result;
  return { status: "error", class: "NodeFailed", message: io.mask(problem), traceback: "", logs, durationMs };
}

function maskedMember({ key, json }: { key: string; json: string }, io: NodeIo) {
  const mask = (text: string) => io.mask(text);
  return { key: mask(key), json: mask(json) === json ? json : JSON.stringify(maskValue(parseExact(json), mask)) };
}

async function judgementOf(task: Task, result: CodeResult, io: NodeIo): Promise<Judgement> {
  const run: RunFacts = { attempt: 1, sandboxId: null, warm: null, code: null };
  const outcome = await judge(task, result, io, run);
  if (outcome.status === "success") return { status: "success", ...outcome.changes, decision: outcome.decision };
  const { class: name, failure, types } = outcome;
  return { status: "failed", class: name, ...failure, ...(types && { types }) };
}
