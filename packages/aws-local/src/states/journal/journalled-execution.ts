import type { Json } from "../../json.ts";
import { type ExecutionStart, type Outcome, prepareExecution, type Stop } from "../asl/execute.ts";
import type { StateMachine } from "../asl/state.ts";
import type { HistoryEvent } from "../history.ts";
import type { Execution } from "../store/executions.ts";
import type { Input, Opening } from "../store/lines.ts";
import { JournalledHost, type Owner } from "./journalled-host.ts";
import { type PendingRequest, PendingRequests } from "./pending-requests.ts";

/** An answer or a stop that has arrived from outside and waits until the execution takes it. */
type Arrival = { input: Omit<Input, "at">; heard(awaited: boolean): void } | { stop: Stop };

/** The contents of an execution's journal. */
export interface Recorded {
  opening: Opening;
  inputs: readonly Input[];
  events: readonly HistoryEvent[];
}

/**
 * An execution that can be restored from its journal. It takes one answer or stop from outside at a time: the next one
 * has to wait until all consequences of the previous one are written. So the execution takes the same steps in the same
 * order when it is restored. Until `drive` is called, the execution starts none of its requests.
 */
export class JournalledExecution {
  readonly events: HistoryEvent[] = [];
  /** Resolves when the end of the execution has been reported to its owner. */
  readonly ended: Promise<void>;
  readonly #owner: Owner;
  /** The requests of the execution that have no answer yet. */
  readonly pending: PendingRequests;
  readonly #host: JournalledHost;
  readonly #run: () => Promise<Outcome | undefined>;
  readonly #recorded: readonly HistoryEvent[];
  readonly #stopping = new AbortController();
  readonly #arrivals: Arrival[] = [];
  readonly #end = Promise.withResolvers<void>();
  #outcome: Outcome | undefined;
  #mode: "brought back" | "held" | "driven" | "left" = "brought back";
  /** Whether the last answer or stop may still have consequences. */
  #isTaking = true;
  #hasDiverged = false;

