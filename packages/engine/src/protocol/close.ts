import { defined } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import { type CloseStatus, closeText, type FailureRecord, type Head, noRun, sealEntry } from "../chain/entry.ts";
import { failureOf, type Position } from "../chain/position.ts";
import { recoverFrom } from "../errors.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import { killStaleSandbox, pooledSandboxes } from "../sandboxes/life.ts";
import {
  findOpenedFork,
  hasBegun,
  nodeMessage,
  type OpenFork,
  opensFork,
  readTip,
  readTips,
  type Tip,
} from "./branches.ts";
import { inheritedHead } from "./commit.ts";
import { definitionOf, type KindPorts, type Reason, runOf, type SettlingPorts, versionOf } from "./definition.ts";
import type { RunPosition } from "./event.ts";
import { type Closed, finishClose } from "./record.ts";
import { settleJoin } from "./settle-join.ts";
import { putState, settleNodeEntry } from "./turn.ts";

export interface CloseRequest {
  execution: string;
  status: CloseStatus;
  reason?: Reason;
  /**
   * The number of the entry before the node whose failure closes the run. If the request of a sweeper leaves out this
   * number, the number of the newest entry counts.
   */
  seq?: number;
}

/**
 * Ends an execution. The end node, a failure, a cancel, a timeout and the sweeper call this function, perhaps at the
 * same time. Exactly one caller writes the close entry. Before that, every held turn gets its entry, and all code is
 * stopped. Every caller then completes the steps that follow the close entry. `known` is the newest entry, if the
 * caller has just written it.
 */
export async function closeExecution(ports: KindPorts, request: CloseRequest, known?: Tip): Promise<Closed> {
  if (request.status === "failed" && request.reason) await settleFailedNode(ports, request, request.reason);
  const inside = interruption(request.status);
  const reasons: CloseReasons = { here: request.reason ?? inside, inside };
  for (let newest = known; ; newest = undefined) {
    const tip = newest ?? (await readTip(ports, request.execution, ""));
    if (tip.head.node_type === "close") return finishClose(ports, tip.entry);
    const position = await closeAfterTip(settlingPorts(ports, request.status), tip, reasons);
    if (!position) continue;
    const left = pooledSandboxes(ports, position.before);
    const entry = await putCloseEntry(ports, position, request, left);
    if (entry) return finishClose(ports, entry, left);
  }
}

/**
 * Returns ports with which a close also ends the executions that workflow nodes run. These executions end as
 * interrupted if the close is an interruption, otherwise as cancelled.
 */
export function settlingPorts(ports: KindPorts, reason?: CloseStatus): SettlingPorts {
  const status = reason === "interrupted" ? reason : "cancelled";
  return {
    ...ports,
    async endChild({ id, stateMachineArn }) {
      const { head } = await readTip(ports, id, "");
      const cause = "The execution around it has ended, or goes on without it.";
      if (head.node_type !== "close") await stopMachine(ports, { id, stateMachineArn }, cause);
      return closeExecution(ports, { execution: id, status });
    },
  };
}

/**
 * Writes the failed entry of the node that fails the run, before the close entry. The request of a sweeper does not say
 * which node failed. For such a request, this function settles the next node only if that node had started.
 */
async function settleFailedNode(ports: KindPorts, request: CloseRequest, reason: Reason): Promise<void> {
  const { head, turn } = await readTip(ports, request.execution, "");
  if (request.seq === undefined && !turn) return;
  const seq = request.seq ?? head.seq;
  // The close itself settles a join, because it must close the branches first.
  if (head.node_type === "close" || head.seq !== seq || head.path_taken === null || opensFork(head)) return;
  const execution = runOf(head);
  const { node } = await definitionOf(ports, { execution, node: head.path_taken });
  if (!ports.holdsTurn(node)) return;
  const settling = settleNodeEntry(settlingPorts(ports), { execution, scope: "", seq, node: node.id }, reason);
  await settling.catch(recoverFrom("ExecutionClosed", () => undefined));
}

/**
 * Writes the close entry. Returns undefined if the chain already has a close entry. The SDK repeats requests, so this
 * call itself may have written that entry.
 */
async function putCloseEntry(ports: Ports, position: Position, request: CloseRequest, left: readonly Sandbox[]) {
  const { before, beforeEntry, at } = position;
  const idle = left.map(({ id }) => id);
  const failure = request.status === "completed" ? null : await failureBehind(ports, before, beforeEntry, request);
  const sealed = await sealEntry(
    {
      ...inheritedHead(position),
      ...noRun,
      ...defined({ nodes: before.nodes, spent: before.spent, inner: before.inner, error_class: failure?.class }),
      node_id: closeMark,
      node_type: "close",
      status: request.status === "completed" ? "success" : "failed",
      path_taken: null,
      timestamp: new Date(ports.clock.now()).toISOString(),
      close: {
        status: request.status,
        count: at.seq + 1 + (before.inner ?? 0),
        ...defined({ node: failure?.node, idle: idle.length > 0 ? idle : undefined }),
      },
    },
    failure ? { error: JSON.stringify(failure satisfies FailureRecord) } : {},
    ports.blobs,
  );
  const entry = { ...sealed, signature: await ports.keyPair.sign(closeText(sealed.hash)) };
  return (await ports.chain.putEntry(at, entry)) ? entry : undefined;
}

