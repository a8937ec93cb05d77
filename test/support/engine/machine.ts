import type { StateMachineRun } from "@nova/engine";
import type {
  Branch,
  Catcher,
  FailState,
  MapState,
  ParallelState,
  Parameters,
  Retrier,
  State,
  StateMachine,
  TaskState,
} from "../../../packages/compiler/src/asl.ts";
import type { VirtualClock } from "./clock.ts";
import { at, chosen, type Json, resolved, roundTrip } from "./machine-data.ts";
import type { Process, Scheduler } from "./scheduler.ts";
import type { Tokens } from "./tokens.ts";

export interface TaskError {
  Error: string;
  Cause: string;
}

/** A call of a Lambda function by a task: the name of the function, and its input. */
export interface Invocation {
  function: string;
  input: Json;
}

/** Decides how often tasks reach their Lambdas, when they reach them, and whether they time out. */
export interface Lambdas {
  invoke(invocation: Invocation): Process[];
  /** Returns a process that lets the task time out when the scheduler picks it; null if the task never times out. */
  timer(onFired: () => void): Process | null;
  /** The largest number of retries for every retrier, even if the state machine allows more. */
  maxRetries: number;
}

/**
 * Starts a child execution, as `states:startExecution.sync:2` does. Returns the child, or the error that prevents its
 * start.
 */
export type StartChild = (arn: string, name: string, input: string) => MachineRun | TaskError;

/** The parts of the world that an execution uses. */
interface Surroundings {
  scheduler: Scheduler;
  lambdas: Lambdas;
  clock: VirtualClock;
  tokens: Tokens;
  startChild: StartChild;
}

/** The end of a state, a branch or an execution. */
type Ended = { output: Json } | { error: TaskError };
type Stepped = { output: Json; next: string | undefined } | { error: TaskError };

/** One execution of a compiled state machine. It follows the states as Step Functions does. */
export class MachineRun {
  status: StateMachineRun["status"] = "running";
  error: TaskError | undefined;
  output: Json | undefined;
  /** Entered states, in order. */
  readonly visited: string[] = [];
  /** Entered states, in order, by the scope that the input of the state names. */
  readonly visitedIn = new Map<string, string[]>();
  readonly input: string;
  readonly process: Process;
  readonly #branches = new Set<Process>();
  readonly #scheduler: Scheduler;
  readonly #lambdas: Lambdas;
  readonly #clock: VirtualClock;
  readonly #startChild: StartChild;
  readonly #tokens: Tokens;

  constructor(machine: StateMachine, input: string, { scheduler, lambdas, clock, tokens, startChild }: Surroundings) {
    this.input = input;
    this.#tokens = tokens;
    this.#scheduler = scheduler;
    this.#lambdas = lambdas;
    this.#clock = clock;
    this.#startChild = startChild;
    this.process = scheduler.spawn("machine", (process) => this.#run(process, machine), 2);
  }

  /** Ends the execution, as StopExecution or its timeout does. */
  end(status: "aborted" | "timed_out", error?: TaskError): void {
    if (this.status !== "running") return;
    this.status = status;
    this.error = error;
    this.process.kill();
    for (const branch of this.#branches) branch.kill();
  }

  async #run(process: Process, machine: StateMachine): Promise<void> {
    const ended = await this.#walk(process, machine, JSON.parse(this.input) as Json);
    if ("error" in ended) this.error = ended.error;
    else this.output = ended.output;
    this.status = "error" in ended ? "failed" : "succeeded";
  }

  async #walk(process: Process, { StartAt, States }: Branch, input: Json): Promise<Ended> {
    let name: string | undefined = StartAt;
    let data = input;
    while (name !== undefined) {
      const entered: string = name;
      const state: State | undefined = States[entered];
      if (!state) throw new RangeError(`there is no state "${entered}"`);
      await process.call({ name: `enter ${entered}`, effect: () => this.#enter(entered, data) });
      const stepped = await this.#step(process, state, data);
      if ("error" in stepped) return stepped;
      name = stepped.next;
      const isEnd = name === undefined && "OutputPath" in state && state.OutputPath === null;
      data = isEnd ? {} : stepped.output;
    }
    return { output: data };
  }

  /**
   * Records that a state was entered. Removes the suffix `.distributed`, which a map that runs each item in a separate
   * execution adds to its id.
   */
  #enter(state: string, { scope }: Json): void {
    const name = state.replace(/\.distributed$/, "");
    this.visited.push(name);
    this.visitedIn.set(String(scope), [...(this.visitedIn.get(String(scope)) ?? []), name]);
  }

  async #step(process: Process, state: State, data: Json): Promise<Stepped> {
    switch (state.Type) {
      case "Pass":
        return { output: state.Parameters ? resolved(state.Parameters, data) : data, next: state.Next };
      case "Choice":
        return { output: data, next: chosen(state, data) };
      case "Wait":
        if (state.SecondsPath !== undefined) this.#clock.advance(Number(at(data, state.SecondsPath)) * 1000);
        else this.#clock.advanceTo(Date.parse(String(at(data, state.TimestampPath))));
        return { output: data, next: state.Next };
      case "Fail":
        return { error: failureIn(state, data) };
      case "Task": {
        const ended = await this.#task(process, state, data);
        if ("error" in ended) return caught(state.Catch, ended.error, data);
        if (state.OutputPath === "$.Output") return { output: at(ended.output, "$.Output") as Json, next: undefined };
        return { output: state.ResultPath === null ? data : ended.output, next: state.Next };
      }
      default: {
        const error = await (state.Type === "Map" ? this.#map(process, state, data) : this.#fork(process, state, data));
        return error ? caught(state.Catch, error, data) : { output: data, next: state.Next };
      }
    }
  }

  #fork(process: Process, { Branches }: ParallelState, data: Json): Promise<TaskError | undefined> {
    const starts = Branches.map((branch) => () => this.#branch(branch, roundTrip(data)));
    return this.#together(process, starts, starts.length);
  }

  async #map(process: Process, state: MapState, data: Json): Promise<TaskError | undefined> {
    if (!state.ItemReader) return this.#each(process, state, data, at(data, state.ItemsPath) as unknown[]);
    const numbers = Array.from({ length: Number(at(data, "$.count")) }, (_, index) => index);
    const error = await this.#each(process, state, data, numbers);
    return error && { Error: "States.ExceedToleratedFailureThreshold", Cause: "The threshold was exceeded" };
  }

