/**
 * A deterministic scheduler of cooperative processes. A process is an async function. Each request to the world is a
 * call, performed only when the random model or the test of a story picks it. Between
 * two calls, all promises settle. So every interleaving of calls can happen, and none happens by accident.
 */
export interface Call<T> {
  name: string;
  /** Changes the world synchronously. */
  effect: () => T;
  /** Creates the error of an outage; absent if the call cannot fail. */
  outage?: () => Error;
  /** Set for a conditional put, which the SDK can repeat after a lost response. */
  repeats?: boolean;
  /** Returns whether the call can be performed now; absent if it always can. */
  ready?: () => boolean;
}

/** Performs the calls of a port. */
export interface Caller {
  call<T>(call: Call<T>): Promise<T>;
}

/** A caller for plain tests: each call happens immediately and without faults. */
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

/** A limit far above the calls of any run that ends. */
const maxCalls = 20_000;

export class Endless extends Error {
  override name = "Endless";
}

export class Process implements Caller {
  readonly name: string;
  /** Its relative probability to be picked. */
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
      // A dead process gets no more answers.
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

  /** Returns the calls that can be performed now, in the order in which they were made. */
  ready(): PendingCall[] {
    return this.#pending.filter(({ call }) => call.ready?.() ?? true);
  }

  /** Performs a call, or lets it fail, and waits until every promise that can settle has settled. */
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

  /** All performed calls, one line each. */
  get story(): string[] {
    return this.#log.map(({ process, call, fault }) => `${process}: ${call}${fault ? ` [${fault}]` : ""}`);
  }
}

/** Resolves when no promise is left that can settle without another call. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
