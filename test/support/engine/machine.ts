import type { StateMachineRun } from "@nova/engine";
import type { ChoiceState, Retrier, State, StateMachine, TaskState } from "../../../packages/compiler/src/asl.ts";
import type { VirtualClock } from "./clock.ts";
import type { Process, Scheduler } from "./scheduler.ts";

type Json = Record<string, unknown>;

export interface TaskError {
  Error: string;
  Cause: string;
}

/** How a task was called: the function's name and its input. */
export interface Invocation {
  function: string;
  input: Json;
}

/** What the world does to tasks: deliver them, twice or late if it likes, and end their time. */
export interface Lambdas {
  invoke(invocation: Invocation): Process[];
  /** A task's time may end whenever this process is picked; null: it will not. */
  timer(onFired: () => void): Process | null;
  /** The most retries that any retrier is granted. */
  mostRetries: number;
}

/** One execution of a compiled state machine: Task, Choice, Pass and Fail, walked as Step Functions walks them. */
export class MachineRun {
  status: StateMachineRun["status"] = "running";
  error: TaskError | undefined;
  output: Json | undefined;
  /** States in the order in which they were entered. */
  readonly visited: string[] = [];
  readonly input: string;
  readonly process: Process;
  readonly #machine: StateMachine;
  readonly #lambdas: Lambdas;
  readonly #clock: VirtualClock;

  constructor(machine: StateMachine, input: string, scheduler: Scheduler, lambdas: Lambdas, clock: VirtualClock) {
    this.#machine = machine;
    this.input = input;
    this.#lambdas = lambdas;
    this.#clock = clock;
    this.process = scheduler.spawn("machine", (process) => this.#walk(process), 2);
  }

  /** StopExecution, or the end of the execution's time. */
  end(status: "aborted" | "timed_out", error?: TaskError): void {
    if (this.status !== "running") return;
    this.status = status;
    this.error = error;
    this.process.kill();
  }

  async #walk(process: Process): Promise<void> {
    let name: string | undefined = this.#machine.StartAt;
    let data = JSON.parse(this.input) as Json;
    while (name !== undefined) {
      const entered: string = name;
      const state: State | undefined = this.#machine.States[entered];
      if (!state) throw new RangeError(`there is no state "${entered}"`);
      await process.call({ name: `enter ${entered}`, effect: () => this.visited.push(entered) });
      switch (state.Type) {
        case "Pass":
          name = state.Next;
          break;
        case "Choice":
          name = chosen(state, data);
          break;
        case "Fail":
          this.status = "failed";
          this.error = {
            Error: state.Error ?? String(at(data, state.ErrorPath)),
            Cause: state.Cause ?? String(at(data, state.CausePath)),
          };
          return;
        case "Task": {
          const [next, result] = await this.#task(process, state, data);
          name = next;
          data = result;
        }
      }
    }
    if (this.error) {
      this.status = "failed";
    } else {
      this.status = "succeeded";
      this.output = data;
    }
  }

  async #task(process: Process, state: TaskState, data: Json): Promise<[string | undefined, Json]> {
    const input = state.Parameters ? resolved(state.Parameters, data) : data;
    const invocation: Invocation = { function: state.Resource.split(":").at(-2) ?? "", input };
    const used = new Map<Retrier, number>();
    for (;;) {
      const result = await this.#attempt(process, invocation);
      if (!("Error" in result)) return [state.Next, roundTrip(result.answer as Json)];
      const error = result as TaskError;
      const retrier = state.Retry.find(({ ErrorEquals }) => matches(ErrorEquals, error.Error));
      const retries = retrier ? (used.get(retrier) ?? 0) : 0;
      if (retrier && retries < Math.min(retrier.MaxAttempts, this.#lambdas.mostRetries)) {
        used.set(retrier, retries + 1);
        const due = this.#clock.now + 1000 * (retrier.IntervalSeconds ?? 1) * (retrier.BackoffRate ?? 2) ** retries;
        await process.call({ name: `back off after ${error.Error}`, effect: () => this.#clock.advanceTo(due) });
        continue;
      }
      const catcher = state.Catch?.find(({ ErrorEquals }) => matches(ErrorEquals, error.Error));
      if (catcher) return [catcher.Next, { ...data, error: roundTrip({ ...error }) }];
      this.error = error;
      return [undefined, data];
    }
  }

  async #attempt(process: Process, invocation: Invocation): Promise<{ answer: unknown } | TaskError> {
    const deliveries = await process.call({
      name: `invoke ${invocation.function} ${String(invocation.input.node ?? "")}`,
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

function outcomeOf(delivery: Process | undefined): { answer: unknown } | TaskError {
  if (!delivery) return { Error: "States.Timeout", Cause: "" };
  if (delivery.state === "killed") return { Error: "Lambda.Unknown", Cause: "The process exited" };
  if (delivery.state === "done") return { answer: delivery.answer };
  const { name, message } = delivery.error as Error;
  return { Error: name, Cause: JSON.stringify({ errorType: name, errorMessage: message }) };
}

function matches(names: readonly string[], error: string): boolean {
  return names.includes(error) || names.includes("States.ALL");
}

function chosen({ Choices, Default }: ChoiceState, data: Json): string {
  const rule = Choices.find(({ Variable, StringEquals, BooleanEquals }) => {
    const value = at(data, Variable);
    return value !== undefined && value === (StringEquals ?? BooleanEquals);
  });
  return rule?.Next ?? Default;
}

function resolved(parameters: { readonly [key: string]: unknown }, data: Json): Json {
  const members = Object.entries(parameters).map(([key, value]) => {
    if (!key.endsWith(".$")) return [key, value];
    const found = at(data, value as string);
    if (found === undefined) throw new RangeError(`States.ParameterPathFailure: ${value}`);
    return [key.slice(0, -2), found];
  });
  return Object.fromEntries(members) as Json;
}

/** The value at a path such as `$.error.Cause`. */
function at(data: unknown, path: string | undefined): unknown {
  const steps = (path ?? "$").split(".").slice(1);
  return steps.reduce((value: unknown, step) => (value as Json | undefined)?.[step], data);
}

function roundTrip<T extends Json>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
