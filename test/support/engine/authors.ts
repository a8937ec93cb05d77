import {
  type AgentReply,
  type AgentTask,
  type CodeResult,
  type JournalStep,
  NovaError,
  type PinnedCode,
  type Pipeline,
  type PipelineMeans,
  type PipelineOutcome,
  type PromptTask,
  pinnedPlaces,
  replyKey,
  type TextMeans,
  type TextTask,
} from "@nova/engine";
import type { Member } from "@nova/workflow";
import { journalOf } from "../../../packages/engine/src/chain/step-record.ts";
import { agentStep } from "./agent-step.ts";
import type { ChainState } from "./chain-state.ts";
import type { Caller } from "./scheduler.ts";

/**
 * The answers of models in a test, and the code that earlier runs have pinned. If a request is repeated, its second
 * answer may differ.
 */
export interface Minds {
  pinned(task: PromptTask): PinnedCode | null;
  needsAnalysis(task: PromptTask): boolean;
  writeAnalysis(task: PromptTask): string;
  writeCode(task: PromptTask, attempt: number): string;
  /** Checks code without a model, and always gives the same verdict for the same code. */
  isValid(code: string): boolean;
  isDone(task: PromptTask, attempt: number): boolean;
  /** Returns the JSON text of an answer; null if the model is down. Absent if the workflow has no text nodes. */
  writeText?(task: TextTask): string | null;
  /** Returns the reply to an agent; null if the model is down. Absent if the workflow has no agents. */
  reply?(task: AgentTask): AgentReply | null;
}

/** A request to a model that costs money. `journal` is the position of its step in the journal of an entry. */
export interface Payment {
  role: string;
  node: string;
  journal: number;
}

class ModelDown extends Error {
  override name = "ModelDown";
}

const maxAttempts = 3;
const seconds = { analysis: 15, task: 30 };
const price = { cost_usd: 0.001, tokens_input: 100, tokens_cached: 40, tokens_output: 10 };

/**
 * A pipeline with the structure of the real pipeline: it sends requests to models, and records agent steps in a
 * journal. A kill can interrupt a request. If a model gives no answer, the node fails at once, and no second delivery
 * repeats the request.
 */
export class Authors {
  readonly payments: Payment[] = [];
  /** The prompt tasks that pipelines received, in order. */
  readonly tasks: PromptTask[] = [];
  /** The tasks of text nodes that pipelines received, in order. A task that is delivered twice is listed twice. */
  readonly questions: TextTask[] = [];
  /** The pinned code that deliveries have received, by the id of the code. */
  readonly #generations = new Map<string, PinnedCode>();
  readonly #chain: ChainState;
  readonly #minds: Minds;
  readonly #onViolation: (sentence: string) => void;

  constructor(chain: ChainState, minds: Minds, onViolation: (sentence: string) => void) {
    this.#chain = chain;
    this.#minds = minds;
    this.#onViolation = onViolation;
  }

