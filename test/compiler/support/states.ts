import type { MapState, ParallelState, State, StateMachine, States, TaskState } from "@nova/compiler";

/** Every state of a machine by its name, those inside of others too. */
export function allStates({ States: states }: { States: States }): Record<string, State> {
  const inner = Object.values(states).flatMap((state) => {
    if (state.Type === "Parallel") return state.Branches.map(allStates);
    return state.Type === "Map" ? [allStates(state.ItemProcessor)] : [];
  });
  return Object.assign({}, states, ...inner);
}

type OfType<T> = Extract<State, { Type: T }>;

/** A state by its name and type, wherever in the machine it is. */
export function stateOf<T extends State["Type"]>(machine: StateMachine, name: string, type: T): OfType<T> {
  const state = allStates(machine)[name];
  if (state?.Type !== type) throw new TypeError(`"${name}" is ${state?.Type ?? "no state"}, not ${type}`);
  return state as OfType<T>;
}

export const taskOf = (machine: StateMachine, name: string): TaskState => stateOf(machine, name, "Task");
export const parallelOf = (machine: StateMachine, name: string): ParallelState => stateOf(machine, name, "Parallel");
export const mapOf = (machine: StateMachine, name: string): MapState => stateOf(machine, name, "Map");

/** Where a task's catchers lead, by the first error that they name. */
export function catches({ Catch = [] }: { Catch?: TaskState["Catch"] }): Record<string, string> {
  return Object.fromEntries(Catch.map(({ ErrorEquals, Next }) => [ErrorEquals[0] ?? "", Next]));
}