/** Returns the `error` of a close entry: the failure of the failed node, or else the reason why the run is closed. */
async function failureBehind(ports: Ports, before: Head, beforeEntry: StoredEntry, request: CloseRequest) {
  const failure = before.status === "failed" ? await failureOf(beforeEntry, ports.blobs) : undefined;
  if (failure && request.status === "failed") {
    const message = failure.within === undefined ? failure.message : `in ${failure.within}: ${nodeMessage(failure)}`;
    return { node: failure.node ?? before.node_id, class: before.error_class ?? "NodeFailed", message };
  }
  const { class: name, message } = request.reason ?? interruption(request.status);
  // If the close itself ended the node of the last entry, the close entry names that node, because the node of its
  // `onError` never started.
  const wasRunning = failure?.message === message;
  return { node: wasRunning ? before.node_id : (before.path_taken ?? before.node_id), class: name, message };
}

function interruption(status: CloseStatus): Reason {
  return { class: "ExecutionClosed", message: `the execution was ${status} while the node ran` };
}

/** The node id of close entries, and of turns that a close took. No node of a workflow can have this id. */
export const closeMark = "(close)";

export interface CloseReasons {
  here: Reason;
  inside: Reason;
}

/**
 * Does one step of a close. Sets the turn after the newest entry of a scope to `closed`, so that no node can take this
 * turn. Then writes an entry for every running node, first in the innermost branches. Returns null if the scope now has
 * a newer entry; the caller reads the chain again. Otherwise returns the position after the last entry of the scope. On
 * the main line, the caller writes the close entry at this position.
 */
export async function closeAfterTip(ports: SettlingPorts, tip: Tip, reasons: CloseReasons): Promise<Position | null> {
  await killStaleSandbox(ports, tip.link);
  const { head, next: at } = tip;
  // Only a close entry can follow the entry of an end node. The chain accepts only one entry there, so the writer needs
  // no turn.
  if (head.node_type === "end" && head.scope === "" && !tip.turn)
    return { before: head, beforeEntry: tip.entry, at, next: { seq: at.seq } };
  const turn = tip.turn?.state === "closed" ? tip.turn : await putState(ports, at, tip.turn, closeMark, "closed");
  if (!turn) return null;
  const position: Position = { before: head, beforeEntry: tip.entry, at, next: { seq: at.seq, turn } };
  const open = hasBegun(tip) ? await findOpenedFork(ports, tip.entry) : null;
  if (open) {
    const tips = await closeBranches(ports, open, reasons.inside);
    if (turn.node === closeMark && !tips.some(hasBegun)) return position;
    await settleJoin(ports, position, open, tips, reasons.here);
    return null;
  }
  if (turn.node === closeMark) return position;
  const definition = await definitionOf(ports, { execution: runOf(head), node: turn.node });
  await ports.settleTurn(ports, { ...definition, position, turn }, reasons.here);
  return null;
}

/**
 * The largest number of branches that are read together. The next read leaves out the branches that are closed by then.
 */
const maxRead = 500;

/**
 * Closes every branch of a fork. Returns the last entry of each branch, after which no further entry can be written.
 */
export async function closeBranches(ports: SettlingPorts, open: OpenFork, reason: Reason): Promise<Tip[]> {
  const reasons = { here: reason, inside: reason };
  const scopes = open.branches.map(({ scope }) => scope);
  const closed = new Map<string, Tip>();
  for (let first = 0; first < scopes.length; first += maxRead) {
    let left = scopes.slice(first, first + maxRead);
    while (left.length > 0) {
      const tips = await readTips(ports, open, left);
      await atOnce(tips, async (tip) => {
        if (await closeAfterTip(ports, tip, reasons)) closed.set(tip.next.scope, tip);
      });
      left = left.filter((scope) => !closed.has(scope));
    }
  }
  return scopes.flatMap((scope) => closed.get(scope) ?? []);
}

export async function continuationAnswer(ports: Ports, head: Head, { execution }: Pick<RunPosition, "execution">) {
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

/** Stops the execution of a run's state machine, and the further executions in which the run has continued. */
export async function stopMachine(ports: Ports, run: Run, cause: string): Promise<void> {
  await ports.stateMachines.stop(run.stateMachineArn, run.id, "Cancelled", cause);
  await stopFurther(ports, run, cause);
}

/**
 * Stops the further executions of a run, from number `first` on. This function misses none of them, because the chain
 * names each further execution before that execution starts.
 */
export async function stopFurther(ports: Ports, { id, stateMachineArn }: Run, cause: string, first = 1): Promise<void> {
  for (let next = first; ; ) {
    const { number: last = 0 } = (await readTip(ports, id, "")).head.continuation ?? {};
    if (next > last) return;
    for (; next <= last; next++) {
      await ports.stateMachines.stop(stateMachineArn, continuationName(id, next), "Cancelled", cause);
    }
  }
}
