import type { Json } from "../../json.ts";
import type { Definition } from "./definition.ts";
import { StateFailure } from "./failure.ts";
import { compileCatch, compileRetry } from "./handling.ts";
import { compileTemplateField } from "./payload-template.ts";
import { compileNext, compileOutput, type State, type Transition, type Visit } from "./state.ts";

/**
 * The longest delay of a retry for which a closing process waits. It leaves a retry with a longer delay to the next
 * process.
 */
const longestStayMs = 2_000;

/** The work of a Task, Parallel or Map, without the fields for input, output, Retry and Catch, which all three have. */
export interface Work {
  type: "Task" | "Parallel" | "Map";
  /** Called before the Parameters of each attempt are built, because they may contain a token that this call issues. */
  prepare?(visit: Visit): void;
  /**
   * Makes one attempt. `parameters` is the result of the field Parameters, or the input if the state has no such field.
   */
  attempt(parameters: Json, visit: Visit): Promise<Json>;
  /** Called once when no retry is left, before the failure is caught or thrown. */
  exhausted?(visit: Visit): void;
}

/**
 * Compiles the parts that Task, Parallel and Map have in common: the fields for input and output, Retry around each
 * attempt, and Catch after the last attempt.
 */
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
