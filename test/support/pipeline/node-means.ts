import {
  type CodeResult,
  type JournalStep,
  type Judgement,
  type Member,
  type MonthBudget,
  NovaError,
  type PipelineMeans,
  type StepDraft,
} from "@nova/engine";

/** One run of code that a pipeline has requested. */
export interface Run {
  journal: number;
  code: string;
  timeoutSeconds: number;
  extra?: readonly Member[];
  network?: false;
}

export type Outcome = Partial<CodeResult> & { status: CodeResult["status"] };

export interface NodeMeansOptions {
  /** The outcomes of the runs of code, in order. A run for which there is no outcome fails the test. */
  runs?: (Outcome | ((run: Run) => Outcome))[];
  isDecision?: boolean;
  timeLeftMs?: () => number;
  spentBesideUsd?: number;
  month?: MonthBudget;
  texts?: Record<string, string>;
}

/**
 * Replaces the functions that the engine passes to a pipeline. It keeps the outcome of each run of code by the position
 * in the journal, so that a later delivery gets the same outcome. After `dieAt` steps the Lambda is dead and records no
 * more steps.
 */
export class NodeMeans {
  readonly steps: JournalStep[] = [];
  readonly runs: Run[] = [];
  dieAt = Number.POSITIVE_INFINITY;
  readonly abort = new AbortController();
  readonly #kept = new Map<number, { run: Run; result: CodeResult }>();
  readonly #waiting: NonNullable<NodeMeansOptions["runs"]>;
  readonly #options: NodeMeansOptions;

  constructor(options: NodeMeansOptions = {}) {
    this.#options = options;
    this.#waiting = [...(options.runs ?? [])];
  }

  /** Returns the functions for one delivery. Each delivery starts at the first position of the journal. */
  delivery(): PipelineMeans {
    let place = 0;
    return {
      journal: {
        next: async (work) => {
          const recorded = this.steps[place++];
          if (recorded) return recorded;
          return this.#record(place, await work(place));
        },
      },
      execute: async (journal, code, options) => this.#execute({ journal, code, ...options }),
      judge: async (result) => this.#judge(result),
      valueText: async (key) => this.#options.texts?.[key] ?? null,
      spentBesideUsd: async () => this.#options.spentBesideUsd ?? 0,
      monthBudget: async () => this.#options.month ?? null,
      timeLeftMs: this.#options.timeLeftMs ?? (() => 840_000),
      signal: this.abort.signal,
      now: () => 1_000,
    };
  }

  /** Throws if the pipeline did not start a run of code that the test expects. */
  finish(): void {
    if (this.#waiting.length > 0) throw new TypeError(`${this.#waiting.length} runs of code never came`);
  }

  /** Returns the agent and the attempt of each step, in order: `CodeGenerator 1`. */
  story(): string[] {
    return this.steps.map(
      (step) => `${step.agent_name} ${step.attempt_number}${step.status === "failed" ? " failed" : ""}`,
    );
  }

  #record(place: number, draft: StepDraft): JournalStep {
    if (this.steps.length >= this.dieAt) throw new NovaError("NodeUnfinished", "the Lambda died");
    const { prompt: _prompt, answer: _answer, ...kept } = draft;
    this.drafts.push(draft);
    const step = { ...JSON.parse(JSON.stringify(kept)), journal: place, timestamp: "2026-11-22T00:00:00.000Z" };
    this.steps.push(step);
    return step;
  }

  /** The steps as the pipeline made them, with the requests to models and their answers. */
  readonly drafts: StepDraft[] = [];

  async #execute(run: Run): Promise<{ sandboxId: string; result: CodeResult; code: string }> {
    const kept = this.#kept.get(run.journal);
    if (kept) return { sandboxId: "sbx_1", result: kept.result, code: kept.run.code };
    const next = this.#waiting.shift();
    if (!next) throw new TypeError(`code ran that nobody expected: ${run.code}`);
    this.runs.push(run);
    const result = { ...common, ...(typeof next === "function" ? next(run) : next) } as CodeResult;
    this.#kept.set(run.journal, { run, result });
    return { sandboxId: "sbx_1", result, code: run.code };
  }

  #judge(result: CodeResult): Judgement {
    if (result.status === "error") {
      const { class: name, message, traceback, types } = result;
      return { status: "failed", class: name, message, traceback, ...(types && { types }) };
    }
    const decision = result.set.find(({ key }) => key === "branch_decision")?.json ?? null;
    if (this.#options.isDecision && decision === null) {
      return { status: "failed", class: "NodeFailed", message: 'the decision did not set context["branch_decision"]' };
    }
    return { status: "success", set: result.set, delete: result.delete, decision };
  }
}

const common = { logs: "", durationMs: 3, set: [], delete: [] };

/** Returns the outcome of code that set these keys. */
export function sets(values: Record<string, unknown>): Outcome {
  return {
    status: "success",
    set: Object.entries(values).map(([key, value]) => ({ key, json: JSON.stringify(value) })),
  } as Outcome;
}

/** Returns the outcome of code that failed with a message of one line, as the harness reports it. */
export function fails(
  message: string,
  more: { traceback?: string; class?: "NodeTimeout"; logs?: string } = {},
): Outcome {
  return { status: "error", class: "NodeFailed", message, traceback: "", ...more } as Outcome;
}
