import { randomBytes } from "node:crypto";
import { killedError } from "../lambda/lambda-runtime.ts";
import { Alarms } from "./alarms.ts";
import type { Outcome, Stop } from "./asl/execute.ts";
import { executionOfToken } from "./asl/host.ts";
import { Capacity } from "./capacity.ts";
import { deliverStatusChange, endOfChild, statusChangeOf } from "./ends.ts";
import { type HistoryEvent, inputAndEndOf } from "./history.ts";
import { JournalledExecution, type Recorded } from "./journal/journalled-execution.ts";
import type { Owner, TaskAnswer } from "./journal/journalled-host.ts";
import type { LiveOptions } from "./live-options.ts";
import type { Execution, Executions } from "./store/executions.ts";
import type { Line } from "./store/lines.ts";
import type { LineOwner } from "./turns.ts";
import { WorkingLines } from "./working-lines.ts";

/**
 * The largest number of parked executions that stay in memory. A parked execution does no work, and is complete on
 * disk.
 */
const MAX_PARKED = 100;

const OTHER_WAY = "This execution cannot go on: run again from its journal it takes another way.";
const STOPPED = "The local cloud stopped while this execution was running.";

/**
 * Runs the executions of this process. A parked execution may be removed from memory; its next input restores it from
 * its file. Before `drive` is called, no request starts, and answers are only written to disk.
 */
export class LiveExecutions {
  readonly #executions: Executions;
  readonly #options: LiveOptions;
  /** The executions in memory: all busy ones, and those that were parked last. */
  readonly #runs = new Map<Execution, JournalledExecution>();
  /** The parked executions in memory. The first one has been parked the longest. */
  readonly #parked = new Set<Execution>();
  readonly capacity = new Capacity<object>();
  readonly #lines = new WorkingLines<Execution>(this.capacity);
  readonly #places: WorkOwners;
  readonly #returning = new Map<Execution, Promise<JournalledExecution | undefined>>();
  readonly #deliveries = new Set<Promise<void>>();
  readonly #alarms: Alarms<Execution>;
  #isDriving = false;
  #isClosing = false;
  #change = Promise.withResolvers<void>();

