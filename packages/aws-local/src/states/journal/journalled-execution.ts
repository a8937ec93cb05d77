import type { Json } from "../../json.ts";
import { type ExecutionStart, type Outcome, prepareExecution, type Stop } from "../asl/execute.ts";
import type { StateMachine } from "../asl/state.ts";
import type { HistoryEvent } from "../history.ts";
import type { Execution } from "../store/executions.ts";
import type { Input, Opening } from "../store/lines.ts";
import { JournalledHost, type Owner } from "./journalled-host.ts";
import { type PendingRequest, PendingRequests } from "./pending-requests.ts";

/** An arrival from outside that the execution has not taken yet. */
type Arrival = { input: Omit<Input, "at">; heard(awaited: boolean): void } | { stop: Stop };

/** The contents of an execution's journal. */
export interface Recorded {
  opening: Opening;
  inputs: readonly Input[];
  events: readonly HistoryEvent[];
}

/**
 * An execution that its journal can restore. It takes one arrival after the other, each with all of its consequences
 * before the next. So the order in the file is the only order. Requests of the execution start while it is driven;
 * otherwise they wait.
 */
export class JournalledExecution {
  readonly events: HistoryEvent[] = [];
  /** Resolves when its end has been reported. */
  readonly ended: Promise<void>;
  readonly #owner: Owner;
  /** Requests of the execution without an answer. */
  readonly pending: PendingRequests;
  readonly #host: JournalledHost;
  readonly #run: () => Promise<Outcome | undefined>;
  readonly #recorded: readonly HistoryEvent[];
  readonly #stopping = new AbortController();
  readonly #arrivals: Arrival[] = [];
  readonly #end = Promise.withResolvers<void>();
  #outcome: Outcome | undefined;
  #mode: "brought back" | "held" | "driven" | "left" = "brought back";
  /** Consequences of an arrival are still to come. */
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

  /** Runs the execution as far as the journal reaches. Returns false if the definition no longer leads there. */
  async bringBack({ inputs, events }: Recorded): Promise<boolean> {
    this.#start();
    await settleConsequences();
    for (const input of inputs) {
      if (!this.#take(input)) return false;
      await settleConsequences();
    }
    return !this.#hasDiverged && this.events.length >= events.length;
  }

  /** Starts the execution; call it once after creation or after it was restored. */
  begin(): void {
    this.#mode = "held";
    setImmediate(() => {
      this.#start();
      this.#followUp();
    });
  }

  /** Reports its state to its owner. */
  settle(): void {
    if (this.#mode === "brought back") this.#mode = "held";
    this.#isTaking = false;
    if (this.#outcome) this.#finish(this.#outcome);
    else if (this.#arrivals.length > 0) this.#takeNext();
    else this.#owner.onRest();
  }

  /** Starts requests from now on. */
  drive(): void {
    this.#mode = "driven";
    for (const [number, request] of this.pending.all()) if (!request.begun) this.#begin(number, request);
  }

  /** Detaches the execution: it takes no more arrivals, and writes nothing more. Only its file remains. */
  leave(): void {
    this.#mode = "left";
  }

  /** Detaches the execution and kills its functions. */
  shutDown(): void {
    this.leave();
    this.#stopping.abort({ kind: "shutdown" } satisfies Stop);
  }

  /** Takes an input. Resolves with whether the execution waited for it. */
  post(input: Omit<Input, "at">): Promise<boolean> {
    return new Promise((heard) => this.#arrive({ input, heard }));
  }

  /** Resolves when the execution has ended. */
  stop(stop: Stop): Promise<void> {
    this.#arrive({ stop });
    return this.ended;
  }

  /** Answers requests whose time has come. Returns false if there are none. */
  noticeTime(): boolean {
    const due = this.pending.dueBy(this.#owner.now());
    for (const to of due) this.post({ to });
    return due.length > 0;
  }

  /** Whether this process still works on the execution or on the consequences of an arrival. */
  get isBusy(): boolean {
    return this.#isTaking || this.#arrivals.length > 0 || this.pending.isAtWork;
  }

  get hasEnded(): boolean {
    return this.#outcome !== undefined;
  }

  /** Whether the execution started the other one and has not received its end. */
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

  /** Takes only a stop while the disk is full: other consequences could not be written. */
  #nextArrival(): Arrival | undefined {
    const pause = this.#arrivals.length > 0 ? this.#owner.pause() : undefined;
    if (!pause) return this.#arrivals.shift();
    pause.then(() => this.#takeNext());
    const stop = this.#arrivals.findIndex((arrival) => "stop" in arrival);
    return stop < 0 ? undefined : this.#arrivals.splice(stop, 1)[0];
  }

  /** Writes the input before it has a consequence. */
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

/** Resolves after all consequences of an arrival: between two arrivals there are only promises. */
function settleConsequences(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A later version of the interpreter may change the texts of events, but not their order. */
function isSameStep(a: HistoryEvent, b: HistoryEvent): boolean {
  return a.type === b.type && a.previousEventId === b.previousEventId;
}

function refuse(arrival: Arrival): void {
  if ("heard" in arrival) arrival.heard(false);
}
