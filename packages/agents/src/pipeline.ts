import type { GenerationStore, PinnedCode, Pipeline, PipelineOutcome } from "@nova/engine";
import { maskValue, pinnedPlaces } from "@nova/engine";
import { defined } from "@nova/workflow";
import { analysisSeconds, analyzeData, analyzeInput, runAnalysisCode } from "./agents/analyzers.ts";
import { type GeneratedCode, generateCode } from "./agents/code-generator.ts";
import type { ExecutionEnd, SuccessfulRun } from "./agents/code-runner.ts";
import { executeAndJudge, runCode, stepResultOf, validateCode } from "./agents/code-runner.ts";
import type { Analysis, NodeRun, PipelineParts } from "./agents/node-run.ts";
import { beginRun, contextForRecord, takeStep } from "./agents/node-run.ts";
import { flawOf, validateOutput } from "./agents/output-validator.ts";
import { answerText, converse } from "./agents/text-writer.ts";
import { checkCode, readsOf } from "./check/within-time.ts";
import { done, type Ending, ended, endingOf, type Failure, type Result, tracesOf } from "./failures/failure.ts";
import { TemplateDocumentation } from "./knowledge/documentation.ts";
import { guidesFor } from "./knowledge/guides.ts";
import { currentGenerator, needsAnalysis } from "./lock/ingredients.ts";
import { createPinnedCodes } from "./lock/pinned-codes.ts";
import { earlierExamples } from "./precedents/closest-examples.ts";

/**
 * Makes the pipeline of prompt nodes. All its decisions follow from the task and the recorded steps, so a second
 * delivery reuses the recorded steps and continues after them.
 */
export function pipelineOf(parts: PipelineParts): Pipeline {
  return {
    pinned: (task) => parts.pinned.choose(task),
    generation: (task, key) => parts.pinned.find(task, key),
    async run(task, means, pinned) {
      const run = beginRun(task, means, parts);
      if (pinned) {
        const outcome = await runPinnedCode(run, pinned);
        if (outcome) return outcome;
      } else if (!canWriteCode(run)) {
        return failed(run, await explainOrPropose(run));
      }
      return writeAndRun(run);
    },
    answer: (task, means) => answerText(parts, task, means),
    converse: (task, means) => converse(parts, task, means),
  };
}

async function writeAndRun(run: NodeRun): Promise<PipelineOutcome> {
  const input = await analyzeInput(run);
  if (input.kind === "ended") return failed(run, input.ending);
  if (input.kind === "done" && input.value.needs_analysis) {
    const data = await analyzeData(run);
    if (data.kind === "ended") return failed(run, data.ending);
    if (data.kind === "done") run.analysis = data.value;
  }
  const end = await attemptTask(run);
  return "ending" in end ? failed(run, end.ending) : succeeded(run, end.value);
}

async function succeeded(run: NodeRun, { result, sandboxId, written }: Success): Promise<PipelineOutcome> {
  const { code, guides, model } = written;
  const { task, spent: cost, parts, recall } = run;
  const analysis = needsAnalysis(code) ? run.analysis?.code : undefined;
  const proven = defined({ code, guides, model, cost, analysis, embedding: recall?.embedding });
  const generation = await parts.pinned.keep(task, proven);
  return { status: "success", code, cacheHit: false, generation, result, sandboxId };
}

function failed({ code, sandboxId }: NodeRun, ending: Ending): PipelineOutcome {
  return { status: "failed", code, cacheHit: false, generation: null, sandboxId, ...ending };
}

/** Ends a node without approved code. If a model may be asked, it proposes code, but NOVA does not run this code. */
async function explainOrPropose(run: NodeRun): Promise<Ending> {
  const { task, parts } = run;
  const { message, waits } = await parts.pinned.missing(task);
  return task.frozen || (waits && !task.fresh) ? { class: "NodeFailed", message } : proposeCode(run);
}

export interface PipelineOptions extends Pick<PipelineParts, "models" | "packages" | "clock"> {
  generations: GenerationStore;
  /** Model for roles without a model in the node or workflow (`DEFAULT_MODEL`). */
  defaultModel?: string | undefined;
  /**
   * Folder of documentation indexes, `<template>.json`. For templates without an index, NOVA uses the shipped index.
   */
  docstrings?: string | undefined;
}

/** Creates the pipeline with all its parts. It reads files and calls models only when a node needs them. */
export function createPipeline(options: PipelineOptions): Pipeline {
  const { generations, docstrings, defaultModel, ...same } = options;
  const documentation = new TemplateDocumentation(docstrings);
  return pipelineOf({
    ...same,
    knowledge: {
      guidesFor,
      searchDocumentation: (...request) => documentation.search(...request),
      earlierExamples: (...request) => earlierExamples(generations, ...request),
    },
    pinned: createPinnedCodes({ store: generations, generator: currentGenerator, readsOf, clock: same.clock }),
    check: checkCode,
    ...(defaultModel !== undefined && { defaultModel }),
  });
}

const maxAttempts = 3;

interface Success extends SuccessfulRun {
  written: GeneratedCode;
}

/** Writes, checks, runs and judges code until it does the task. */
async function attemptTask(run: NodeRun): Promise<{ value: Success } | { ending: Ending }> {
  return repeatAttempts(run, async (attempt) => {
    const written = await writeCheckedCode(run, attempt);
    if (written.kind !== "done") return written;
    const { code } = written.value;
    const ran = await runCode(run, attempt, code);
    if (ran.kind !== "done") return forbidRepeat(run, ran);
    const judged = await validateOutput(run, attempt, code, ran.value.result);
    if (judged.kind !== "done") return forbidRepeat(run, judged);
    return done({ ...ran.value, written: written.value });
  });
}

