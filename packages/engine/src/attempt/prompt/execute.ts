import { type Member, maskValue, parseExact } from "@nova/workflow";
import { contentText, sealContents } from "../../chain/contents.ts";
import { isPinnedPlace, noteNumber } from "../../chain/steps/step-record.ts";
import type { Context } from "../../context/context.ts";
import { chainBroken, NovaError } from "../../errors.ts";
import type { StoredStep, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { PipelineMeans } from "../../ports/pipeline.ts";
import type { CodeResult, RunOutcome } from "../../ports/sandboxes.ts";
import { withoutPool } from "../../sandboxes/life.ts";
import { lifetimeOf, promptBudgetSeconds } from "../../sandboxes/spec.ts";
import { sha256 } from "../../sha256.ts";
import { allowedFor } from "../acquire.ts";
import { networkOf, requestFor, timeLimit } from "../code-run.ts";
import { secretProblem } from "../judge.ts";
import type { NodeIo, Task, TaskInput } from "../task-input.ts";
import { CodeLost, type JournalSite, type StepJournal, TurnLost } from "./journal.ts";

/** Runs code of a pipeline in the turn's sandbox, under the claim of its journal place, once. */
export function sandboxRuns(
  site: JournalSite,
  task: Task,
  { input, overlay, restartKey }: TaskInput,
  journal: StepJournal,
  { isFirst, signal }: { isFirst: boolean; signal: AbortSignal },
): PipelineMeans["execute"] {
  const { ports, attempt, io } = site;
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
    const context = overlaid(input, extra);
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
      signal: AbortSignal.any([signal, limit]),
    });
    if (outcome.kind === "unfinished" && limit.aborted) throw new CodeLost(step, timeoutSeconds);
    const { isUnfit, ...told } = finished(outcome, id, step);
    if (isUnfit) attempt.sandbox = withoutPool(attempt.sandbox);
    const result = confinedResult(without(told, extra), io, { isAnalysis });
    journal.ran(step, result);
    return { sandboxId, result, code };
  };
}

/** Code has its own time in each delivery, and all of the node's deliveries have the node's budget. */
function codeLimit(ports: Ports, { since }: Turn, timeoutSeconds: number): AbortSignal {
  const now = new Date(ports.clock.now()).toISOString();
  return AbortSignal.any([timeLimit(ports, since, promptBudgetSeconds), timeLimit(ports, now, timeoutSeconds)]);
}

function finished(outcome: RunOutcome, node: string, step: number): CodeResult {
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

function overlaid(input: Context, extra: readonly Member[]): Member[] {
  const keys = new Set(extra.map(({ key }) => key));
  return [...input.slots().filter(({ key }) => !keys.has(key)), ...extra];
}

function without(result: CodeResult, extra: readonly Member[]): CodeResult {
  if (result.status === "error" || extra.length === 0) return result;
  const keys = new Set(extra.map(({ key }) => key));
  return {
    ...result,
    set: result.set.filter(({ key }) => !keys.has(key)),
    delete: result.delete.filter((key) => !keys.has(key)),
  };
}

/** The code that begins at a place: a recorded step's, else that of the delivery which noted it first. */
export async function codeToBegin(
  { ports, position, attempt: { turn } }: JournalSite,
  journal: StepJournal,
  place: number,
  code: string,
): Promise<string> {
  if (isPinnedPlace(place) || journal.hasCode(code)) return code;
  const { at, before } = position;
  const step = noteNumber(turn, place);
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

/** A result as models and steps may see it. Setting a secret fails; what an analysis found is masked. */
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
