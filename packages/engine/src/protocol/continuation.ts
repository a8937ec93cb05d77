import type { Head } from "../chain/head.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { readTip } from "./branches.ts";
import { versionOf } from "./definition.ts";
import type { Continuation, RunPosition } from "./event.ts";

/** The further execution that an entry leads to; undefined for other entries. */
export async function continuationAnswer(
  ports: Ports,
  head: Head,
  { execution }: Pick<RunPosition, "execution">,
): Promise<{ continuation: Continuation } | undefined> {
  const { continuation, seq, path_taken: resume } = head;
  if (head.scope !== "" || continuation?.seq !== seq || resume === null) return undefined;
  const { stateMachineArn: arn } = await versionOf(ports, head);
  const { number } = continuation;
  const name = continuationName(head.execution_id, number);
  return { continuation: { arn, name, number, input: { execution, scope: "", seq, resume } } };
}

export function continuationName(execution: string, number: number): string {
  return `${execution}.${number}`;
}

type Run = Pick<Execution, "id" | "stateMachineArn">;

/** Stops the execution of a run's state machine, and the further executions in which its loops continued. */
export async function stopMachine(ports: Ports, run: Run, cause: string): Promise<void> {
  await ports.stateMachines.stop(run.stateMachineArn, run.id, "Cancelled", cause);
  await stopFurther(ports, run, cause);
}

/** Stops further executions from the `first` on. The chain names each before it begins. */
export async function stopFurther(ports: Ports, { id, stateMachineArn }: Run, cause: string, first = 1): Promise<void> {
  for (let next = first; ; ) {
    const { number: last = 0 } = (await readTip(ports, id, "")).head.continuation ?? {};
    if (next > last) return;
    for (; next <= last; next++) {
      await ports.stateMachines.stop(stateMachineArn, continuationName(id, next), "Cancelled", cause);
    }
  }
}