/**
 * Turns a failed attempt into the end of the node if the node has effects, because its code must not run a second time.
 */
function forbidRepeat<T>(run: NodeRun, result: Result<T>): Result<T> {
  const mayNotRepeat = result.kind === "failed" && run.task.node.effects === true;
  return mayNotRepeat ? ended(endingOf(result.failure)) : result;
}

/**
 * Writes code for a workflow that only runs approved code, checks it without running it, and stores it for approval.
 * The node always fails. No analysis runs, because its code would not be approved either.
 */
async function proposeCode(run: NodeRun): Promise<Ending> {
  const { task, parts, spent: cost } = run;
  run.hasFollowedAnalysis = true;
  const end = await repeatAttempts(run, (attempt) => writeCheckedCode(run, attempt));
  if ("ending" in end) return end.ending;
  await parts.pinned.propose(task, defined({ ...end.value, cost, embedding: run.recall?.embedding }));
  const wayOut = `nova lock <folder> shows it, nova lock approve <folder> ${task.node.id} lets it run`;
  return { class: "NodeFailed", message: `its code is written, and waits for somebody's approval - ${wayOut}` };
}

/**
 * Repeats attempts until one of them succeeds or ends the node. Each attempt sees the failures of the previous ones.
 */
async function repeatAttempts<T>(
  run: NodeRun,
  attemptOnce: (attempt: number) => Promise<Result<T>>,
): Promise<{ value: T } | { ending: Ending }> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const result = await attemptOnce(attempt);
    if (result.kind === "done") return { value: result.value };
    if (result.kind === "ended") return { ending: result.ending };
    run.failures.push(result.failure);
  }
  const last = endingOf(run.failures.at(-1) as Failure);
  return { ending: { ...last, message: `Failed after ${maxAttempts} attempts: ${last.message}` } };
}

async function writeCheckedCode(run: NodeRun, attempt: number): Promise<Result<GeneratedCode>> {
  const written = await generateCode(run, attempt);
  if (written.kind !== "done") return written;
  run.code = written.value.code;
  const checked = await validateCode(run, attempt, written.value.code);
  return checked.kind === "done" ? written : checked;
}

/**
 * Runs pinned code, after its analysis if it has one, and judges the result without a model. Returns null if the code
 * or the analysis failed by its own fault and a model may write new code. The failure is recorded, and the first prompt
 * for new code describes it.
 */
async function runPinnedCode(run: NodeRun, pinned: PinnedCode): Promise<PipelineOutcome | null> {
  const { code, generation } = pinned;
  run.code = code;
  const end = await runAnalysisAndCode(run, pinned);
  const analysis = pinned.analysis !== undefined && { code: pinned.analysis, json: run.analysis?.json ?? null };
  const common = { code, cacheHit: true, generation, ...(analysis && { analysis }) };
  run.analysis = null;
  const flaw = "result" in end ? flawOf(end.result) : null;
  if ("result" in end && flaw === null) {
    return { ...common, status: "success", result: end.result, sandboxId: end.sandboxId };
  }
  const unchanged = { attempt: 0, message: flaw ?? "", code, class: "NodeFailed" } as const;
  const { failure, fault } = "result" in end ? { failure: unchanged, fault: "code" } : end;
  if (fault === "world" || !canWriteCode(run) || run.task.node.effects === true) {
    return { ...common, status: "failed", ...endingOf(failure), sandboxId: run.sandboxId };
  }
  await recordPinnedFailure(run, failure, analysis !== false && analysis.json === null);
  run.failures.push(failure);
  return null;
}

async function runAnalysisAndCode(run: NodeRun, pinned: PinnedCode): Promise<ExecutionEnd> {
  if (pinned.analysis !== undefined) {
    const found = await runPinnedAnalysis(run, pinned);
    if ("failure" in found) return found;
    run.analysis = found;
  }
  // Pinned code is not recorded as a step, so its run has a fixed journal number.
  return executeAndJudge(run, pinnedPlaces.code, 0, pinned.code);
}

/** Returns false in frozen runs, and in workflows that only run approved code. */
function canWriteCode({ task }: Pick<NodeRun, "task">): boolean {
  return !task.frozen && task.version.workflow.approval !== "required";
}

/**
 * Runs the pinned analysis on the current values. The run is not recorded as a step, so it has a fixed journal number.
 */
async function runPinnedAnalysis(
  run: NodeRun,
  { analysis = "" }: PinnedCode,
): Promise<Analysis | { failure: Failure; fault: "code" }> {
  const { sandbox_id, logs, answer } = await runAnalysisCode(run, pinnedPlaces.analysis, analysis);
  run.sandboxId = sandbox_id;
  const mask = (text: string) => run.task.mask(text);
  if ("result" in answer) return { code: analysis, json: JSON.stringify(maskValue(answer.result, mask)) };
  const traces = tracesOf({ traceback: mask(answer.traceback), logs: mask(logs) });
  const message = `the analysis failed: ${mask(answer.error)}`;
  const failure = { attempt: 0, message, code: analysis, class: answer.class, ...traces };
  // An analysis has no network, so no failure of it is external.
  return { failure, fault: "code" };
}

/** Records the failed step of pinned code or of its analysis, before other code is written. */
async function recordPinnedFailure(run: NodeRun, failure: Failure, isAnalysis: boolean): Promise<void> {
  const timeout_seconds = isAnalysis ? analysisSeconds : run.task.node.timeoutSeconds;
  await takeStep(run, isAnalysis ? "DataAnalyzer" : "E2BExecutor", 0, async () => ({
    ...stepResultOf(run, { failure, fault: "code" }),
    input_data: { context: contextForRecord(run), timeout_seconds },
    ...(isAnalysis && { output_data: null }),
    generated_code: failure.code,
    sandbox_id: run.sandboxId,
  }));
}
