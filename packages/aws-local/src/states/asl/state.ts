import type { Json, JsonObject } from "../../json.ts";
import type { Definition } from "./definition.ts";
import { assertWithinDataLimit, EvaluationFailure, runtimeFailure } from "./failure.ts";
import type { PendingTask } from "./host.ts";
import { compilePath, compileResultPath, type Expression, type Scope } from "./path.ts";
import type { Thread } from "./thread.ts";

export type StateType = "Task" | "Pass" | "Choice" | "Wait" | "Succeed" | "Fail" | "Parallel" | "Map";

export interface Transition {
  output: Json;
  /** The name of the next state; undefined after the last state. */
  next: string | undefined;
}

/** A state after parsing and checking. */
export interface State {
  readonly name: string;
  readonly type: StateType;
  run(input: Json, visit: Visit): Promise<Transition> | Transition;
}

export interface StateMachine {
  readonly startAt: string;
  readonly states: ReadonlyMap<string, State>;
  readonly timeoutSeconds: number | undefined;
}

/** One visit of a state: a loop visits the same state several times. */
export class Visit {
  readonly state: State;
  readonly thread: Thread;
  enteredEventId = 0;
  /** The number of retries so far, which paths read as `$$.State.RetryCount`. */
  retryCount = 0;
  /** The task that waits for an answer from outside. Paths read its token as `$$.Task.Token`. */
  pendingTask: PendingTask | undefined;

  constructor(state: State, thread: Thread) {
    this.state = state;
    this.thread = thread;
  }

  /**
   * Returns the data that paths can read. `map` is the value of `$$.Map`. A Map passes it for an iteration that is
   * about to start. By default it is the value of this thread.
   */
  scope(data: Json, map = this.thread.map): Scope {
    const context: JsonObject = { State: { Name: this.state.name, RetryCount: this.retryCount } };
    if (this.pendingTask) context.Task = { Token: this.pendingTask.token };
    if (map) context.Map = map;
    return { data, context };
  }

  /** Adds the name of this state to a failure of one of its fields. Returns any other error unchanged. */
  locate(error: unknown): unknown {
    return error instanceof EvaluationFailure ? error.located(this.state.name, this.enteredEventId) : error;
  }

  assertWithinDataLimit(value: Json): void {
    assertWithinDataLimit(JSON.stringify(value), this.state.name);
  }
}

/**
 * Runs a machine, or the body of a branch, from its first state to its last.
 * @throws an uncaught StateFailure, or Cancelled
 */
export async function enter(machine: StateMachine, input: Json, thread: Thread): Promise<Json> {
  let data = input;
  let name: string | undefined = machine.startAt;
  while (name !== undefined) {
    const state = machine.states.get(name);
    if (!state) throw runtimeFailure(`The state "${name}" does not exist.`);
    thread.assertRunning();
    const transition: Transition = await stay(state, data, thread);
    data = transition.output;
    name = transition.next;
  }
  return data;
}

async function stay(state: State, input: Json, thread: Thread): Promise<Transition> {
  const visit = new Visit(state, thread);
  const { name, type } = state;
  thread.current = state;
  visit.enteredEventId = thread.record(`${type}StateEntered`, { name, input: JSON.stringify(input) });
  let transition: Transition;
  try {
    transition = await state.run(input, visit);
  } catch (error) {
    throw visit.locate(error);
  }
  const exited = { name, output: JSON.stringify(transition.output) };
  thread.record(`${type}StateExited` as "TaskStateExited", exited);
  thread.current = undefined;
  return transition;
}

/**
 * Reads the name of the next state, or undefined for `End`. The definition must have exactly one of `Next` and `End`.
 */
export function compileNext(definition: Definition): string | undefined {
  const next = definition.optionalText("Next");
  const end = definition.get("End");
  if (end !== undefined && end !== true) throw definition.reject("End", "must be true");
  if ((next === undefined) !== (end === true))
    throw definition.reject("Next", 'or "End": true must be given, and not both');
  return next;
}

/**
 * Compiles the output of a state: ResultPath places the result in the raw input, and OutputPath selects a part of that;
 * the OutputPath `null` gives `{}`. @throws StateFailure above the data limit
 */
export function compileOutput(definition: Definition): (input: Json, result: Json, visit: Visit) => Json {
  const place = compileResultPath(definition.get("ResultPath"), definition.path("ResultPath"));
  const path = definition.get("OutputPath");
  const select = path === null ? () => ({}) : path !== undefined && compileField(definition, "OutputPath");
  return (input, result, visit) => {
    const placed = place(input, result);
    const output = select ? select(visit.scope(placed)) : placed;
    visit.assertWithinDataLimit(output);
    return output;
  };
}

/** Compiles a field that holds one path. */
export function compileField(definition: Definition, field: string): Expression {
  const path = compilePath(definition.text(field), definition.path(field));
  return (scope) =>
    path.read(scope, (reason) => {
      throw runtimeFailure(`Invalid path '${path.text}' : ${reason}`);
    });
}
