import type { Node } from "@nova/workflow";
import { claimName, type Run } from "./sandbox-state.ts";

/**
 * Checks a start of code for an entry for which code has started before. Returns one sentence for each rule that it
 * breaks.
 */
export function judgeAgain({ claim, request }: Run, node: Node | undefined, begun: ReadonlyMap<string, Run>): string[] {
  const name = claimName(claim);
  if (!node || !("executor" in node)) return [`code of ${name} began again, and belongs to no node`];
  const { effects, retry } = node;
  const most = Math.max(retry?.attempts ?? 1, effects === false ? 3 : 1);
  const before = begun.get(claimName({ ...claim, attempt: claim.attempt - 1 }));
  const isOther =
    before && before.request.environment.NOVA_IDEMPOTENCY_KEY !== request.environment.NOVA_IDEMPOTENCY_KEY;
  const failure = before?.result?.status === "error" ? before.result : undefined;
  const isUnwanted =
    failure && retry?.on && !retry.on.includes(failure.class) && !failure.types?.includes(retry.on[0] ?? "");
  return [
    ...(claim.attempt > most ? [`code of ${name} began again, and has ${most} attempts at most`] : []),
    ...(isOther ? [`code of ${name} has another idempotency key than the attempt before`] : []),
    ...(isUnwanted ? [`code of ${name} began again after a failure that its retry does not name`] : []),
  ];
}
