import type { Json } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { enter } from "../enter.ts";
import type { State, StateMachine, Visit } from "../state.ts";
import { Thread } from "../thread.ts";
import { recordAborted, runTogether } from "../together.ts";
import { compileWork } from "../work-state.ts";
import { compileConcurrency, compileItemSelector, compileItems } from "./map-fields.ts";

/** Step Functions: iterations of an inline Map that run at the same time. */
const MOST_CONCURRENT = 40;

export function compileMap(name: string, definition: Definition, processor: StateMachine): State {
  const readItems = compileItems(definition);
  const readWidth = compileConcurrency(definition, MOST_CONCURRENT);
  const select = compileItemSelector(definition);

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

/** One iteration failed, the others that had begun were aborted; those that had ended have said so already. */
function recordEnds(name: string, threads: Thread[], failed: number, thread: Thread): void {
  for (const [index, iteration] of threads.entries()) {
    const details = { name, index };
    if (index === failed) thread.note({ type: "MapIterationFailed", mapIterationFailedEventDetails: details });
    else if (iteration.current) thread.note({ type: "MapIterationAborted", mapIterationAbortedEventDetails: details });
    recordAborted(iteration, thread);
  }
}
