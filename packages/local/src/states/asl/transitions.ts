import type { Definition } from "./definition.ts";
import { DefinitionRejected } from "./failure.ts";

/** @throws DefinitionRejected where a transition leads nowhere, a state is never reached or no state ends the way */
export function assertTransitions(body: Definition, startAt: string): void {
  const states = body.child("States");
  const reached = new Set([startAt]);
  for (const name of reached) {
    for (const { target, at } of transitionsOf(states.child(name))) {
      if (!states.has(target)) throw missing(`Missing '${at.split("/").at(-1)}' target: ${target}`, at);
      reached.add(target);
    }
  }
  const lost = Object.keys(states.fields).find((name) => !reached.has(name));
  if (lost !== undefined) throw missing(`State "${lost}" is not reachable.`, states.path(lost));
  if (![...reached].some((name) => isTerminal(states.child(name)))) {
    throw new DefinitionRejected(states.at, "No terminal state found.", "MISSING_TERMINAL_STATE");
  }
}

function transitionsOf(state: Definition): { target: string; at: string }[] {
  const holders = [state, ...state.children("Choices"), ...state.children("Catch")];
  const found = holders.flatMap((holder) =>
    ["Next", "Default"].map((field) => ({ target: holder.get(field), at: holder.path(field) })),
  );
  return found.filter((one): one is { target: string; at: string } => typeof one.target === "string");
}

function isTerminal(state: Definition): boolean {
  return state.get("End") === true || state.get("Type") === "Succeed" || state.get("Type") === "Fail";
}

function missing(message: string, at: string): DefinitionRejected {
  return new DefinitionRejected(at, message, "MISSING_TRANSITION_TARGET");
}
