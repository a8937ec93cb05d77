import type { Json } from "../../json.ts";
import { compileCatch } from "./catch.ts";
import type { Definition } from "./definition.ts";
import { StateFailure } from "./failure.ts";
import { compileResultPath } from "./path/write-path.ts";
import { compileTemplateField } from "./payload-template.ts";
import { compileRetry } from "./retry.ts";
import { compileNext, compileSelector, type State, type Transition, type Visit } from "./state.ts";

/** A process that closes stays for a retry that comes so soon; a later one begins in the next process. */
const longestStayMs = 2_000;

/** What a Task, Parallel or Map does between its input fields and its output fields. */
export interface Work {
  type: "Task" | "Parallel" | "Map";
  /** Called before the Parameters of each attempt are built, which may name what is prepared here. */
  prepare?(visit: Visit): void;
  /** `selected` is the input after InputPath; `parameters` what Parameters made of it (a Map has them per item). */
  attempt(selected: Json, parameters: Json, visit: Visit): Promise<Json>;
  /** Called once when no retry is left, before a catcher or the failure itself goes on. */
  exhausted?(visit: Visit): void;
}

/** The shared frame: input fields, the work with its Retry, output fields, and Catch around them. */
export function compileWork(name: string, definition: Definition, work: Work): State {
  const next = compileNext(definition);
  const readInput = compileSelector(definition, "InputPath");
  const buildParameters = work.type === "Map" ? undefined : compileTemplateField(definition, "Parameters");
  const finish = compileOutput(definition);
  const retry = compileRetry(definition);
  const caught = compileCatch(definition);

  async function attempt(input: Json, visit: Visit): Promise<Json> {
    work.prepare?.(visit);
    const selected = readInput(visit.scope(input));
    const parameters = buildParameters ? buildParameters(visit.scope(selected)) : selected;
    return finish(input, await work.attempt(selected, parameters, visit), visit);
  }

  async function run(input: Json, visit: Visit): Promise<Transition> {
    const retries = retry(visit.thread.run.host.random);
    for (visit.retryCount = 0; ; visit.retryCount++) {
      try {
        return { output: await attempt(input, visit), next };
      } catch (error) {
        const failure = visit.locate(error);
        if (!(failure instanceof StateFailure)) throw failure;
        const delayMs = retries.delayAfter(failure);
        if (delayMs === undefined) return giveUp(failure, input, visit);
        await visit.thread.sleep(delayMs, delayMs > longestStayMs ? "wait" : "retry");
      }
    }
  }

  function giveUp(failure: StateFailure, input: Json, visit: Visit): Transition {
    work.exhausted?.(visit);
    const transition = caught(failure, input);
    if (!transition) throw failure;
    visit.assertWithinDataLimit(transition.output);
    return transition;
  }

  return { name, type: work.type, run };
}

/** ResultSelector, then ResultPath into the raw input, then OutputPath, then the limit. */
function compileOutput(definition: Definition): (input: Json, result: Json, visit: Visit) => Json {
  const select = compileTemplateField(definition, "ResultSelector");
  const place = compileResultPath(definition.get("ResultPath"), definition.path("ResultPath"));
  const outputPath = compileSelector(definition, "OutputPath");
  return (input, result, visit) => {
    const selected = select ? select(visit.scope(result)) : result;
    const output = outputPath(visit.scope(place(input, selected)));
    visit.assertWithinDataLimit(output);
    return output;
  };
}
