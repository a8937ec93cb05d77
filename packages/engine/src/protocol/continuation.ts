import type { Head } from "../chain/head.ts";
import type { Position } from "../chain/position.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { readTip } from "./branches.ts";
import { versionOf } from "./definition.ts";
import type { Continuation, RunPosition } from "./event.ts";
import type { Outcome } from "./outcome.ts";

/** Events behind an entry, and whether the run goes on in a further execution; nothing where nobody counts. */
export async function eventsAfter(
  ports: Ports,
  { before, at }: Position,
  node: string,
  { status, more = {} }: Pick<Outcome, "status" | "more">,
): Promise<Pick<Head, "events" | "continuation">> {
  if (before.events === undefined) return {};
  const { history } = await versionOf(ports, before);
  if (!history) return {};
  const { own = 0, each = 0, inlineItems = Number.POSITIVE_INFINITY } = history.entries[node] ?? {};
  const inside = more.inside && more.inside.branches <= inlineItems ? more.inside : { branches: 0, events: 0 };
  const failed = status === "failed" ? history.settled : 0;
  const events = before.events + own + failed + inside.events + inside.branches * each;
  const { continuation } = before;
  if (at.scope !== "" || !more.loops || events <= history.most)
    return { events, ...(continuation && { continuation }) };
  return { events: history.begun, continuation: { number: (continuation?.number ?? 0) + 1, seq: at.seq } };
}

/** Of the entry that leads to a further execution which that is; of any other nothing. */
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

/** Stops a run's execution of its state machine, and the further ones that its loops went on in. */
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
