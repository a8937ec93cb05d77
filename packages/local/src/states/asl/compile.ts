import { Definition } from "./definition.ts";
import type { Json } from "./json.ts";
import { compileChoice } from "./kinds/choice.ts";
import { compileFail } from "./kinds/fail.ts";
import { compileMap } from "./kinds/map.ts";
import { compileParallel } from "./kinds/parallel.ts";
import { compilePass } from "./kinds/pass.ts";
import { compileSucceed } from "./kinds/succeed.ts";
import { compileTask } from "./kinds/task.ts";
import { compileWait } from "./kinds/wait.ts";
import type { State, StateMachine, StateType } from "./state.ts";

/** One line per state type: a new type is a new file and a line here. */
const COMPILERS: Record<StateType, (name: string, definition: Definition) => State> = {
  Task: compileTask,
  Pass: compilePass,
  Choice: compileChoice,
  Wait: compileWait,
  Succeed: compileSucceed,
  Fail: compileFail,
  Parallel: (name, definition) => compileParallel(name, definition, definition.children("Branches").map(compileBody)),
  Map: (name, definition) => compileMap(name, definition, compileBody(processorOf(definition))),
};

/**
 * Compiles a definition once, so that running it parses nothing.
 * @throws DefinitionRejected for what cannot be run here, naming the place
 */
export function compileStateMachine(definition: Json): StateMachine {
  return compileBody(new Definition(definition, "$"));
}

function compileBody(definition: Definition): StateMachine {
  refuseJsonata(definition);
  const startAt = definition.text("StartAt");
  const bodies = definition.child("States");
  const states = new Map<string, State>();
  for (const name of Object.keys(bodies.fields)) states.set(name, compileState(name, bodies.child(name)));
  if (!states.has(startAt)) throw definition.reject("StartAt", `names "${startAt}", which is no state`);
  return { startAt, states, timeoutSeconds: definition.optionalNumber("TimeoutSeconds") };
}

function compileState(name: string, definition: Definition): State {
  refuseJsonata(definition);
  definition.refuse("Assign", "variables are not run, use ResultPath");
  const type = definition.text("Type");
  if (!Object.hasOwn(COMPILERS, type)) throw definition.reject("Type", `"${type}" is no state type`);
  return COMPILERS[type as StateType](name, definition);
}

/** `Iterator` is what AWS called `ItemProcessor` before. */
function processorOf(map: Definition): Definition {
  const processor = map.child(map.get("ItemProcessor") === undefined ? "Iterator" : "ItemProcessor");
  const config = processor.get("ProcessorConfig") === undefined ? undefined : processor.child("ProcessorConfig");
  if (config?.optionalText("Mode") === "DISTRIBUTED")
    throw config.reject("Mode", "DISTRIBUTED is not supported locally");
  return processor;
}

function refuseJsonata(definition: Definition): void {
  const language = definition.optionalText("QueryLanguage") ?? "JSONPath";
  if (language !== "JSONPath")
    throw definition.reject("QueryLanguage", `${language} is not supported locally: use JSONPath`);
}
