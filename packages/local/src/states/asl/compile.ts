import type { Json } from "../../json.ts";
import { Definition } from "./definition.ts";
import { DefinitionRejected } from "./failure.ts";
import { branchFields, distributedMapFields, machineFields, processorFields, stateFields } from "./fields.ts";
import { compileChoice } from "./kinds/choice.ts";
import { compileDistributedMap } from "./kinds/distributed-map.ts";
import { compileFail } from "./kinds/fail.ts";
import { compileMap } from "./kinds/map.ts";
import { compileParallel } from "./kinds/parallel.ts";
import { compilePass } from "./kinds/pass.ts";
import { compileSucceed } from "./kinds/succeed.ts";
import { compileTask } from "./kinds/task.ts";
import { compileWait } from "./kinds/wait.ts";
import type { State, StateMachine, StateType } from "./state.ts";
import { assertTransitions } from "./transitions.ts";

/** Step Functions: the longest name of a state. */
const LONGEST_NAME = 80;
const LONGEST_TIMEOUT_SECONDS = 99_999_999;

/** Compiles the machine itself, a branch or the body of a Map: its states, under names that no other state has. */
type CompileBody = (body: Definition, fields: ReadonlySet<string>) => StateMachine;
type CompileKind = (name: string, definition: Definition, compileBody: CompileBody) => State;

/** One line per state type: a new type is a new file and a line here. */
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
    return compile(name, definition, compileBody(processorOf(definition), processorFields));
  },
};

/**
 * Compiles a definition once, so that running it parses nothing.
 * @throws DefinitionRejected for what AWS would refuse and for what cannot be run here, naming the place
 */
export function compileStateMachine(json: Json): StateMachine {
  const names = new Set<string>();
  const compileBody: CompileBody = (body, fields) => {
    body.allowOnly(fields);
    body.optionalText("Comment");
    refuseJsonata(body);
    const startAt = body.text("StartAt");
    const definitions = body.child("States");
    const states = new Map<string, State>();
    for (const name of Object.keys(definitions.fields)) {
      assertName(name, names, definitions);
      states.set(name, compileState(name, definitions.child(name), compileBody));
    }
    if (!states.has(startAt)) throw missingStart(body, startAt);
    assertTransitions(body, startAt);
    return { startAt, states, timeoutSeconds: body.optionalInteger("TimeoutSeconds", 1, LONGEST_TIMEOUT_SECONDS) };
  };
  return compileBody(new Definition(json, ""), machineFields);
}

function compileState(name: string, definition: Definition, compileBody: CompileBody): State {
  refuseJsonata(definition);
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

function missingStart(body: Definition, startAt: string): DefinitionRejected {
  return new DefinitionRejected(
    body.path("StartAt"),
    `Missing 'StartAt' target: ${startAt}`,
    "MISSING_TRANSITION_TARGET",
  );
}

/** `Iterator` is what AWS called `ItemProcessor` before. */
function processorOf(map: Definition): Definition {
  return map.child(map.atMostOne("ItemProcessor", "Iterator") ?? "ItemProcessor");
}

/** Whether each item is an execution of its own. */
function isDistributed(map: Definition): boolean {
  const processor = processorOf(map);
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

function refuseJsonata(definition: Definition): void {
  const language = definition.optionalText("QueryLanguage") ?? "JSONPath";
  if (language === "JSONPath") return;
  throw definition.reject("QueryLanguage", `${language} is not supported locally: use JSONPath`);
}
