import { createRequire } from "node:module";
import type { MapState, ParallelState, State, StateMachine, States, TaskState } from "@nova/compiler";

/** Returns all states of a state machine by name, including the states in branches and maps. */
export function allStates({ States: states }: { States: States }): Record<string, State> {
  const inner = Object.values(states).flatMap((state) => {
    if (state.Type === "Parallel") return state.Branches.map(allStates);
    return state.Type === "Map" ? [allStates(state.ItemProcessor)] : [];
  });
  return Object.assign({}, states, ...inner);
}

type OfType<T> = Extract<State, { Type: T }>;

/** Returns the state with this name and type, which may be in a branch or a map. */
export function stateOf<T extends State["Type"]>(machine: StateMachine, name: string, type: T): OfType<T> {
  const state = allStates(machine)[name];
  if (state?.Type !== type) throw new TypeError(`"${name}" is ${state?.Type ?? "no state"}, not ${type}`);
  return state as OfType<T>;
}

export const taskOf = (machine: StateMachine, name: string): TaskState => stateOf(machine, name, "Task");
export const parallelOf = (machine: StateMachine, name: string): ParallelState => stateOf(machine, name, "Parallel");
export const mapOf = (machine: StateMachine, name: string): MapState => stateOf(machine, name, "Map");

/** Returns the targets of a task's catchers, by the first error that they name. */
export function catches({ Catch = [] }: { Catch?: TaskState["Catch"] }): Record<string, string> {
  return Object.fromEntries(Catch.map(({ ErrorEquals, Next }) => [ErrorEquals[0] ?? "", Next]));
}

// asl-validator is loaded with `require`, because it has no types.
const validate: (definition: unknown) => Promise<{ errorsText(separator: string): string }> = createRequire(
  import.meta.url,
)("asl-validator");

/** Returns the errors of asl-validator for a definition, or an empty text if asl-validator accepts the definition. */
export async function aslErrors(machine: StateMachine): Promise<string> {
  // asl-validator changes its input, so it gets a copy.
  const { errorsText } = await validate(JSON.parse(JSON.stringify(machine)));
  return errorsText("\n");
}