  #each(process: Process, state: MapState, data: Json, items: unknown[]): Promise<TaskError | undefined> {
    const inputs = items.map((Value) => resolved(state.ItemSelector, data, { Map: { Item: { Value } } }));
    const starts = inputs.map((input) => () => this.#branch(state.ItemProcessor, input));
    return this.#together(process, starts, state.MaxConcurrency || starts.length);
  }

  #branch(branch: Branch, input: Json): Process {
    const walk = this.#scheduler.spawn(`machine ${branch.StartAt}`, (own) => this.#walk(own, branch, input), 2);
    this.#branches.add(walk);
    return walk;
  }

  /** Runs branches or items, at most `maxAtOnce` at the same time. The first failure ends all others. */
  async #together(process: Process, starts: (() => Process)[], maxAtOnce: number): Promise<TaskError | undefined> {
    const waiting = [...starts];
    const running = new Set<Process>();
    while (waiting.length + running.size > 0) {
      while (running.size < maxAtOnce && waiting.length > 0) running.add((waiting.shift() as () => Process)());
      const over = await process.call({
        name: "a branch is over",
        ready: () => Array.from(running).some(({ isOver }) => isOver),
        effect: () => Array.from(running).find(({ isOver }) => isOver) as Process,
      });
      running.delete(over);
      const ended = over.answer as Ended | undefined;
      if (ended && !("error" in ended)) continue;
      for (const other of running) other.kill();
      return ended?.error ?? { Error: "States.Runtime", Cause: String(over.error) };
    }
    return undefined;
  }

  async #task(process: Process, state: TaskState, data: Json): Promise<Ended> {
    const attempt = (RetryCount: number) => {
      if (state.Resource.endsWith(".waitForTaskToken")) return this.#pending(process, state, data);
      if (state.Resource.endsWith(":startExecution.sync:2")) return this.#child(process, state, data);
      return this.#attempt(process, invocationOf(state.Resource, state.Parameters, data, { State: { RetryCount } }));
    };
    const used = new Map<Retrier, number>();
    for (let retryCount = 0; ; retryCount++) {
      const ended = await attempt(retryCount);
      if (!("error" in ended)) return { output: roundTrip(ended.output) };
      const retrier = state.Retry.find(({ ErrorEquals }) => matches(ErrorEquals, ended.error.Error));
      const retries = retrier ? (used.get(retrier) ?? 0) : 0;
      if (!retrier || retries >= Math.min(retrier.MaxAttempts, this.#lambdas.maxRetries)) return ended;
      used.set(retrier, retries + 1);
      const { IntervalSeconds = 1, BackoffRate = 2, MaxDelaySeconds = Number.POSITIVE_INFINITY } = retrier;
      const due = this.#clock.now + 1000 * Math.min(IntervalSeconds * BackoffRate ** retries, MaxDelaySeconds);
      await process.call({ name: `back off after ${ended.error.Error}`, effect: () => this.#clock.advanceTo(due) });
    }
  }

  /** Runs a task that waits for an answer to its token. The task ends with that answer, or with a timeout. */
  async #pending(process: Process, { Parameters = {} }: TaskState, data: Json): Promise<Ended> {
    const token = this.#tokens.issue();
    const { FunctionName, Payload } = resolved(Parameters, data, { Task: { Token: token } });
    const asked = await this.#attempt(process, { function: nameIn(String(FunctionName)), input: Payload as Json });
    if ("error" in asked) return asked;
    let timedOut = false;
    const passing = () => {
      timedOut = true;
      this.#clock.advance(taskTimeMs);
    };
    const time = this.#scheduler.spawn("time", (own) => own.call({ name: "passes", effect: passing }), 0.02);
    const output = await process.call({
      name: "token comes back",
      ready: () => timedOut || this.#tokens.answerTo(token) !== undefined,
      effect: () => this.#tokens.answerTo(token),
    });
    time.kill();
    this.#tokens.revoke(token);
    return output ? { output } : { error: { Error: "States.Timeout", Cause: "" } };
  }

  /**
   * Runs a child execution and waits for its end. If the parent is stopped, the child continues in this simulation,
   * because the real Step Functions does not guarantee that it stops the child.
   */
  async #child(process: Process, { Parameters = {} }: TaskState, data: Json): Promise<Ended> {
    const { StateMachineArn, Name, Input } = resolved(Parameters, data);
    const run = await process.call({
      name: `start ${String(Name)}`,
      effect: () => this.#startChild(String(StateMachineArn), String(Name), JSON.stringify(Input)),
    });
    if ("Error" in run) return { error: run };
    await process.call({ name: "child is over", ready: () => run.status !== "running", effect: () => undefined });
    if (run.status === "succeeded") return { output: { Output: run.output ?? {} } };
    return { error: { Error: "States.TaskFailed", Cause: JSON.stringify({ Status: run.status }) } };
  }

  async #attempt(process: Process, invocation: Invocation): Promise<Ended> {
    const deliveries = await process.call({
      name: `invoke ${invocation.function} ${String(invocation.input.node ?? invocation.input.join ?? "")}`,
      effect: () => this.#lambdas.invoke({ ...invocation, input: roundTrip(invocation.input) }),
    });
    let timedOut = false;
    const timer = this.#lambdas.timer(() => {
      timedOut = true;
    });
    const over = () => deliveries.find(({ isOver }) => isOver);
    const responder = await process.call({
      name: "task is over",
      ready: () => timedOut || over() !== undefined,
      effect: () => (timedOut ? undefined : over()),
    });
    timer?.kill();
    return outcomeOf(responder);
  }
}

