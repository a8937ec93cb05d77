import type { Json } from "../../json.ts";
import { runtimeFailure } from "./failure.ts";
import { type State, type StateMachine, type Transition, Visit } from "./state.ts";
import type { Thread } from "./thread.ts";

/**
 * Runs a machine, or the body of a branch, from its first state to its last.
 * @throws StateFailure that nothing caught, or Cancelled
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
  visit.enteredEventId = thread.record({
    type: `${type}StateEntered`,
    stateEnteredEventDetails: { name, input: JSON.stringify(input), inputDetails: { truncated: false } },
  });
  const transition = await run(state, input, visit);
  thread.record({
    type: `${type}StateExited` as "TaskStateExited",
    stateExitedEventDetails: { name, output: JSON.stringify(transition.output), outputDetails: { truncated: false } },
  });
  thread.current = undefined;
  return transition;
}

async function run(state: State, input: Json, visit: Visit): Promise<Transition> {
  try {
    return await state.run(input, visit);
  } catch (error) {
    throw visit.locate(error);
  }
}
