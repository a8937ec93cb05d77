import { defined, type TaskNode } from "@nova/workflow";
import { contentText } from "../../chain/entry.ts";
import type { Position } from "../../chain/position.ts";
import { sumOfSpendings } from "../../chain/spending.ts";
import {
  attemptBoundary,
  earlierSteps,
  type Failed,
  isEnding,
  isPinnedPlace,
  journalOf,
  noteNumber,
  readEnding,
  replayedStep,
  type StepText,
  sealEnding,
  sealStep,
  stepNumber,
} from "../../chain/step-record.ts";
import { referencesIn } from "../../context/references.ts";
import { chainBroken } from "../../errors.ts";
import type { StoredStep, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { type Journal, type JournalStep, pinnedPlaces, type StepDraft } from "../../ports/pipeline.ts";
import type { CodeResult } from "../../ports/sandboxes.ts";
import type { Delivery } from "../run-attempts.ts";
import type { NodeIo } from "../task-input.ts";

/** A delivery that asks a model, with the means to mask texts and to check results. */
export interface JournalSite<N extends TaskNode = TaskNode> extends Delivery<N> {
  io: NodeIo;
}

/**
 * The steps of an entry, in the order in which one delivery does them. If an earlier delivery has recorded a step, this
 * class replays the record. Otherwise it carries out the step and records it.
 */
export class StepJournal implements Journal {
  readonly steps: JournalStep[] = [];
  readonly hashes: string[] = [];
  readonly earlier: Earlier;
  readonly #site: JournalSite;
  readonly #runs = new Map<number, CodeResult>();
  #stored = new Map<number, StoredStep>();

  constructor(site: JournalSite, earlier: Earlier) {
    this.#site = site;
    this.earlier = earlier;
  }

  /** Reads the steps that earlier deliveries recorded. Throws `TurnLost` if this delivery does not hold the turn. */
  async adopt(): Promise<void> {
    await this.load();
    await this.#stayOurs();
  }

  async load(): Promise<void> {
    const { ports, task } = this.#site;
    this.#stored = new Map((await ports.chain.steps(task.position.at)).map((step) => [step.step, step]));
  }

  async next(work: (journal: number) => Promise<StepDraft>): Promise<JournalStep> {
    if (!(await this.#site.attempt.turnWritten)) throw new TurnLost();
    const journal = this.steps.length + 1;
    const there = this.#stepAt(journal);
    const step = there ? await this.#replay(journal, there) : await this.#record(journal, await work(journal));
    this.steps.push(step);
    return step;
  }

  /**
   * If an earlier delivery recorded the failure of the pipeline, replays all steps and returns that failure; otherwise
   * null.
   */
  async ending(): Promise<Failed | null> {
    const { ports, task, attempt } = this.#site;
    const steps = journalOf(attempt.turn, Array.from(this.#stored.values()));
    const there = this.#stepAt(steps.length + 1);
    if (!there) return null;
    for (const step of steps) this.steps.push(await this.#replay(this.steps.length + 1, step));
    return readEnding(there, task.position.before, ports.blobs);
  }

  /**
   * Records the failure of the pipeline. Returns null if another delivery has recorded a further step instead. Throws
   * `TurnLost` if this delivery does not hold the turn.
   */
  async end(failure: Failed): Promise<Failed | null> {
    await this.#stayOurs();
    const { ports, attempt, io } = this.#site;
    const { at, before } = this.#site.task.position;
    const { traceback, logs } = failure;
    const shown = { traceback: traceback && io.mask(traceback), logs: logs && io.maskLogs(logs) };
    const masked: Failed = { ...failure, message: io.mask(failure.message), ...defined(shown) };
    const number = stepNumber(attempt.turn, this.steps.length + 1);
    const ending = await sealEnding(number, masked, before, ports.blobs);
    if (await ports.chain.putStep(at, ending)) return masked;
    await this.load();
    const there = this.#stored.get(number);
    return there && isEnding(there) ? readEnding(there, before, ports.blobs) : null;
  }

  get nextRecordedMs(): number | null {
    const there = this.#stepAt(this.steps.length + 1);
    return there && !isEnding(there) ? Date.parse((JSON.parse(there.text) as StepText).timestamp) : null;
  }

  /**
   * Whether the result of the code with this step number is recorded. The result of pinned code is recorded only if the
   * code failed.
   */
  isRecorded(journal: number): boolean {
    return (isPinnedPlace(journal) ? this.#pinnedStep() : this.#stepAt(journal)) !== undefined;
  }

  async pinnedRun(at: number): Promise<{ sandboxId: string; result: CodeResult } | null> {
    const { ports, task, io, attempt } = this.#site;
    const stored = this.#pinnedStep();
    const content = stored?.contents?.[at === pinnedPlaces.code ? "result" : "analysis"];
    if (!stored || !content) return null;
    const { sandbox_id, blobs = [] } = JSON.parse(stored.text) as StepText;
    for (const sha256 of blobs) io.meet(sha256);
    const text = await contentText(content, task.position.before, ports.blobs);
    return { sandboxId: sandbox_id ?? (attempt.turn.sandbox as string), result: JSON.parse(text) as CodeResult };
  }

  noteAt(journal: number): StoredStep | undefined {
    return this.#stored.get(noteNumber(this.#site.attempt.turn, journal));
  }

  /** Whether a recorded step contains this code. If so, every delivery runs the same code. */
  hasCode(code: string): boolean {
    return this.steps.some(({ generated_code }) => generated_code === code);
  }

  ran(journal: number, result: CodeResult): void {
    this.#runs.set(journal, result);
  }

  pinnedMs(place: number): number {
    return this.#runs.get(place)?.durationMs ?? 0;
  }

  #pinnedStep(): StoredStep | undefined {
    const first = this.#stepAt(1);
    return first && isOfPinned(JSON.parse(first.text) as StepText) ? first : undefined;
  }

  #stepAt(journal: number): StoredStep | undefined {
    return this.#stored.get(stepNumber(this.#site.attempt.turn, journal));
  }

  async #replay(journal: number, stored: StoredStep): Promise<JournalStep> {
    if (isEnding(stored)) throw new PipelineEnded();
    const { ports, task, io } = this.#site;
    const { blobs = [] } = JSON.parse(stored.text) as StepText;
    for (const sha256 of blobs) io.meet(sha256);
    this.hashes.push(stored.hash);
    return replayedStep(journal, stored, task.position.before, ports.blobs);
  }

  async #record(journal: number, draft: StepDraft): Promise<JournalStep> {
    const { ports, io, attempt } = this.#site;
    const { at, before } = this.#site.task.position;
    // The budget is charged before the step is recorded: every payment counts, even if the record fails.
    const costUsd = [...this.steps, draft].reduce((usd, { cost_usd }) => usd + cost_usd, this.earlier.spent.cost_usd);
    if (draft.cost_usd > 0) await ports.budgets.note(before.client, at, costUsd);
    // A model may take minutes to answer. If the run has ended or was erased meanwhile, the step must not be stored.
    await this.#stayOurs();
    const ofPinned = isOfPinned(draft);
    const run = this.#runs.get(ofPinned ? pinnedPlaces.code : journal);
    const result = draft.result ?? (ofPinned ? run : undefined);
    const analysis = ofPinned ? this.#runs.get(pinnedPlaces.analysis) : undefined;
    const facts = {
      journal,
      number: stepNumber(attempt.turn, journal),
      timestamp: new Date(ports.clock.now()).toISOString(),
      runTimeMs: (run ?? analysis)?.durationMs,
      ...(analysis && { analysis }),
      blobs: ownBlobs(result, io),
      mask: (text: string) => io.mask(text),
    };
    const whole = { ...draft, ...defined({ result }) };
    const { stored, step } = await sealStep(whole, facts, before, ports.blobs);
    const isWritten = await ports.chain.putStep(at, stored);
    await this.#stayOurs();
    if (!isWritten) return this.#theirs(journal);
    this.hashes.push(stored.hash);
    return step;
  }

  async #theirs(journal: number): Promise<JournalStep> {
    await this.load();
    const there = this.#stepAt(journal);
    if (there) return this.#replay(journal, there);
    const { execution, seq } = this.#site.task.position.at;
    throw chainBroken(`link ${seq} of ${execution} refuses step ${journal} and has none`);
  }

  /**
   * Throws `TurnLost` if the node was stopped or another delivery has taken over. Then this delivery must not pay for
   * further steps.
   */
  async #stayOurs(): Promise<void> {
    const { ports, task, attempt } = this.#site;
    const own = attempt.turn;
    const { entry, turn } = await ports.chain.read(task.position.at);
    const isOurs = !entry && turn?.state === "held" && turn.sandbox === own.sandbox && turn.attempt === own.attempt;
    if (!isOurs) throw new TurnLost();
  }
}

/** Whether a step records the failure of pinned code. Such a step comes before all attempts. */
function isOfPinned({ attempt_number }: Pick<StepDraft, "attempt_number">): boolean {
  return attempt_number === 0;
}

/**
 * Returns the hashes of those blobs in a result that belong to this run of code. The record of the step lists these
 * hashes, because a later delivery cannot find out which blobs belong to this run.
 */
function ownBlobs(result: CodeResult | undefined, io: NodeIo): string[] {
  if (result?.status !== "success") return [];
  const named = result.set.flatMap(({ json }) => referencesIn(json));
  // The record has only hashes. A hash is left out if the result also has a reference with this hash that this run of
  // code may not use.
  const foreign = new Set(named.filter((ref) => !io.isOwn(ref)).map(({ sha256 }) => sha256));
  return Array.from(new Set(named.map(({ sha256 }) => sha256))).filter((sha256) => !foreign.has(sha256));
}

/**
 * Thrown if another delivery has taken over: the other delivery holds the turn, closes the turn, or has written the
 * entry. This delivery then reads the chain again.
 */
export class TurnLost extends Error {
  override name = "TurnLost";
}

/** Thrown if another delivery has recorded that the pipeline of this node failed. */
export class PipelineEnded extends Error {
  override name = "PipelineEnded";
}

/**
 * Thrown if the result of code that ran for a step is lost, because the sandbox no longer exists or the time of the
 * code is over.
 */
export class CodeLost extends Error {
  override name = "CodeLost";
  readonly journal: number;
  /** The timeout that the code exceeded; undefined if the sandbox no longer exists. */
  readonly timeoutSeconds: number | undefined;

  constructor(journal: number, timeoutSeconds?: number) {
    const what = timeoutSeconds === undefined ? "was lost with its sandbox" : "gave no result in time";
    super(`the code of step ${journal} ${what}`);
    this.journal = journal;
    this.timeoutSeconds = timeoutSeconds;
  }
}

export type Earlier = ReturnType<typeof earlierOf>;

/** Reads the steps and the cost of earlier attempts of a node. For the first attempt, nothing is read. */
export async function attemptsBefore({ chain }: Ports, { at, next: { turn } }: Position): Promise<Earlier> {
  if (!turn?.kept?.includes(attemptBoundary)) return { steps: [], spent: sumOfSpendings([]) };
  return earlierOf(turn, await chain.steps(at));
}

/** Returns the hashes of the steps of earlier attempts, in order, and what these attempts cost. */
export function earlierOf(turn: Turn, stored: readonly StoredStep[]) {
  const steps = earlierSteps(turn, stored);
  // The record of an attempt as a whole has no cost; only its steps do.
  const records = steps.map(({ text }) => JSON.parse(text) as StepText).filter((step) => "cost_usd" in step);
  return { steps: steps.map(({ hash }) => hash), spent: sumOfSpendings(records) };
}