  constructor(executions: Executions, options: LiveOptions) {
    this.#executions = executions;
    this.#options = options;
    this.#places = new WorkOwners(executions, (execution) => this.#runs.get(execution)?.events, options.ownerOf);
    this.#alarms = new Alarms(
      options.clock,
      (execution) => void this.#onAlarm(execution),
      (execution, ms) => this.#onJump(execution, ms),
    );
  }

  get(execution: Execution): Pick<JournalledExecution, "events"> | undefined {
    return this.#runs.get(execution);
  }

  /**
   * Starts an execution. When this method returns, the start of the execution is on disk. The first state runs only
   * after the response to StartExecution was sent.
   */
  begin(execution: Execution, input: string): void {
    const opening = { format: 1, seed: randomBytes(32).toString("hex"), at: this.#options.clock.now() } as const;
    this.#executions.append(execution, opening);
    const run = this.#make(execution, input, { opening, inputs: [], events: [] });
    this.#executions.flush(execution);
    this.#runs.set(execution, run);
    run.begin();
    if (this.#isDriving) run.drive();
  }

  /** From now on, starts the requests of executions, and continues executions whose waits are over. */
  drive(): void {
    if (this.#isDriving) return;
    this.#isDriving = true;
    for (const execution of this.#executions.running()) {
      const run = this.#runs.get(execution);
      run?.drive();
      this.#alarms.set(execution, run ? run.pending.dueMs : (execution.parked?.due ?? null));
    }
    for (const child of this.#executions.endedBeforeParents()) this.#tellParent(child);
  }

  /** Answers the task with this token. Returns whether a task waited for it. If so, the answer is on disk. */
  async answerToken(token: string, answer: TaskAnswer): Promise<boolean> {
    this.#options.disk.requireSpace();
    const execution = this.#executions.get(executionOfToken(token));
    const run = execution && (await this.#awake(execution));
    const to = run?.pending.numberOf("token", token);
    const awaited = to !== undefined && (await run?.post({ to, value: { ...answer } })) === true;
    if (execution && awaited) this.#executions.flush(execution);
    return awaited;
  }

  /** Stops an execution. Resolves when it has ended. */
  async stop(execution: Execution, stop: Stop): Promise<void> {
    const run = await this.#awake(execution);
    this.#unpark(execution);
    await run?.stop(stop);
  }

  /**
   * Stops the busy executions, and the executions that wait for the end of one of them. Other parked executions stay.
   */
  async stopBusy(stop: Stop): Promise<void> {
    const doomed = new Set<Execution>();
    for (const [execution, run] of this.#runs) {
      let one: Execution | undefined = run.isBusy ? execution : undefined;
      for (; one?.status === "RUNNING"; one = this.#waitingParent(one)) doomed.add(one);
    }
    await Promise.all([...doomed].map((execution) => this.stop(execution, stop)));
  }

  /** Returns whether this process works on at least one execution. */
  isAtWork(): boolean {
    return this.#runs.values().some((run) => run.isBusy);
  }

  /** Resolves when no execution is at work and every status change has been delivered. */
  async idle(): Promise<void> {
    do {
      while (this.#isBusy) await this.#change.promise;
      // Lets listeners of status changes run first, because a listener may start another execution.
      await new Promise(setImmediate);
    } while (this.#isBusy);
  }

  /** Works like `idle`. Afterwards, parked executions start nothing on their own. */
  async rest(): Promise<void> {
    this.#isClosing = true;
    this.#alarms.allOff();
    for (const [execution, run] of this.#runs) this.#setAlarm(execution, run);
    await this.idle();
  }

  /**
   * Stops the work of this process. The next process that opens the folder continues the executions, except those that
   * were in the middle of a function: it ends them as interrupted.
   */
  async shutDown(): Promise<void> {
    this.#isClosing = true;
    this.#alarms.allOff();
    await Promise.all(this.#returning.values());
    for (const run of this.#runs.values()) run.shutDown();
    await Promise.all(this.#deliveries);
  }

  /**
   * Returns a running execution, and first restores it if it is not in memory. Undefined if it has ended, or ends now
   * because it cannot be restored.
   */
  async #awake(execution: Execution): Promise<JournalledExecution | undefined> {
    const run = this.#runs.get(execution);
    if (run || execution.status !== "RUNNING") return run;
    const returning = this.#returning.get(execution) ?? this.#return(execution);
    this.#returning.set(execution, returning);
    return returning;
  }

  /**
   * Ends the executions that a killed process left in the middle of a function, and the parents that wait for such an
   * execution. Returns all executions that it has ended.
   */
  async recover(): Promise<Execution[]> {
    const ended: Execution[] = [];
    for (const execution of this.#executions.running()) {
      const lost = ended.filter((child) => this.#waitingParent(child) === execution);
      if (execution.parked && lost.length === 0) continue;
      if (!execution.parked) this.#executions.repair(execution);
      if (execution.status !== "RUNNING") continue;
      try {
        const run = await this.#load(execution);
        if (run.pending.isInFunction || lost.some((child) => run.waitsFor(child))) throw new Error(STOPPED);
        this.#admit(execution, run);
      } catch (error) {
        ended.push(execution);
        this.#interrupt(execution, error);
      }
    }
    return ended;
  }

  #interrupt(execution: Execution, error: unknown): void {
    this.#forget(execution);
    this.#executions.interrupt(execution, (error as Error).message, this.#options.clock.now());
  }

  async #return(execution: Execution): Promise<JournalledExecution | undefined> {
    try {
      const run = await this.#load(execution);
      this.#admit(execution, run);
      return run;
    } catch (error) {
      this.#interrupt(execution, error);
      this.#tell(execution);
      return undefined;
    } finally {
      this.#returning.delete(execution);
      this.#changed();
    }
  }

  /**
   * Restores an execution from its file.
   * @throws Error if its inputs no longer lead to its recorded events
   */
  async #load(execution: Execution): Promise<JournalledExecution> {
    const { opening, inputs, events } = this.#executions.journal(execution);
    const { input } = inputAndEndOf(events);
    if (!opening || input === undefined) throw new Error(STOPPED);
    const recorded = { opening, inputs, events };
    const run = this.#make(execution, input, recorded);
    if (!(await run.bringBack(recorded))) throw new Error(OTHER_WAY);
    return run;
  }

  #make(execution: Execution, input: string, recorded: Recorded): JournalledExecution {
    const { machine, start } = this.#options.prepare(execution);
    return new JournalledExecution(machine, { ...start, input }, recorded, this.#ownerOf(execution));
  }

  #admit(execution: Execution, run: JournalledExecution): void {
    this.#runs.set(execution, run);
    if (this.#isDriving) run.drive();
    run.settle();
  }

  #ownerOf(execution: Execution): Owner {
    const { clock, disk, invokeLambda, readObject, startChild } = this.#options;
    return {
      now: () => clock.now(),
      write: (line) => this.#write(execution, line),
      invokeLambda: ({ functionArn, payload, handsOutToken, line }, stopSignal, over) => {
        this.#unpark(execution);
        // Writes the task to disk before the function gets its token, because the answer may come before the function
        // ends.
        if (handsOutToken) this.#executions.flush(execution);
        // Does not invoke the function if the execution was stopped, or its Map failed, while the line waited for its
        // turn. A line is a sequence of states, such as one iteration of a Map.
        const invoke = () =>
          over.aborted ? Promise.reject(killedError()) : invokeLambda(functionArn, payload, stopSignal);
        const onWait = (isOnlyLine: boolean) => this.#standStill(execution, isOnlyLine ? undefined : over);
        return this.#lines.run({ execution, line, place: this.#places.of(execution), onWait }, invoke);
      },
      startChild: (child, request) => startChild(child, { arn: execution.arn, request, awaited: true }),
      readObject,
      stopChild: (arn) => {
        const child = this.#executions.get(arn);
        if (child) this.stop(child, { kind: "aborted" });
      },
      endOfChild: (arn) => endOfChild(this.#executions, arn),
      onRest: () => this.#onRest(execution),
      onEnd: (outcome) => this.#onEnd(execution, outcome),
      pause: () => (disk.hasSpace ? undefined : disk.untilSpace()),
    };
  }

  /**
   * Writes a line to the execution's file. If the execution is parked and the line is an answer to it, the index first
   * records that the execution has work. The work starts now, or as soon as a process drives executions.
   */
  #write(execution: Execution, line: Line): void {
    if ("to" in line && execution.parked) {
      if (this.#isDriving) this.#unpark(execution);
      else this.#executions.park(execution, 0);
    }
    this.#executions.append(execution, line);
  }

  /**
   * Marks the execution as busy in the index. After a crash, the next process reads there whether the execution was
   * interrupted.
   */
  #unpark(execution: Execution): void {
    this.#parked.delete(execution);
    this.#executions.wake(execution);
  }

  #onRest(execution: Execution): void {
    const run = this.#runs.get(execution);
    if (!run) return;
    this.#setAlarm(execution, run);
    this.#lines.rest(execution);
    if (!run.isBusy) {
      this.#executions.park(execution, run.pending.dueMs);
      this.#parked.delete(execution);
      const [longest] = this.#parked.add(execution);
      if (longest && this.#parked.size > MAX_PARKED) this.#leave(longest);
    }
    this.#changed();
  }

  #onEnd(execution: Execution, outcome: Outcome): void {
    const events = this.#runs.get(execution)?.events;
    this.#forget(execution);
    this.#executions.end(execution, outcome.status, this.#options.clock.now());
    this.#tell(execution, events);
    this.#changed();
  }

  /** Reports the end of an execution to the execution that waits for it, and to the listener of status changes. */
  #tell(execution: Execution, events = this.#executions.history(execution)): void {
    if (execution.startedBy?.awaited) this.#tellParent(execution);
    const delivery = deliverStatusChange(statusChangeOf(execution, events), this.#options.onStatusChange).finally(
      () => {
        this.#deliveries.delete(delivery);
        this.#changed();
      },
    );
    this.#deliveries.add(delivery);
  }

  async #tellParent(child: Execution): Promise<void> {
    const parent = this.#waitingParent(child);
    const run = parent && (await this.#awake(parent));
    const to = run?.pending.numberOf("child", child.arn);
    const value = endOfChild(this.#executions, child.arn);
    if (to !== undefined && value) await run?.post({ to, value });
  }

  #waitingParent({ startedBy }: Execution): Execution | undefined {
    return startedBy?.awaited ? this.#executions.get(startedBy.arn) : undefined;
  }

  async #onAlarm(execution: Execution): Promise<void> {
    const run = await this.#awake(execution);
    if (run && !run.noticeTime()) this.#setAlarm(execution, run);
  }

  /**
   * Postpones the time limits of an execution by the time for which the machine slept, because its functions stood
   * still for this time, too.
   */
  #onJump(execution: Execution, ms: number): void {
    const run = this.#runs.get(execution);
    if (!run?.pending.isInFunction) return;
    run.pending.postponeDeadlines(ms);
    this.#setAlarm(execution, run);
  }

  /**
   * Stops the time limit of a call that waits for its turn, or all time limits of the execution if `over` is absent.
   * The returned function starts the same time limits again.
   */
  #standStill(execution: Execution, over: AbortSignal | undefined): () => void {
    const [run, since] = [this.#runs.get(execution), this.#options.clock.now()];
    const continueTime = run?.pending.standStill(over);
    return () => {
      continueTime?.(this.#options.clock.now() - since);
      if (run && this.#runs.get(execution) === run) this.#setAlarm(execution, run);
    };
  }

  #setAlarm(execution: Execution, run: JournalledExecution): void {
    const isSilent = !this.#isDriving || run.hasEnded || (this.#isClosing && !run.isBusy);
    this.#alarms.set(execution, isSilent ? null : run.pending.dueMs);
  }

  #forget(execution: Execution): void {
    this.#leave(execution);
    this.#alarms.set(execution, null);
  }

  /** Removes the execution from memory. Its file stays. */
  #leave(execution: Execution): void {
    this.#lines.leave(execution);
    this.#runs.get(execution)?.leave();
    this.#runs.delete(execution);
    this.#parked.delete(execution);
  }

  get #isBusy(): boolean {
    return this.#returning.size + this.#deliveries.size > 0 || this.isAtWork();
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

/** Finds out to whom the work of an execution belongs. The work of a child belongs to the execution that started it. */
class WorkOwners {
  readonly #executions: Executions;
  readonly #eventsOf: (execution: Execution) => readonly HistoryEvent[] | undefined;
  readonly #ownerOf: (input: string) => string;
  readonly #known = new WeakMap<Execution, LineOwner>();

  /**
   * `eventsOf` returns the events of an execution that is in memory. `ownerOf` returns the owner of an execution, given
   * its input. If `ownerOf` is absent, all executions have one owner.
   */
  constructor(
    executions: Executions,
    eventsOf: (execution: Execution) => readonly HistoryEvent[] | undefined,
    ownerOf: (input: string) => string = () => "",
  ) {
    this.#executions = executions;
    this.#eventsOf = eventsOf;
    this.#ownerOf = ownerOf;
  }

  of(execution: Execution): LineOwner {
    const known = this.#known.get(execution);
    if (known) return known;
    const parent = execution.startedBy && this.#executions.get(execution.startedBy.arn);
    const place = parent ? this.of(parent) : this.#ownPlace(execution);
    this.#known.set(execution, place);
    return place;
  }

  #ownPlace(execution: Execution): LineOwner {
    const { input = "" } = inputAndEndOf(this.#eventsOf(execution) ?? this.#executions.history(execution));
    return { owner: this.#ownerOf(input), work: execution.arn, since: execution.startedAt };
  }
}