  constructor(machine: StateMachine, start: ExecutionStart, recorded: Recorded, owner: Owner) {
    this.ended = this.#end.promise;
    this.#owner = owner;
    this.#recorded = recorded.events;
    this.pending = new PendingRequests((number, request) => this.#mode === "driven" && this.#begin(number, request));
    const stopChild = (arn: string) => {
      if (this.#mode === "held" || this.#mode === "driven") owner.stopChild(arn);
    };
    const doing = { ...owner, stopChild };
    const { signal } = this.#stopping;
    this.#host = new JournalledHost(start.executionArn, recorded.opening, this.pending, doing, signal);
    const write = (event: HistoryEvent) => this.#write(event);
    this.#run = prepareExecution(machine, start, this.#host, write, signal);
  }

  /**
   * Runs the execution again with the inputs of its journal. Returns false if that does not lead to the recorded
   * events, for example because the interpreter has changed.
   */
  async bringBack({ inputs, events }: Recorded): Promise<boolean> {
    this.#start();
    await settleConsequences();
    for (const input of inputs) {
      if (!this.#take(input)) return false;
      await settleConsequences();
    }
    return !this.#hasDiverged && this.events.length >= events.length;
  }

  /** Starts a new execution. */
  begin(): void {
    this.#mode = "held";
    setImmediate(() => {
      this.#start();
      this.#followUp();
    });
  }

  /**
   * Called when all consequences of an answer or stop are written. Takes the next answer or stop. If there is none,
   * tells the owner that the execution waits or has ended.
   */
  settle(): void {
    if (this.#mode === "brought back") this.#mode = "held";
    this.#isTaking = false;
    if (this.#outcome) this.#finish(this.#outcome);
    else if (this.#arrivals.length > 0) this.#takeNext();
    else this.#owner.onRest();
  }

  /** Starts the waiting requests, and from now on every new one. */
  drive(): void {
    this.#mode = "driven";
    for (const [number, request] of this.pending.all()) if (!request.begun) this.#begin(number, request);
  }

  /**
   * Ends the use of this object: it takes no more answers and stops, and writes nothing more. To continue, the
   * execution is restored from its file.
   */
  leave(): void {
    this.#mode = "left";
  }

  /** Does what `leave` does, and also aborts the functions of the execution. */
  shutDown(): void {
    this.leave();
    this.#stopping.abort({ kind: "shutdown" } satisfies Stop);
  }

  /** Passes an input to the execution. Resolves with whether the execution waited for it. */
  post(input: Omit<Input, "at">): Promise<boolean> {
    return new Promise((heard) => this.#arrive({ input, heard }));
  }

  /** Stops the execution. Resolves when it has ended. */
  stop(stop: Stop): Promise<void> {
    this.#arrive({ stop });
    return this.ended;
  }

  /** Answers every request whose time has come. Returns false if there is no such request. */
  noticeTime(): boolean {
    const due = this.pending.dueBy(this.#owner.now());
    for (const to of due) this.post({ to });
    return due.length > 0;
  }

  /**
   * Returns whether this process still has work for the execution: a request that it has started, or an answer or stop
   * whose consequences are not all written.
   */
  get isBusy(): boolean {
    return this.#isTaking || this.#arrivals.length > 0 || this.pending.isAtWork;
  }

  get hasEnded(): boolean {
    return this.#outcome !== undefined;
  }

  /** Returns whether this execution has started the given one and waits for its end. */
  waitsFor({ arn, startedBy }: Execution): boolean {
    const start = startedBy && this.pending.numberOf("request", startedBy.request);
    return (start ?? this.pending.numberOf("child", arn)) !== undefined;
  }

  #start(): void {
    this.#run().then((outcome) => {
      this.#outcome = outcome;
    });
  }

  #arrive(arrival: Arrival): void {
    if (this.#mode === "left") refuse(arrival);
    else this.#arrivals.push(arrival);
    this.#takeNext();
  }

  #takeNext(): void {
    while (!this.#isTaking && this.#mode !== "left") {
      const arrival = this.#nextArrival();
      if (!arrival) return;
      if ("stop" in arrival) {
        this.#isTaking = true;
        this.#host.nowMs = this.#owner.now();
        this.#stopping.abort(arrival.stop);
      } else arrival.heard(this.#accept({ ...arrival.input, at: this.#owner.now() }));
      if (this.#isTaking) this.#followUp();
    }
  }

  /**
   * Returns the next answer or stop to take. While the disk is full it returns only a stop, because the consequences of
   * an answer could not be written.
   */
  #nextArrival(): Arrival | undefined {
    const pause = this.#arrivals.length > 0 ? this.#owner.pause() : undefined;
    if (!pause) return this.#arrivals.shift();
    pause.then(() => this.#takeNext());
    const stop = this.#arrivals.findIndex((arrival) => "stop" in arrival);
    return stop < 0 ? undefined : this.#arrivals.splice(stop, 1)[0];
  }

  /**
   * Writes an input to the journal before the input has any consequence. Returns whether the execution waited for it.
   */
  #accept(input: Input): boolean {
    if (this.#outcome || !this.pending.awaits(input.to)) return false;
    this.#isTaking = true;
    this.#owner.write(input);
    return this.#take(input);
  }

  #take(input: Input): boolean {
    this.#host.nowMs = input.at;
    return this.pending.answer(input);
  }

  async #followUp(): Promise<void> {
    await settleConsequences();
    if (this.#mode !== "left") this.settle();
  }

  #finish(outcome: Outcome): void {
    this.#mode = "left";
    for (const arrival of this.#arrivals.splice(0)) refuse(arrival);
    this.#owner.onEnd(outcome);
    this.#end.resolve();
  }

  #begin(number: number, request: PendingRequest): void {
    request.begun = true;
    const ended = request.child === undefined ? undefined : this.#owner.endOfChild(request.child);
    if (ended) this.post({ to: number, value: ended });
    request.begin?.().then(
      (value: Json) => this.post({ to: number, value }),
      (error: Error) => this.post({ to: number, error: { name: error.name, message: error.message } }),
    );
  }

  #write(event: HistoryEvent): void {
    const recorded = this.#recorded[event.id - 1];
    this.events.push(recorded ?? event);
    if (recorded) this.#hasDiverged ||= !isSameStep(recorded, event);
    else if (this.#mode !== "left") this.#owner.write(event);
  }
}

/**
 * Resolves when all consequences of an answer or stop have happened. The consequences depend only on promises, and Node
 * settles these before the next `setImmediate`.
 */
function settleConsequences(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Returns whether two events are the same step. A later version of the interpreter may write other texts into an event,
 * but must keep the order of events.
 */
function isSameStep(a: HistoryEvent, b: HistoryEvent): boolean {
  return a.type === b.type && a.previousEventId === b.previousEventId;
}

function refuse(arrival: Arrival): void {
  if ("heard" in arrival) arrival.heard(false);
}
