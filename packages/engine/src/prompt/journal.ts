import type { Position } from "../chain/position.ts";
import { referencesIn } from "../context/references.ts";
import { NovaError } from "../errors.ts";
import type { Place } from "../node/place.ts";
import type { NodeIo } from "../node/run-io.ts";
import type { Link, StoredStep } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { Journal, JournalStep, StepDraft } from "../ports/pipeline.ts";
import type { CodeResult } from "../ports/sandboxes.ts";
import { TurnLost } from "./lost.ts";
import { isStep, replayedStep } from "./read-step.ts";
import { type StepText, sealStep } from "./step-record.ts";

/** Where steps are recorded, and on whose behalf. */
export interface JournalSite {
  ports: Ports;
  position: Position;
  place: Place;
  io: NodeIo;
}

/** The steps of a link as one delivery goes through them: what is recorded is answered, what is not is done and recorded. */
export class StepJournal implements Journal {
  /** Those that this delivery has come to. */
  readonly steps: JournalStep[] = [];
  readonly hashes: string[] = [];
  readonly #site: JournalSite;
  readonly #runTimes = new Map<number, number>();
  #stored = new Map<number, StoredStep>();

  constructor(site: JournalSite) {
    this.#site = site;
  }

  /** What earlier deliveries have recorded. A delivery that took the turn itself finds nothing, and need not look. */
  async load(): Promise<void> {
    const { ports, position } = this.#site;
    this.#stored = new Map((await ports.chain.steps(position.at)).map((step) => [step.step, step]));
  }

  async next(work: (journal: number) => Promise<StepDraft>): Promise<JournalStep> {
    if (!(await this.#site.place.permit)) throw new TurnLost();
    const journal = this.steps.length + 1;
    const there = this.#stored.get(journal);
    const step = there ? await this.#replay(there) : await this.#record(journal, await work(journal));
    this.steps.push(step);
    return step;
  }

  /** A note that another delivery may have left. */
  note(step: number): StoredStep | undefined {
    return this.#stored.get(step);
  }

  /** Whether a step says so: then every delivery comes to the same code. */
  hasCode(code: string): boolean {
    return this.steps.some(({ generated_code }) => generated_code === code);
  }

  /** Code has run for the step at this place. */
  ran(journal: number, { durationMs }: CodeResult): void {
    this.#runTimes.set(journal, durationMs);
  }

  async #replay(stored: StoredStep): Promise<JournalStep> {
    const { ports, position, io } = this.#site;
    const { blobs = [] } = JSON.parse(stored.text) as StepText;
    for (const sha256 of blobs) io.meet(sha256);
    this.hashes.push(stored.hash);
    return replayedStep(stored, position.before, ports.blobs);
  }

  async #record(journal: number, draft: StepDraft): Promise<JournalStep> {
    const { ports, position, io } = this.#site;
    const facts = {
      journal,
      timestamp: new Date(ports.clock.now()).toISOString(),
      runTimeMs: this.#runTimes.get(journal),
      blobs: ownBlobs(draft, io),
      mask: (text: string) => io.mask(text),
    };
    const { stored, step } = await sealStep(draft, facts, position.before, ports.blobs);
    // Whether the turn is still ours is asked meanwhile: nothing more is paid for a node that was stopped.
    const [isWritten, link] = await Promise.all([
      ports.chain.putStep(position.at, stored),
      ports.chain.read(position.at),
    ]);
    if (!this.#isOurs(link)) throw new TurnLost();
    if (!isWritten) return this.#adopt(journal);
    this.hashes.push(stored.hash);
    return step;
  }

  /** Another delivery was faster: what it has recorded is what happened. */
  async #adopt(journal: number): Promise<JournalStep> {
    await this.load();
    const there = this.#stored.get(journal);
    if (there && isStep(there)) return this.#replay(there);
    const { execution, seq } = this.#site.position.at;
    throw new NovaError("ChainBroken", `link ${seq} of ${execution} refuses step ${journal} and has none`);
  }

  #isOurs({ entry, turn }: Link): boolean {
    const { sandbox, attempt } = this.#site.place.turn;
    return !entry && turn?.state === "held" && turn.sandbox === sandbox && turn.attempt === attempt;
  }
}

/** Blobs in the result that this run has brought or met: a later delivery can only know it from here. */
function ownBlobs({ result }: StepDraft, io: NodeIo): string[] {
  if (result?.status !== "success") return [];
  const named = result.set.flatMap(({ json }) => referencesIn(json).map(({ sha256 }) => sha256));
  return Array.from(new Set(named)).filter((sha256) => io.isOwn(sha256));
}
