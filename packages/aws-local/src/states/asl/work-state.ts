import type { Json } from "../../json.ts";
import type { Definition } from "./definition.ts";
import { StateFailure } from "./failure.ts";
import { compileCatch, compileRetry } from "./handling.ts";
import { compileTemplateField } from "./payload-template.ts";
import { compileNext, compileOutput, type State, type Transition, type Visit } from "./state.ts";

/** A process that closes stays for a retry that comes so soon; a later one begins in the next process. */
const longestStayMs = 2_000;

/** What a Task, Parallel or Map does between its input fields and its output fields. */
export interface Work {
  type: "Task" | "Parallel" | "Map";
  /** Called before the Parameters of each attempt are built, which may name what is prepared here. */
  prepare?(visit: Visit): void;
  /** `parameters` is what Parameters made of the input, or the input. */
  attempt(parameters: Json, visit: Visit): Promise<Json>;
  /** Called once when no retry is left, before a catcher or the failure itself goes on. */
  exhausted?(visit: Visit): void;
}

/** The shared frame: input fields, the work with its Retry, output fields, and Catch around them. */
export function compileWork(name: string, definition: Definition, work: Work): State {
  const next = compileNext(definition);
  const buildParameters = compileTemplateField(definition, "Parameters");
  const finish = compileOutput(definition);
  const retry = compileRetry(definition);
  const caught = compileCatch(definition);

  async function attempt(input: Json, visit: Visit): Promise<Json> {
    work.prepare?.(visit);
    const parameters = buildParameters ? buildParameters(visit.scope(input)) : input;
    return finish(input, await work.attempt(parameters, visit), visit);
  }

  async function run(input: Json, visit: Visit): Promise<Transition> {
    const delayAfter = retry(visit.thread.run.host.random);
    for (visit.retryCount = 0; ; visit.retryCount++) {
      try {
        return { output: await attempt(input, visit), next };
      } catch (error) {
        const failure = visit.locate(error);
        if (!(failure instanceof StateFailure)) throw failure;
        const delayMs = delayAfter(failure);
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