/** The time by which the clock advances when a task times out. It is longer than the timeout of every task. */
const taskTimeMs = 2 * 24 * 3600 * 1000;

function invocationOf(resource: string, parameters: Parameters | undefined, data: Json, context: Json): Invocation {
  return { function: nameIn(resource), input: parameters ? resolved(parameters, data, context) : data };
}

/** Returns the name of the function whose alias has this ARN. */
function nameIn(arn: string): string {
  return arn.split(":").at(-2) ?? "";
}

function outcomeOf(delivery: Process | undefined): Ended {
  if (!delivery) return { error: { Error: "States.Timeout", Cause: "" } };
  if (delivery.state === "killed") return { error: { Error: "Lambda.Unknown", Cause: "The process exited" } };
  if (delivery.state === "done") return { output: delivery.answer as Json };
  const { name, message } = delivery.error as Error;
  return { error: { Error: name, Cause: JSON.stringify({ errorType: name, errorMessage: message }) } };
}

function failureIn(state: FailState, data: Json): TaskError {
  return {
    Error: state.Error ?? String(at(data, state.ErrorPath)),
    Cause: state.Cause ?? String(at(data, state.CausePath)),
  };
}

function caught(catchers: readonly Catcher[] | undefined, error: TaskError, data: Json): Stepped {
  const catcher = catchers?.find(({ ErrorEquals }) => matches(ErrorEquals, error.Error));
  return catcher ? { output: { ...data, error: roundTrip({ ...error }) }, next: catcher.Next } : { error };
}

function matches(names: readonly string[], error: string): boolean {
  return names.includes(error) || names.includes("States.ALL");
}
