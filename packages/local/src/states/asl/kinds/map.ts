import type { Definition } from "../definition.ts";
import { enter } from "../enter.ts";
import { runtimeFailure } from "../failure.ts";
import type { Json } from "../json.ts";
import { compileTemplateField } from "../payload-template.ts";
import { compileField, type State, type StateMachine, type Visit } from "../state.ts";
import { Thread } from "../thread.ts";
import { recordAborted, runTogether } from "../together.ts";
import { compileWork } from "../work-state.ts";

/** Step Functions: iterations of an inline Map that run at the same time. */
const MOST_CONCURRENT = 40;

export function compileMap(name: string, definition: Definition, processor: StateMachine): State {
  const readItems = compileItems(definition);
  const readWidth = compileConcurrency(definition);
  const selector = definition.atMostOne("ItemSelector", "Parameters") ?? "ItemSelector";
  const select = compileTemplateField(definition, selector);

  async function attempt(selected: Json, _parameters: Json, visit: Visit): Promise<Json> {
    const { thread } = visit;
    const items = readItems(selected, visit);
    const width = readWidth(selected, visit);
    const startedId = thread.record({ type: "MapStateStarted", mapStateStartedEventDetails: { length: items.length } });
    const threads: Thread[] = [];
    const outcome = await runTogether(thread, items.length, width, async (index, previous, signal) => {
      const value = items[index] as Json;
      const map = { Item: { Index: index, Value: value } };
      const iteration = new Thread(thread.run, signal, previous ?? startedId, map);
      threads[index] = iteration;
      const details = { name, index };
      iteration.record({ type: "MapIterationStarted", mapIterationStartedEventDetails: details });
      const output = await enter(processor, select ? select(visit.scope(selected, map)) : value, iteration);
      const succeeded = { type: "MapIterationSucceeded", mapIterationSucceededEventDetails: details } as const;
      thread.lastEventId = iteration.note(succeeded);
      return { output, lastEventId: iteration.lastEventId };
    });
    if (outcome.ok) {
      thread.note({ type: "MapStateSucceeded" });
      return outcome.outputs;
    }
    thread.lastEventId = threads[outcome.failed]?.lastEventId ?? startedId;
    recordEnds(name, threads, outcome.failed, thread);
    throw outcome.error;
  }

  const exhausted = ({ thread }: Visit) => void thread.record({ type: "MapStateFailed" });
  return compileWork(name, definition, { type: "Map", attempt, exhausted });
}

function compileItems(definition: Definition): (selected: Json, visit: Visit) => Json[] {
  const path = definition.optionalText("ItemsPath") ?? "$";
  const read = path === "$" ? undefined : compileField(definition, "ItemsPath");
  return (selected, visit) => {
    const items = read ? read(visit.scope(selected)) : selected;
    if (!Array.isArray(items)) throw runtimeFailure(`Reference path "${path}" must point to array.`);
    return items;
  };
}

/** 0 or nothing: as many as Step Functions allows. */
function compileConcurrency(definition: Definition): (selected: Json, visit: Visit) => number {
  const fixed = definition.optionalInteger("MaxConcurrency", 0) ?? 0;
  definition.atMostOne("MaxConcurrency", "MaxConcurrencyPath");
  const path = definition.optionalText("MaxConcurrencyPath");
  const read = path === undefined ? undefined : compileField(definition, "MaxConcurrencyPath");
  return (selected, visit) => {
    const width = read ? read(visit.scope(selected)) : fixed;
    if (Number.isInteger(width) && (width as number) >= 0)
      return Math.min((width as number) || MOST_CONCURRENT, MOST_CONCURRENT);
    const shown = typeof width === "string" ? width : JSON.stringify(width);
    throw runtimeFailure(
      `The MaxConcurrencyPath field refers to value "${shown}" which is not a valid integer: ${path}`,
    );
  };
}

/** One iteration failed, the others that had begun were aborted; those that had ended have said so already. */
function recordEnds(name: string, threads: Thread[], failed: number, thread: Thread): void {
  for (const [index, iteration] of threads.entries()) {
    const details = { name, index };
    if (index === failed) thread.note({ type: "MapIterationFailed", mapIterationFailedEventDetails: details });
    else if (iteration.current) thread.note({ type: "MapIterationAborted", mapIterationAbortedEventDetails: details });
    recordAborted(iteration, thread);
  }
}
