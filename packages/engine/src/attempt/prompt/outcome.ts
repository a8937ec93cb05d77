import { defined, RawJson, renderJson, type TaskNode } from "@nova/workflow";
import { sumOfSpendings, unlessNothing } from "../../chain/spending.ts";
import { journalOf, replayedStep } from "../../chain/steps/step-record.ts";
import type { Ports } from "../../ports/index.ts";
import {
  type JournalStep,
  type Judgement,
  type PinnedAnalysis,
  type PipelineOutcome,
  pinnedPlaces,
} from "../../ports/pipeline.ts";
import type { CodeResult } from "../../ports/sandboxes.ts";
import type { HeldNode } from "../../protocol/definition.ts";
import {
  type FailedOutcome,
  failed,
  heldMs,
  type MoreFacts,
  type Outcome,
  type RunFacts,
} from "../../protocol/outcome.ts";
import type { Reason } from "../../protocol/settling.ts";
import { sha256 } from "../../sha256.ts";
import { judge, turnFacts } from "../judge.ts";
import type { NodeIo, Task } from "../task-input.ts";
import { earlierOf, type StepJournal } from "./journal.ts";

/** The outcome of a node by the result of its pipeline. A success is judged like that of code written by hand. */
export async function judgePipeline(
  task: Task,
  told: PipelineOutcome,
  journal: StepJournal,
  io: NodeIo,
  run: Omit<RunFacts, "code">,
): Promise<Outcome> {
  const code = (told.status === "failed" ? lastCode(journal.steps) : null) ?? told.code;
  const facts = { ...run, code: hashOf(code) };
  const outcome: Outcome =
    told.status === "success"
      ? await judge(task, told.result, io, facts)
      : failed(task, told, { logs: told.logs ?? "", executionTimeMs: journal.pinnedMs(pinnedPlaces.code), run: facts });
  const stepsMs = journal.steps.reduce((sum, { execution_time_ms }) => sum + execution_time_ms, 0);
  // The runs of pinned code have no step, so the entry itself counts their time.
  const hitMs = outcome.executionTimeMs + journal.pinnedMs(pinnedPlaces.analysis);
  const executionTimeMs = stepsMs + (told.cacheHit ? hitMs : 0);
  return { ...outcome, executionTimeMs, more: { ...outcome.more, ...moreOf(task, { ...told, code }, journal) } };
}

function moreOf(task: Task, told: PipelineOutcome, journal: StepJournal): MoreFacts {
  const { code, generation, cacheHit, analysis } = told;
  const { earlier } = journal;
  const spent = unlessNothing(sumOfSpendings([earlier.spent, ...journal.steps]));
  const contents = { ...codeContent(task, code), ...(analysis && analysisContents(task, analysis, journal)) };
  const facts = { steps: [...earlier.steps, ...journal.hashes], cacheHit, contents, spent };
  return defined({ ...facts, generation: generation ?? undefined, analysis: analysis && sha256(analysis.code) });
}

/** A model may write an empty text: that is code, too, and only null means that there is none. */
function hashOf(code: string | null): string | null {
  return code === null ? null : sha256(code);
}

/** The entry holds the code that a model wrote; code that the definition holds is named by its hash. */
export function codeContent({ node, version }: Pick<Task, "node" | "version">, code: string | null) {
  if (code === null || version.workflow.lock?.[node.id]?.code === code) return {};
  return { code };
}

/** The analysis before pinned code, and its findings, which no step records. */
function analysisContents({ node, version }: Task, { code, json }: PinnedAnalysis, journal: StepJournal) {
  const isLocked = version.workflow.lock?.[node.id]?.analysis === code;
  const executionMs = journal.pinnedMs(pinnedPlaces.analysis);
  return {
    ...(!isLocked && { analysis_code: code }),
    ...(json !== null && { analysis: renderJson({ result: new RawJson(json), execution_time_ms: executionMs }) }),
  };
}

/** Judges a result for the pipeline. */
export async function judgementOf(task: Task, result: CodeResult, io: NodeIo): Promise<Judgement> {
  const run: RunFacts = { attempt: 1, sandboxId: null, warm: null, code: null };
  const outcome = await judge(task, result, io, run);
  if (outcome.status === "success") return { status: "success", ...outcome.changes, decision: outcome.decision };
  const { class: name, failure, types } = outcome;
  return { status: "failed", class: name, ...failure, ...(types && { types }) };
}

/** The last code that a failed node wrote. Code of an analysis only looks at the data, so it does not count. */
export function lastCode(steps: readonly JournalStep[]): string | null {
  const written = steps.findLast(
    ({ generated_code, agent_name }) => generated_code !== null && agent_name !== "DataAnalyzer",
  );
  return written?.generated_code ?? null;
}

/** The failed outcome of a prompt node that was stopped, with the steps recorded so far. */
export async function stoppedOutcome(
  ports: Ports,
  held: HeldNode<TaskNode>,
  { reason, warm, logs }: { reason: Reason; warm: RunFacts["warm"]; logs: string },
): Promise<FailedOutcome> {
  const { turn, position } = held;
  const { before, at } = position;
  const all = await ports.chain.steps(at);
  const stored = journalOf(turn, all);
  const earlier = earlierOf(turn, all);
  const steps = await Promise.all(stored.map((step, i) => replayedStep(i + 1, step, before, ports.blobs)));
  const code = lastCode(steps);
  const spent = unlessNothing(sumOfSpendings([earlier.spent, ...steps]));
  return failed(held, reason, {
    logs,
    executionTimeMs: turn.due === undefined ? heldMs(ports, turn) : 0,
    run: { ...turnFacts(turn), warm, code: hashOf(code) },
    more: defined({
      steps: [...earlier.steps, ...stored.map(({ hash }) => hash)],
      generation: steps.length === 0 ? turn.generation : undefined,
      spent,
      contents: codeContent(held, code),
    }),
  });
}