  /** Returns the pipeline for the calls of one process. */
  port(caller: Caller): Pipeline {
    return {
      pinned: (task) => caller.call({ name: "choose pinned code", effect: () => this.#choose(task) }),
      generation: async (_task, key) => this.#generations.get(key) as PinnedCode,
      run: (task, means, pinned) => {
        this.tasks.push(task);
        return new Writing(caller, this, this.#minds, task, means).run(pinned);
      },
      answer: (task, means) => {
        this.questions.push(task);
        return new Answering(caller, this, this.#minds, task, means).run();
      },
      converse: (task, means) => {
        this.questions.push(task);
        return new Answering(caller, this, this.#minds, task, means).converse(task);
      },
    };
  }

  /**
   * Returns the journal positions of the steps that were recorded when a delivery started. The delivery does not pay
   * for these steps again.
   */
  recordedFor(caller: Caller, { at }: Pick<PromptTask, "at">): ReadonlySet<number> {
    const { turn } = this.#chain.at(at);
    return new Set(journalOf(turn ?? {}, this.#chain.stepsSeen.get(caller) ?? []).map((_, i) => i + 1));
  }

  pay(payment: Payment, recorded: ReadonlySet<number>): void {
    const { role, node, journal } = payment;
    if (recorded.has(journal)) this.#onViolation(`${role} of ${node} was paid again for its recorded step ${journal}`);
    this.payments.push(payment);
  }

  #choose(task: PromptTask): PinnedCode | null {
    const pinned = this.#minds.pinned(task);
    if (pinned) this.#generations.set(pinned.generation, pinned);
    return pinned;
  }
}

/** Runs a text node: asks the model once, and records the answer as a step. */
class Answering {
  readonly #recorded: ReadonlySet<number>;
  readonly #caller: Caller;
  readonly #authors: Authors;
  readonly #minds: Minds;
  readonly #task: TextTask;
  readonly #means: TextMeans;

  constructor(caller: Caller, authors: Authors, minds: Minds, task: TextTask, means: TextMeans) {
    this.#caller = caller;
    this.#authors = authors;
    this.#minds = minds;
    this.#task = task;
    this.#means = means;
    this.#recorded = authors.recordedFor(caller, task);
  }

  run(): Promise<PipelineOutcome> {
    const { node } = this.#task;
    const { executor } = node;
    if (executor.kind !== "text") throw new TypeError(`${node.id} is no text node`);
    const { into } = executor;
    return this.#ask(
      () => {
        if (!this.#minds.writeText) throw new RangeError("a model is asked for a text that the story does not tell of");
        return this.#minds.writeText(this.#task);
      },
      (json) => [...(node.type === "decision" ? [{ key: "branch_decision", json }] : []), { key: into, json }],
    );
  }

  converse(task: AgentTask): Promise<PipelineOutcome> {
    return this.#ask(
      () => {
        if (!this.#minds.reply) throw new RangeError("an agent asks for a reply that the story does not tell of");
        const reply = this.#minds.reply(task);
        return reply && JSON.stringify(reply);
      },
      (json) => [{ key: replyKey, json }],
    );
  }

  async #ask(say: () => string | null, setBy: (json: string) => Member[]): Promise<PipelineOutcome> {
    const { node, record: input_data } = this.#task;
    const none = { code: null, cacheHit: false, generation: null, sandboxId: null } as const;
    try {
      const step = await this.#means.journal.next(async (journal) => {
        const json = await this.#caller.call({
          name: "ask text",
          effect: () => {
            this.#authors.pay({ role: "text", node: node.id, journal }, this.#recorded);
            return say();
          },
          outage: () => new ModelDown("text"),
        });
        if (json === null) throw new ModelDown("text");
        const result = { status: "success" as const, set: setBy(json), delete: [], logs: "", durationMs: 0 };
        return agentStep("TextWriter", 1, { input_data, model_used: "m", prompt: this.#task.prompt, result, ...price });
      });
      return { ...none, status: "success", result: step.result as CodeResult & { status: "success" } };
    } catch (error) {
      if (!(error instanceof ModelDown)) throw error;
      return { ...none, status: "failed", class: "ModelUnavailable", message: "the model does not answer" };
    }
  }
}

class Writing {
  readonly #caller: Caller;
  readonly #authors: Authors;
  readonly #minds: Minds;
  readonly #task: PromptTask;
  readonly #means: PipelineMeans;
  readonly #recorded: ReadonlySet<number>;

  constructor(caller: Caller, authors: Authors, minds: Minds, task: PromptTask, means: PipelineMeans) {
    this.#caller = caller;
    this.#authors = authors;
    this.#minds = minds;
    this.#task = task;
    this.#means = means;
    this.#recorded = authors.recordedFor(caller, task);
  }

  async run(pinned: PinnedCode | null): Promise<PipelineOutcome> {
    try {
      return (pinned && (await this.#hit(pinned))) ?? (await this.#write(pinned));
    } catch (error) {
      if (!(error instanceof ModelDown)) throw error;
      return this.#failed("ModelUnavailable", "the model does not answer", null);
    }
  }

  /**
   * Runs pinned code. Returns null if the code itself caused its failure. The caller then asks a model for new code.
   */
  async #hit(pinned: PinnedCode): Promise<PipelineOutcome | null> {
    const { code, generation } = pinned;
    const analysis = await this.#lookAgain(pinned);
    const hit = { code, cacheHit: true, generation, ...(analysis && { analysis }) };
    if (analysis?.json === null) return this.#pinnedFailed("DataAnalyzer", analysis.code, hit, "found nothing");
    const extra = analysis ? [{ key: "_data_analysis", json: analysis.json }] : [];
    const run = await this.#means.execute(pinnedPlaces.code, code, { timeoutSeconds: seconds.task, extra });
    const judged = await this.#means.judge(run.result);
    if (judged.status === "success" && run.result.status === "success")
      return { status: "success", ...run, result: run.result, ...hit };
    return this.#pinnedFailed("E2BExecutor", code, hit, judged.status === "failed" ? judged.message : "");
  }

  async #lookAgain({ analysis: code }: PinnedCode) {
    if (code === undefined) return null;
    const limits = { timeoutSeconds: seconds.analysis, network: false } as const;
    const { result } = await this.#means.execute(pinnedPlaces.analysis, code, limits);
    return { code, json: result.status === "success" ? JSON.stringify(result.set) : null };
  }

  async #pinnedFailed(
    agent: "DataAnalyzer" | "E2BExecutor",
    code: string,
    hit: { code: string; generation: string },
    message: string,
  ): Promise<PipelineOutcome | null> {
    if (this.#task.node.effects === true || this.#task.frozen)
      return { ...this.#failed("NodeFailed", message, hit.code), ...hit };
    await this.#means.journal.next(async () =>
      agentStep(agent, 0, { status: "failed", error_message: message, generated_code: code }),
    );
    return null;
  }

  async #write(pinned: PinnedCode | null): Promise<PipelineOutcome> {
    let last = pinned?.code ?? null;
    if (this.#task.frozen) return this.#failed("NodeFailed", "no valid code is locked", last);
    const { journal } = this.#means;
    const seen = await journal.next(async (at) =>
      agentStep("InputAnalyzer", 1, {
        output_data: {
          needs_analysis: await this.#ask("input_analyzer", at, () => this.#minds.needsAnalysis(this.#task)),
        },
        ...price,
      }),
    );
    const insights = (seen.output_data as { needs_analysis: boolean }).needs_analysis ? await this.#analyze() : null;
    let error = "";
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      if (this.#means.timeLeftMs() <= 0) return this.#failed("BudgetExceeded", "the node's time is spent", last);
      const { code, step, problem } = await this.#attempt(attempt, insights);
      last = code;
      if (step?.result?.status === "success")
        return {
          status: "success",
          result: step.result,
          sandboxId: step.sandbox_id as string,
          code,
          cacheHit: false,
          generation: `of ${code}`,
        };
      error = problem;
      if (step && this.#task.node.effects === true) break;
    }
    return this.#failed("NodeFailed", `Failed after ${maxAttempts} attempts: ${error}`, last);
  }

  async #analyze(): Promise<JournalStep> {
    return this.#means.journal.next(async (at) => {
      const written = await this.#ask("data_analyzer", at, () => this.#minds.writeAnalysis(this.#task));
      const run = await this.#means.execute(at, written, { timeoutSeconds: seconds.analysis });
      const output_data = run.result.status === "success" ? run.result.set : null;
      return agentStep("DataAnalyzer", 1, {
        output_data,
        generated_code: run.code,
        sandbox_id: run.sandboxId,
        ...price,
      });
    });
  }

  async #attempt(attempt: number, insights: JournalStep | null) {
    const { journal } = this.#means;
    const written = await journal.next(async (at) => {
      const code = await this.#ask("code_generator", at, () => this.#minds.writeCode(this.#task, attempt));
      return agentStep("CodeGenerator", attempt, {
        generated_code: code,
        model_used: "m",
        prompt: "p",
        answer: code,
        ...price,
      });
    });
    const code = written.generated_code as string;
    const checked = await journal.next(async () => {
      const valid = this.#minds.isValid(code);
      return agentStep("CodeValidator", attempt, valid ? {} : { status: "failed", error_message: "invalid" });
    });
    if (checked.status === "failed") return { code, problem: "invalid" };
    const ran = await journal.next(async (at) => this.#execute(at, attempt, code, insights));
    if (ran.status === "failed") return { code, step: ran, problem: ran.error_message as string };
    const seen = await journal.next(async (at) => {
      const isDone = await this.#ask("output_validator", at, () => this.#minds.isDone(this.#task, attempt));
      return agentStep(
        "OutputValidator",
        attempt,
        isDone ? price : { status: "failed", error_message: "not done", ...price },
      );
    });
    if (seen.status === "success") return { code, step: ran, problem: "" };
    const { result: _, ...without } = ran;
    return { code, step: without as JournalStep, problem: "not done" };
  }

  async #execute(at: number, attempt: number, code: string, insights: JournalStep | null) {
    const extra = insights ? [{ key: "_data_analysis", json: JSON.stringify(insights.output_data) }] : [];
    const { result, sandboxId } = await this.#means.execute(at, code, { timeoutSeconds: seconds.task, extra });
    const judged = await this.#means.judge(result);
    const facts = { sandbox_id: sandboxId, execution_time_ms: result.durationMs };
    return agentStep(
      "E2BExecutor",
      attempt,
      judged.status === "success" ? { ...facts, result } : { ...facts, ...faultOf(judged) },
    );
  }

  async #ask<T>(role: string, journal: number, answer: () => T): Promise<T> {
    const given = await this.#caller.call({
      name: `ask ${role}`,
      effect: () => {
        this.#authors.pay({ role, node: this.#task.node.id, journal }, this.#recorded);
        return answer();
      },
      outage: () => new ModelDown(role),
    });
    if (this.#means.signal.aborted) throw new NovaError("NodeUnfinished", "the pipeline goes on in the next delivery");
    return given;
  }

  #failed(
    name: "NodeFailed" | "ModelUnavailable" | "BudgetExceeded",
    message: string,
    code: string | null,
  ): PipelineOutcome {
    return { status: "failed", class: name, message, code, cacheHit: false, generation: null, sandboxId: null };
  }
}

function faultOf({ message }: { message: string }) {
  return { status: "failed" as const, error_message: message };
}
