import type { Json } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { runtimeFailure } from "../failure.ts";
import { compileTemplateField } from "../payload-template.ts";
import { compileField, enter, type State, type StateMachine, type Visit } from "../state.ts";
import { Thread } from "../thread.ts";
import { type RunOne, recordAborted, runConcurrently } from "../together.ts";
import { compileWork } from "../work-state.ts";

/** Step Functions' limit for the iterations of an inline Map that run at the same time. */
const MAX_CONCURRENT = 40;

export function compileMap(name: string, definition: Definition, processor: StateMachine): State {
  const readItems = compileItems(definition);
  const width = compileConcurrency(definition, MAX_CONCURRENT);
  const select = compileTemplateField(definition, "ItemSelector");

  async function attempt(input: Json, visit: Visit): Promise<Json> {
    const { thread } = visit;
    const items = readItems(input, visit);
    const startedId = thread.record("MapStateStarted", { length: items.length });
    const threads: Thread[] = [];
    const runOne: RunOne = async (index, previous, signal) => {
      const value = items[index] as Json;
      const map = { Item: { Index: index, Value: value } };
      const iteration = new Thread(thread.run, signal, previous ?? startedId, map);
      threads[index] = iteration;
      const details = { name, index };
      iteration.record("MapIterationStarted", details);
      const output = await enter(processor, select ? select(visit.scope(input, map)) : value, iteration);
      thread.lastEventId = iteration.note("MapIterationSucceeded", details);
      return { output, lastEventId: iteration.lastEventId };
    };
    const outputs = await runConcurrently(thread, items.length, width, runOne, (failed) => {
      thread.lastEventId = threads[failed]?.lastEventId ?? startedId;
      recordEnds(name, threads, failed, thread);
    });
    thread.note("MapStateSucceeded");
    return outputs;
  }

  const exhausted = ({ thread }: Visit) => void thread.record("MapStateFailed");
  return compileWork(name, definition, { type: "Map", attempt, exhausted });
}

/**
 * Records how iterations ended after one of them failed. The iteration with the index `failed` has failed, and every
 * unfinished iteration was aborted.
 */
function recordEnds(name: string, threads: Thread[], failed: number, thread: Thread): void {
  for (const [index, iteration] of threads.entries()) {
    const details = { name, index };
    if (index === failed) thread.note("MapIterationFailed", details);
    else if (iteration.current) thread.note("MapIterationAborted", details);
    recordAborted(iteration, thread);
  }
}

/**
 * Compiles `ItemsPath`. The returned function reads the items of a Map. Without `ItemsPath`, the whole input is the
 * list of items.
 */
export function compileItems(definition: Definition): (input: Json, visit: Visit) => Json[] {
  const path = definition.optionalText("ItemsPath") ?? "$";
  const read = path === "$" ? undefined : compileField(definition, "ItemsPath");
  return (input, visit) => {
    const items = read ? read(visit.scope(input)) : input;
    if (!Array.isArray(items)) throw runtimeFailure(`Reference path "${path}" must point to array.`);
    return items;
  };
}

/**
 * Returns the number of items that a Map runs at the same time. If MaxConcurrency is 0 or absent, this is `max`, the
 * limit of Step Functions.
 */
export function compileConcurrency(definition: Definition, max: number): number {
  return Math.min(definition.optionalInteger("MaxConcurrency", 0) || max, max);
}
