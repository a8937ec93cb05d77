import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { readTip } from "./branches.ts";
import { continuationName } from "./continuation.ts";

type StoppingPorts = Pick<Ports, "chain" | "workflows" | "stateMachines">;
type Run = Pick<Execution, "id" | "stateMachineArn">;

/** Stops a run's execution of its state machine, and the further ones that its loops went on in. */
export async function stopMachine(ports: StoppingPorts, run: Run, cause: string): Promise<void> {
  await ports.stateMachines.stop(run.stateMachineArn, run.id, "Cancelled", cause);
  await stopFurther(ports, run, cause);
}

/** Stops further executions from the `first` on. The chain names each before it begins. */
export async function stopFurther(
  ports: StoppingPorts,
  { id, stateMachineArn }: Run,
  cause: string,
  first = 1,
): Promise<void> {
  for (let next = first; ; ) {
    const { number: last = 0 } = (await readTip(ports, id, "")).head.continuation ?? {};
    if (next > last) return;
    for (; next <= last; next++) {
      await ports.stateMachines.stop(stateMachineArn, continuationName(id, next), "Cancelled", cause);
    }
  }
}
