import { defined, type TaskNode } from "@nova/workflow";
import { sumOfSpendings, unlessNothing } from "../../chain/spending.ts";
import { journalOf } from "../../chain/steps/step-number.ts";
import { replayedStep } from "../../chain/steps/step-record.ts";
import { sha256 } from "../../json/text.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import type { HeldNode } from "../../protocol/definition.ts";
import { type FailedOutcome, failed, heldMs, type RunFacts, turnFacts } from "../../protocol/outcome.ts";
import type { Reason, SettlingPorts } from "../../protocol/settling.ts";
import { noStep, stopTurn } from "../task/stopped-turn.ts";
import { earlierOf } from "./journal.ts";
import { codeContent, lastCode } from "./outcome.ts";

/** What a prompt node is that did not come to an end of its own: failed, with the steps that were recorded so far. */
export async function stoppedOutcome(
  ports: Ports,
  held: HeldNode<TaskNode>,
  { reason, warm, logs }: { reason: Reason; warm: RunFacts["warm"]; logs: string },
): Promise<FailedOutcome> {
  const { turn, position } = held;
  const { before, at } = position;
  const all = await ports.chain.steps(at);
  const stored = journalOf(turn, all);
  const earlier = earlierOf(turn, all);
  const steps = await Promise.all(stored.map((step, i) => replayedStep(i + 1, step, before, ports.blobs)));
  const code = lastCode(steps);
  const spent = unlessNothing(sumOfSpendings([earlier.spent, ...steps]));
  return failed(held, reason, {
    logs,
    executionTimeMs: turn.due === undefined ? heldMs(ports, turn) : 0,
    run: { ...turnFacts(turn), warm, code: code && sha256(code) },
    more: defined({
      steps: [...earlier.steps, ...stored.map(({ hash }) => hash)],
      generation: steps.length === 0 ? turn.generation : undefined,
      spent,
      contents: codeContent(held, code),
    }),
  });
}

/** The node has failed, with the steps that were recorded: no claim answers for it. */
export async function settlePrompt(
  ports: SettlingPorts,
  held: HeldNode<TaskNode>,
  reason: Reason,
): Promise<StoredEntry> {
  const { kept, ...stopped } = await stopTurn(ports, held, reason, noStep);
  return commitOutcome(ports, held.position, held.node, await stoppedOutcome(ports, held, stopped), kept);
}
