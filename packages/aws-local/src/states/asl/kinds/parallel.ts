import type { Json } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { enter, type State, type StateMachine, type Visit } from "../state.ts";
import { Thread } from "../thread.ts";
import { type RunOne, recordAborted, runConcurrently } from "../together.ts";
import { compileWork } from "../work-state.ts";

export function compileParallel(name: string, definition: Definition, branches: StateMachine[]): State {
  async function attempt(parameters: Json, { thread }: Visit): Promise<Json> {
    const startedId = thread.record("ParallelStateStarted");
    const threads: Thread[] = [];
    const runOne: RunOne = async (index, _previous, signal) => {
      const branch = new Thread(thread.run, signal, startedId, thread.map);
      threads[index] = branch;
      const output = await enter(branches[index] as StateMachine, parameters, branch);
      thread.lastEventId = branch.lastEventId;
      return { output, lastEventId: branch.lastEventId };
    };
    const outputs = await runConcurrently(thread, branches.length, branches.length, runOne, (failed) => {
      thread.lastEventId = threads[failed]?.lastEventId ?? startedId;
      for (const branch of threads) recordAborted(branch, thread);
    });
    thread.note("ParallelStateSucceeded");
    return outputs;
  }

  const exhausted = ({ thread }: Visit) => void thread.record("ParallelStateFailed");
  return compileWork(name, definition, { type: "Parallel", attempt, exhausted });
}
