import { entryName } from "../chain/ids.ts";
import { contextBefore, readPosition } from "../chain/position.ts";
import { NovaError, recoverFrom } from "../errors.ts";
import type { EntryId, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { RunningLog } from "../ports/sandboxes.ts";
import { definitionOf } from "../protocol/definition.ts";
import type { RunPosition } from "../protocol/event.ts";
import { executionOf } from "../protocol/record.ts";
import { emptyOverlay, overlayBefore } from "../secrets/overlay.ts";
import type { Redactor } from "../secrets/redactor.ts";
import { redactorAt } from "../secrets/secret-inputs.ts";
import { isScope } from "./read-trace.ts";

/** The position up to which a caller has read a log, in bytes of the log of one step and attempt. */
type LogPlace = Pick<RunningLog, "step" | "attempt"> & { bytes: number };

/** The time limit for reading the log from a sandbox. */
const lookMs = 5_000;

/**
 * Returns the text that the code of an entry has printed since `after`; null if the code does not run now. Throws
 * `ExecutionNotFound` if the execution does not exist.
 */
export async function runningLog(ports: Ports, id: string, place: Omit<EntryId, "execution">, after?: LogPlace) {
  const { workflowId, version } = await executionOf(ports, id);
  const at: EntryId = { execution: id, scope: place.scope, seq: place.seq };
  const { turn, entry } = isScope(at.scope) ? await ports.chain.read(at) : {};
  if (entry || turn?.state !== "held" || turn.sandbox === null) return null;
  const looking = ports.sandboxes.runningLog(turn.sandbox, entryName(at), ports.timer.timeout(lookMs));
  const log = await looking.catch(recoverFrom(NovaError, () => null));
  if (!log) return null;
  return printedSince(log, await redactorOf(ports, at, turn, { id, workflowId, version }), after);
}

/** Returns the output of running code after a given position, with secrets masked. */
function printedSince({ step, attempt, size, tail }: RunningLog, redactor: Redactor, after?: LogPlace) {
  const from = after && after.step === step && after.attempt === attempt ? after.bytes : 0;
  const start = Math.max(0, size - tail.byteLength);
  const { text, shown } = redactor.maskGrowing(tail, { shown: Math.max(0, from - start), isCut: start > 0 });
  /** The number of bytes after the given position that the sandbox no longer stores. */
  const leftOut = Math.max(0, start - from);
  return { text, leftOut, next: { step, attempt, bytes: start + shown } };
}

/** Builds a redactor for the secrets in the context that the running node received. */
async function redactorOf(ports: Ports, at: EntryId, turn: Turn, execution: RunPosition["execution"]) {
  const [position, { version, node }] = await Promise.all([
    readPosition(ports, at),
    definitionOf(ports, { execution, node: turn.node }),
  ]);
  const { before } = position;
  const { context } = await contextBefore(ports, position);
  const overlay =
    "executor" in node ? await overlayBefore(ports, { client: before.client, version, node }) : emptyOverlay;
  return redactorAt(ports, before, version, context, overlay.secrets);
}
