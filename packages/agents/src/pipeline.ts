import type { GenerationStore, Pipeline, PipelineOutcome } from "@nova/engine";
import { analyzeData } from "./agents/data-analyzer.ts";
import { analyzeInput } from "./agents/input-analyzer.ts";
import { beginRun, type NodeRun } from "./agents/node-run.ts";
import { embeddingOf } from "./agents/recall.ts";
import { attemptTask, proposeCode, type Success } from "./attempts.ts";
import { checkCode, readsOf } from "./check/within-time.ts";
import type { Ending } from "./failures/failure.ts";
import { mayWrite, runHit } from "./hit.ts";
import { createKnowledge } from "./knowledge/knowledge.ts";
import { currentGenerator } from "./lock/generator.ts";
import { createPinnedCodes } from "./lock/pinned-codes.ts";
import type { PipelineParts } from "./parts.ts";
import { needsAnalysis } from "./two-stages.ts";

/**
 * The pipeline of prompt nodes. All that it does follows from the task and from the steps that are recorded: delivered
 * again, it takes the recorded ones and goes on behind them.
 */
export function pipelineOf(parts: PipelineParts): Pipeline {
  return {
    pinned: (task) => parts.pinned.choose(task),
    generation: (task, key) => parts.pinned.find(task, key),
    async run(task, means, pinned) {
      const run = beginRun(task, means, parts);
      if (pinned) {
        const outcome = await runHit(run, pinned);
        if (outcome) return outcome;
      } else if (!mayWrite(run)) {
        return failed(run, await withoutPinned(run));
      }
      return writeAndRun(run);
    },
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
  const { task, spent: cost, parts } = run;
  const analysis = needsAnalysis(code) ? run.analysis?.code : undefined;
  const more = { ...(analysis !== undefined && { analysis }), ...embeddingOf(run) };
  const generation = await parts.pinned.keep(task, { code, guides, model, cost, ...more });
  return { status: "success", code, cacheHit: false, generation, result, sandboxId };
}

function failed({ code, sandboxId }: NodeRun, ending: Ending): PipelineOutcome {
  return { status: "failed", code, cacheHit: false, generation: null, sandboxId, ...ending };
}

/** Code that nobody has approved is written where models may be asked, but does not run. */
async function withoutPinned(run: NodeRun): Promise<Ending> {
  const { task, parts } = run;
  const { message, waits } = await parts.pinned.missing(task);
  return task.frozen || (waits && !task.fresh) ? { class: "NodeFailed", message } : proposeCode(run);
}

export interface PipelineOptions extends Pick<PipelineParts, "models" | "packages" | "clock"> {
  generations: GenerationStore;
  /** `DEFAULT_MODEL`. */
  defaultModel?: string | undefined;
  /** Folder of documentation indexes, `<template>.json`; without one, the shipped index serves. */
  docstrings?: string | undefined;
}

/** The pipeline with all that belongs to it; nothing is read or asked before a node needs it. */
export function createPipeline({ generations, docstrings, defaultModel, ...given }: PipelineOptions): Pipeline {
  const { clock } = given;
  return pipelineOf({
    ...given,
    knowledge: createKnowledge({ docstrings, precedents: generations }),
    pinned: createPinnedCodes({ store: generations, generator: currentGenerator, readsOf, clock }),
    check: checkCode,
    ...(defaultModel !== undefined && { defaultModel }),
  });
}
