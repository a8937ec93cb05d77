import { type CloseStatus, type FailureRecord, type Head, headOf } from "../chain/head.ts";
import { failureOf, type Position } from "../chain/position.ts";
import { sealEntry } from "../chain/seal.ts";
import { NovaError } from "../errors.ts";
import { definitionOf } from "../node/definition.ts";
import { killOvertaken } from "../node/overtaken.ts";
import { settledEntry } from "../node/settle-node.ts";
import { type Reason, settleTurn } from "../node/settle-turn.ts";
import type { Link, LinkId, StoredEntry, Turn } from "../ports/chain.ts";
import type { ExecutionError } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { type Closed, finishClose } from "./finish-close.ts";

/** The node id of a close entry and of a turn that a closer took; no node can have it. */
export const closeMark = "(close)";

export interface CloseRequest {
  execution: string;
  status: CloseStatus;
  /** Why, where it is not completed. */
  reason?: Reason;
  /** Link before the node whose failure led here; a sweeper leaves it out and means the tip. */
  seq?: number;
}

/**
 * Ends an execution: finish, fail, cancel, timeout and sweeper all come here, several at once if need be. Exactly one
 * close entry is written, as the last link; before it every held turn gets its entry and nothing of the run is alive.
 * Whoever finds it written finishes what follows it. Answers how the execution was closed, by whomever.
 */
export async function closeExecution(ports: Ports, request: CloseRequest): Promise<Closed> {
  if (request.status === "failed" && request.reason) await settleFailedNode(ports, request, request.reason);
  for (;;) {
    const tip = await readTip(ports, request.execution);
    if (tip.head.node_type === "close") return finishClose(ports, tip.entry);
    await killOvertaken(ports, tip.link);
    const turn = await takeForClose(ports, tip);
    if (!turn) continue;
    const position: Position = {
      before: tip.head,
      beforeEntry: tip.entry,
      at: tip.next,
      next: { seq: tip.next.seq, turn },
    };
    if (turn.node === closeMark) await putCloseEntry(ports, position, request);
    else await settleTurn(ports, position, await nodeAt(ports, tip.head, turn.node), turn, interruption(request));
  }
}

interface Tip {
  link: Link;
  entry: StoredEntry;
  head: Head;
  /** The link behind the tip, and the turn that lies there. */
  next: LinkId;
  turn: Turn | undefined;
}

async function readTip(ports: Ports, execution: string): Promise<Tip> {
  const links = await ports.chain.tip(execution, "");
  const last = links.filter(({ entry }) => entry).sort((a, b) => b.seq - a.seq)[0];
  if (!last?.entry) throw new NovaError("ChainBroken", `execution ${execution} has no chain`);
  const next: LinkId = { execution, scope: "", seq: last.seq + 1 };
  const { turn } = links.find(({ seq }) => seq === next.seq) ?? {};
  return { link: last, entry: last.entry, head: headOf(last.entry), next, turn };
}

/** The turn behind the tip, closed: taken where it was free, taken over where it was not. Null: it changed, read again. */
async function takeForClose(ports: Ports, { next, turn }: Tip): Promise<Turn | null> {
  if (turn?.state === "closed") return turn;
  const since = new Date(ports.clock.now()).toISOString();
  const taken: Turn = turn
    ? { ...turn, state: "closed" }
    : { node: closeMark, state: "closed", sandbox: null, attempt: 1, since };
  return (await ports.chain.putTurn(next, taken, turn ?? null)) ? taken : null;
}

/** A failed run says first, in the chain, which node failed and why. A sweeper knows only of a node that had begun. */
async function settleFailedNode(ports: Ports, request: CloseRequest, reason: Reason): Promise<void> {
  const tip = await readTip(ports, request.execution);
  if (request.seq === undefined && !tip.turn) return;
  const seq = request.seq ?? tip.head.seq;
  if (tip.head.node_type === "close" || tip.head.seq !== seq || tip.head.path_taken === null) return;
  const { node } = await nodeAt(ports, tip.head, tip.head.path_taken);
  if (node.type !== "action" && node.type !== "decision") return;
  try {
    await settledEntry(ports, { execution: executionOf(tip.head), scope: "", seq, node: node.id }, reason);
  } catch (error) {
    if (!(error instanceof NovaError && error.name === "ExecutionClosed")) throw error;
  }
}

async function putCloseEntry(
  ports: Ports,
  { before, beforeEntry, at }: Position,
  request: CloseRequest,
): Promise<void> {
  const failure = request.status === "completed" ? null : await failureBehind(ports, before, beforeEntry, request);
  const entry = await sealEntry(
    {
      execution_id: at.execution,
      scope: at.scope,
      client: before.client,
      root: before.root,
      workflow_id: before.workflow_id,
      workflow_version: before.workflow_version,
      nodes: before.nodes,
      seq: at.seq,
      node_id: closeMark,
      node_type: "close",
      status: request.status === "completed" ? "success" : "failed",
      ...(failure && { error_class: failure.class }),
      attempt: 1,
      decision_result: null,
      path_taken: null,
      timestamp: new Date(ports.clock.now()).toISOString(),
      execution_time_ms: 0,
      sandbox_id: null,
      warm: null,
      code: null,
      prev: beforeEntry.hash,
      steps: [],
      close: { status: request.status, count: at.seq + 1 },
    },
    failure ? { error: JSON.stringify(failure satisfies FailureRecord) } : {},
    ports.blobs,
  );
  await ports.chain.putEntry(at, { ...entry, signature: await ports.signer.sign(entry.hash) });
}

/** What a close entry's `error` says: the failed node's own words, else the reason for closing. */
async function failureBehind(
  ports: Ports,
  before: Head,
  beforeEntry: StoredEntry,
  request: CloseRequest,
): Promise<ExecutionError> {
  if (before.status === "failed" && request.status === "failed") {
    const { message } = await failureOf(beforeEntry, ports.blobs);
    return { node: before.node_id, class: before.error_class ?? "NodeFailed", message };
  }
  const { class: name, message } = interruption(request);
  return { node: before.path_taken ?? before.node_id, class: name, message };
}

/** What ends a node that is still running when its execution is closed. */
function interruption({ status, reason }: CloseRequest): Reason {
  return reason ?? { class: "ExecutionClosed", message: `the execution was ${status} while the node ran` };
}

function nodeAt(ports: Ports, head: Head, node: string) {
  return definitionOf(ports, { execution: executionOf(head), node });
}

function executionOf(head: Head): { id: string; workflowId: string; version: number } {
  return { id: head.execution_id, workflowId: head.workflow_id, version: head.workflow_version };
}
