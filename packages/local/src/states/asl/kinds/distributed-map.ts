import type { Json } from "../../../json.ts";
import { assertWithinDataLimit } from "../data-limit.ts";
import type { Definition } from "../definition.ts";
import { enter } from "../enter.ts";
import { StateFailure } from "../failure.ts";
import type { State, StateMachine, Visit } from "../state.ts";
import { childOf, type Thread } from "../thread.ts";
import { type Outcome, runTogether } from "../together.ts";
import { compileWork } from "../work-state.ts";
import { compileItemReader } from "./item-reader.ts";
import { compileConcurrency, compileItemSelector, compileItems } from "./map-fields.ts";
import { childThread, type MapRun, mapRunOf } from "./map-run.ts";
import { compileTolerance, type ExceedsTolerance } from "./tolerance.ts";

/** Step Functions: executions of one Map Run at the same time. */
const MOST_CONCURRENT = 10_000;

const LABEL = /^[^\s?*<>{}[\]:;,\\|^~$#%&`"\p{Cc}/]{1,40}$/u;

/**
 * A Map whose items are executions of their own: each has a history of its own, which is counted and not kept, and
 * nothing of it is in the history of the execution that has the Map.
 */
export function compileDistributedMap(name: string, definition: Definition, processor: StateMachine): State {
  const label = compileLabel(name, definition);
  refuseBatches(definition);
  const reader = compileItemReader(definition);
  const readItems = compileItems(definition);
  const readWidth = compileConcurrency(definition, MOST_CONCURRENT);
  const select = compileItemSelector(definition);
  const tolerance = compileTolerance(definition);

  async function attempt(selected: Json, _parameters: Json, visit: Visit): Promise<Json> {
    const { thread } = visit;
    const inState = reader ? undefined : readItems(selected, visit);
    const length = inState?.length ?? 0;
    thread.record({ type: "MapStateStarted", mapStateStartedEventDetails: { length } });
    const mapRun = mapRunOf(thread.run, label);
    thread.record({ type: "MapRunStarted", mapRunStartedEventDetails: { mapRunArn: mapRun.arn } });
    const outcome = await ended(thread, async () => {
      const items = inState ?? (await reader?.read(selected, visit)) ?? [];
      const width = readWidth(selected, visit);
      const exceeds = tolerance(selected, visit, items.length);
      const inputOf = (index: number): Json => {
        const value = items[index] as Json;
        return select ? select(visit.scope(selected, { Item: { Index: index, Value: value } })) : value;
      };
      return runItems(thread, mapRun, { count: items.length, width, inputOf, exceeds });
    });
    thread.record({ type: "MapRunSucceeded" });
    thread.note({ type: "MapStateSucceeded" });
    return outcome;
  }

  interface Items {
    count: number;
    width: number;
    inputOf(index: number): Json;
    exceeds: ExceedsTolerance;
  }

  async function runItems(thread: Thread, mapRun: MapRun, items: Items): Promise<Json[]> {
    const failures = new Set<number>();
    const outcome: Outcome = await runTogether(thread, items.count, items.width, async (index, _previous, signal) => {
      const { controller, release } = childOf(signal);
      try {
        const input = items.inputOf(index);
        assertWithinDataLimit(JSON.stringify(input), name);
        const output = await enter(processor, input, childThread(thread.run, mapRun, input, controller.signal));
        return { output, lastEventId: 0 };
      } catch (error) {
        if (!(error instanceof StateFailure)) throw error;
        if (items.exceeds(failures.add(index).size)) throw tooManyFailures();
        return { output: null, lastEventId: 0 };
      } finally {
        release();
      }
    });
    if (!outcome.ok) throw outcome.error;
    return failures.size === 0 ? outcome.outputs : outcome.outputs.filter((_, index) => !failures.has(index));
  }

  return compileWork(name, definition, { type: "Map", attempt });
}

/** Runs the Map Run, and records how it ended where it did not succeed. */
async function ended<T>(thread: Thread, mapRun: () => Promise<T>): Promise<T> {
  try {
    return await mapRun();
  } catch (failure) {
    if (failure instanceof StateFailure) {
      const { error, details: cause } = failure;
      thread.record({ type: "MapRunFailed", mapRunFailedEventDetails: { error, cause } });
    } else if (thread.signal.aborted) thread.note({ type: "MapRunAborted" });
    throw failure;
  }
}

function tooManyFailures(): StateFailure {
  return new StateFailure(
    "States.ExceedToleratedFailureThreshold",
    "The specified tolerated failure threshold was exceeded",
  );
}

/** Step Functions makes a label up where there is none. */
function compileLabel(name: string, definition: Definition): string {
  const label = definition.optionalText("Label");
  if (label === undefined) return name.replace(/[^\w-]/g, "").slice(0, 40);
  if (LABEL.test(label)) return label;
  throw definition.reject("Label", "must have 1 to 40 characters, none of them a space, a wildcard or a bracket");
}

function refuseBatches(definition: Definition): void {
  for (const field of ["ItemBatcher", "ResultWriter"]) {
    if (definition.has(field)) throw definition.reject(field, "is not supported locally: leave it out");
  }
}
