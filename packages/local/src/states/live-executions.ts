import type { InvokeLambda } from "../lambda-types.ts";
import { directOutside } from "./asl/direct-outside.ts";
import {
  type ExecutionStart,
  type PreparedExecution,
  prepareExecution,
  type Services,
  type Stop,
} from "./asl/execute.ts";
import type { StateMachine } from "./asl/state.ts";
import type { TaskTokens } from "./asl/task/task-tokens.ts";
import type { Clock } from "./clock.ts";
import type { HistoryEvent } from "./history.ts";
import { type StatusChange, statusChangeOf } from "./status-change.ts";
import type { Execution, Executions } from "./store/executions.ts";

export interface LiveOptions {
  clock: Clock;
  invokeLambda: InvokeLambda;
  tokens: TaskTokens;
  onStatusChange(change: StatusChange): void | Promise<void>;
}

interface Live {
  input: string;
  events: HistoryEvent[];
  stop: AbortController;
  ended: Promise<void>;
}

/** The executions that run in this process. */
export class LiveExecutions {
  readonly #executions: Executions;
  readonly #options: LiveOptions;
  readonly #live = new Map<Execution, Live>();
  readonly #deliveries = new Set<Promise<void>>();

  constructor(executions: Executions, options: LiveOptions) {
    this.#executions = executions;
    this.#options = options;
  }

  get(execution: Execution): Pick<Live, "input" | "events"> | undefined {
    return this.#live.get(execution);
  }

  /** The start is on disk when this returns; the first state runs after the answer to StartExecution is on its way. */
  begin(execution: Execution, machine: StateMachine, start: ExecutionStart): void {
    const events: HistoryEvent[] = [];
    const stop = new AbortController();
    const { clock, invokeLambda, tokens } = this.#options;
    const write = (event: HistoryEvent) => {
      events.push(event);
      this.#executions.append(execution, event);
    };
    const { executionArn } = start;
    const outside = directOutside({ clock, invokeLambda, tokens, executionArn, stopSignal: stop.signal });
    const services: Services = { outside, write };
    const prepared = prepareExecution(machine, start, services, stop.signal);
    this.#executions.flush(execution);
    const ended = this.#runToEnd(execution, prepared, start);
    this.#live.set(execution, { input: start.input, events, stop, ended });
  }

  /** Resolves when the execution has ended; at once where it had before. */
  async stop(execution: Execution, stop: Stop): Promise<void> {
    const live = this.#live.get(execution);
    live?.stop.abort(stop);
    await live?.ended;
  }

  /** Resolves when nothing runs any more and every change of status was delivered. */
  async idle(): Promise<void> {
    while (this.#live.size + this.#deliveries.size > 0) {
      await Promise.all([...this.#deliveries, ...[...this.#live.values()].map((live) => live.ended)]);
    }
  }

  /** Leaves what runs unfinished, to be found as interrupted. */
  async shutDown(): Promise<void> {
    for (const live of this.#live.values()) live.stop.abort({ kind: "shutdown" } satisfies Stop);
    await this.idle();
  }

  async #runToEnd(execution: Execution, prepared: PreparedExecution, start: ExecutionStart): Promise<void> {
    await new Promise(setImmediate);
    const outcome = await prepared.run();
    if (outcome) this.#executions.end(execution, outcome.status, this.#options.clock.now());
    this.#live.delete(execution);
    if (!outcome) return;
    const delivery = this.#deliver(statusChangeOf(execution, outcome, start.input));
    this.#deliveries.add(delivery);
    delivery.finally(() => this.#deliveries.delete(delivery));
  }

  /** As EventBridge: best effort. Whoever must not miss one asks DescribeExecution. */
  async #deliver(change: StatusChange): Promise<void> {
    try {
      await this.#options.onStatusChange(change);
    } catch (error) {
      process.emitWarning(`The status change of execution "${change.name}" was not taken: ${error}`);
    }
  }
}
