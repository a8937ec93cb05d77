import type { Json } from "../../json.ts";
import { Definition } from "./definition.ts";
import { DefinitionRejected } from "./failure.ts";
import { compileChoice } from "./kinds/choice.ts";
import { compileDistributedMap } from "./kinds/distributed-map.ts";
import { compileMap } from "./kinds/map.ts";
import { compileParallel } from "./kinds/parallel.ts";
import { compileFail, compilePass, compileSucceed, compileWait } from "./kinds/simple-states.ts";
import { compileTask } from "./kinds/task.ts";
import type { State, StateMachine, StateType } from "./state.ts";

/** Step Functions: the longest name of a state. */
const LONGEST_NAME = 80;
const LONGEST_TIMEOUT_SECONDS = 99_999_999;

/** The fields that each part of a definition may have. Other fields of the language are refused. */
const transition = ["Type", "Comment", "Next", "End"];
const result = [...transition, "ResultPath", "OutputPath"];
const work = [...result, "Retry", "Catch"];
const map = [...work, "ItemProcessor", "ItemsPath", "ItemSelector", "MaxConcurrency"];
const stateFields: Record<StateType, ReadonlySet<string>> = {
  Task: new Set([...work, "Resource", "Parameters", "TimeoutSeconds"]),
  Pass: new Set([...result, "Parameters", "Result"]),
  Choice: new Set(["Type", "Comment", "Choices", "Default"]),
  Wait: new Set([...transition, "Seconds", "SecondsPath", "TimestampPath"]),
  Succeed: new Set(["Type", "Comment"]),
  Fail: new Set(["Type", "Comment", "Error", "ErrorPath", "Cause", "CausePath"]),
  Parallel: new Set([...work, "Parameters", "Branches"]),
  Map: new Set(map),
};
const distributedMapFields: ReadonlySet<string> = new Set([...map, "ItemReader", "Label"]);

const branchFields: ReadonlySet<string> = new Set(["StartAt", "States", "Comment"]);
const machineFields: ReadonlySet<string> = new Set([...branchFields, "TimeoutSeconds", "Version"]);
const processorFields: ReadonlySet<string> = new Set([...branchFields, "ProcessorConfig"]);

/**
 * Compiles the whole machine, a branch or the body of a Map. No two states of a machine may have the same name, even in
 * different branches.
 */
type CompileBody = (body: Definition, fields: ReadonlySet<string>) => StateMachine;
type CompileKind = (name: string, definition: Definition, compileBody: CompileBody) => State;

/** The compilers by state type. A new state type needs a new file and a line here. */
const KINDS: Record<StateType, CompileKind> = {
  Task: compileTask,
  Pass: compilePass,
  Choice: compileChoice,
  Wait: compileWait,
  Succeed: compileSucceed,
  Fail: compileFail,
  Parallel: (name, definition, compileBody) => {
    const branches = definition.someChildren("Branches").map((branch) => compileBody(branch, branchFields));
    return compileParallel(name, definition, branches);
  },
  Map: (name, definition, compileBody) => {
    const compile = isDistributed(definition) ? compileDistributedMap : compileMap;
    return compile(name, definition, compileBody(definition.child("ItemProcessor"), processorFields));
  },
};

/**
 * Compiles a definition, so that its executions do not have to parse it.
 * @throws DefinitionRejected if AWS would refuse the definition, or if it has a field that the emulator does not serve.
 * The error names the place of the problem.
 */
export function compileStateMachine(json: Json): StateMachine {
  const names = new Set<string>();
  const compileBody: CompileBody = (body, fields) => {
    body.allowOnly(fields);
    body.optionalText("Comment");
    const startAt = body.text("StartAt");
    const definitions = body.child("States");
    const states = new Map<string, State>();
    for (const name of Object.keys(definitions.fields)) {
      assertName(name, names, definitions);
      states.set(name, compileState(name, definitions.child(name), compileBody));
    }
    if (!states.has(startAt)) throw missingTarget(`Missing 'StartAt' target: ${startAt}`, body.path("StartAt"));
    assertTransitions(body, startAt);
    return { startAt, states, timeoutSeconds: body.optionalInteger("TimeoutSeconds", 1, LONGEST_TIMEOUT_SECONDS) };
  };
  return compileBody(new Definition(json, ""), machineFields);
}

function compileState(name: string, definition: Definition, compileBody: CompileBody): State {
  const type = definition.text("Type");
  if (!Object.hasOwn(KINDS, type)) throw definition.reject("Type", `"${type}" is no state type`);
  const isLarge = type === "Map" && isDistributed(definition);
  definition.allowOnly(isLarge ? distributedMapFields : stateFields[type as StateType]);
  definition.optionalText("Comment");
  return KINDS[type as StateType](name, definition, compileBody);
}

function assertName(name: string, names: Set<string>, states: Definition): void {
  if (name.length === 0 || name.length > LONGEST_NAME) {
    throw states.reject(name, `has ${name.length} characters: a state's name has 1 to ${LONGEST_NAME}`);
  }
  if (names.has(name)) throw new DefinitionRejected(states.path(name), `Two states have the name "${name}"`);
  names.add(name);
}

/** Returns whether a Map runs each item as an execution of its own. */
function isDistributed(map: Definition): boolean {
  const processor = map.child("ItemProcessor");
  if (!processor.has("ProcessorConfig")) return false;
  const config = processor.child("ProcessorConfig");
  const mode = config.text("Mode");
  if (mode === "INLINE") return false;
  if (mode !== "DISTRIBUTED") throw config.reject("Mode", "must be INLINE or DISTRIBUTED");
  if (config.text("ExecutionType") !== "STANDARD") {
    throw config.reject("ExecutionType", "is not supported locally but for STANDARD");
  }
  return true;
}

/** @throws DefinitionRejected if a transition has no target, a state is never reached, or no state ends the machine */
function assertTransitions(body: Definition, startAt: string): void {
  const states = body.child("States");
  const reached = new Set([startAt]);
  for (const name of reached) {
    for (const { target, at } of transitionsOf(states.child(name))) {
      if (!states.has(target)) throw missingTarget(`Missing '${at.split("/").at(-1)}' target: ${target}`, at);
      reached.add(target);
    }
  }
  const lost = Object.keys(states.fields).find((name) => !reached.has(name));
  if (lost !== undefined) throw missingTarget(`State "${lost}" is not reachable.`, states.path(lost));
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

function missingTarget(message: string, at: string): DefinitionRejected {
  return new DefinitionRejected(at, message, "MISSING_TRANSITION_TARGET");
}
