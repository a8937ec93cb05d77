/**
 * A call that a process makes to the world around it. A process is an async function. The scheduler performs its calls
 * one at a time, when the random simulation or a story picks them. Between two calls, all promises settle. So a test
 * can try every order of calls, and the same picks always give the same run.
 */
export interface Call<T> {
  name: string;
  /** Does the work of the call, synchronously, and returns its answer. */
  effect: () => T;
  /** Creates the error that the caller gets in an outage; absent if the call cannot fail. */
  outage?: () => Error;
  /** Set for a conditional put. The SDK may send it again if the response was lost. */
  repeats?: boolean;
  /** Returns whether the call can be performed now; absent if it always can. */
  ready?: () => boolean;
}

/** A port, such as the port of a store, makes its calls through a caller. Each process of the scheduler is a caller. */
export interface Caller {
  call<T>(call: Call<T>): Promise<T>;
}

/** A caller for tests without a scheduler: it performs each call immediately and without faults. */
export const atOnce: Caller = {
  async call({ effect }) {
    return effect();
  },
};

/**
 * `before`: the call fails without effect. `after`: the call takes effect, but its answer is lost. `repeat`: the call
 * takes effect, and the SDK sends it again. `kill`: the process dies.
 */
export type Fault = "before" | "after" | "repeat" | "kill";

export interface PendingCall {
  process: Process;
  call: Call<unknown>;
  weight: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** The number of calls after which a run counts as endless. Real runs need far fewer. */
const maxCalls = 20_000;

export class Endless extends Error {
  override name = "Endless";
}

export class Process implements Caller {
  readonly name: string;
  /** A process with twice the weight is picked twice as often. */
  readonly weight: number;
  state: "running" | "done" | "failed" | "killed" = "running";
  answer: unknown;
  error: unknown;
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler, name: string, weight: number) {
    this.#scheduler = scheduler;
    this.name = name;
    this.weight = weight;
  }

  call<T>(call: Call<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // A killed process must not continue, so its call is never answered.
      if (this.state === "killed") return;
      this.#scheduler.enqueue({
        process: this,
        call,
        weight: this.weight,
        resolve: resolve as (value: unknown) => void,
        reject,
      });
    });
  }

  kill(): void {
    if (this.state !== "running") return;
    this.state = "killed";
    this.#scheduler.forget(this);
  }

  get isOver(): boolean {
    return this.state !== "running";
  }
}

export class Scheduler {
  #pending: PendingCall[] = [];
  readonly #log: { process: string; call: string; fault: Fault | undefined }[] = [];
  /** Called for every process that ends with an error. */
  onFailure: (process: Process, error: unknown) => void = () => undefined;

  spawn(name: string, body: (process: Process) => Promise<unknown>, weight = 1): Process {
    const process = new Process(this, name, weight);
    const end = (state: "done" | "failed", outcome: Partial<Process>) => {
      if (process.state === "killed") return;
      Object.assign(process, outcome, { state });
      if (state === "failed") this.onFailure(process, outcome.error);
    };
    body(process).then(
      (answer) => end("done", { answer }),
      (error: unknown) => end("failed", { error }),
    );
    return process;
  }

  enqueue(call: PendingCall): void {
    this.#pending.push(call);
  }

  forget(process: Process): void {
    this.#pending = this.#pending.filter((pending) => pending.process !== process);
  }

  /** Returns the pending calls that can be performed now, oldest first. */
  ready(): PendingCall[] {
    return this.#pending.filter(({ call }) => call.ready?.() ?? true);
  }

  /** Performs a pending call, with `fault` if that is set. Then waits until no more promises can settle. */
  async perform(pending: PendingCall, fault?: Fault): Promise<void> {
    if (this.#log.length >= maxCalls) throw new Endless(`there is no end after ${maxCalls} calls`);
    const { process, call } = pending;
    this.#log.push({ process: process.name, call: call.name, fault });
    this.#pending.splice(this.#pending.indexOf(pending), 1);
    if (fault === "kill") process.kill();
    else if (fault === "repeat") this.#echo(pending);
    else this.#answer(pending, fault);
    await settled();
  }

  #answer({ call, resolve, reject }: PendingCall, fault: "before" | "after" | undefined): void {
    try {
      const value = fault === "before" ? undefined : call.effect();
      if (fault) reject(call.outage?.());
      else resolve(value);
    } catch (error) {
      reject(error);
    }
  }

  #echo(pending: PendingCall): void {
    pending.call.effect();
    this.enqueue({ ...pending, call: { ...pending.call, repeats: false } });
  }

  /** The calls that were performed so far, one line each. */
  get story(): string[] {
    return this.#log.map(({ process, call, fault }) => `${process}: ${call}${fault ? ` [${fault}]` : ""}`);
  }
}

/** Resolves when all promises have settled that need no further call. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
