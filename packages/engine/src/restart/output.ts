import type { IndexedNode } from "@nova/workflow";
import { type Member, membersOf } from "@nova/workflow";
import { decide } from "../attempt/judge.ts";
import type { CodeResult } from "../ports/sandboxes.ts";
import { isChosen } from "../protocol/definition.ts";
import { decisionKey } from "../protocol/settle-join.ts";
import type { TraceEntry } from "../trace/trace-entry.ts";
import type { Output } from "./differences.ts";

/** The outcome of a node as keys: a failure is the `error` that its `onError` node finds, a choice is a `branch_decision`. */
export function buildRecordedOutput({
  changes,
  status,
  error_class,
  error_message,
  decision_result,
}: TraceEntry): Output {
  const set = membersOf(changes.set.text);
  const isSaid = set.some(({ key }) => key === decisionKey);
  return {
    set: [
      ...set,
      ...(status === "failed" ? [failure(error_class, error_message)] : []),
      ...(decision_result === null || isSaid ? [] : [{ key: decisionKey, json: JSON.stringify(decision_result) }]),
    ],
    delete: changes.delete,
  };
}

/** The output of a new run of the code of an entry, in the form of `buildRecordedOutput`. */
export function buildReplayOutput(
  result: CodeResult,
  { edges }: Pick<IndexedNode, "edges">,
  entry: TraceEntry,
): Output {
  const failed = (...facts: Parameters<typeof failure>) => ({ set: [failure(...facts)], delete: [] });
  if (result.status === "error") return failed(result.class, result.message);
  if (!isChosen({ edges })) return result;
  const edge = decide(result.set.find(({ key }) => key === decisionKey)?.json, edges);
  if ("problem" in edge) return failed("NodeFailed", edge.problem);
  // Only the record knows how often the edge was taken.
  const isAtMax = edge.max !== undefined && entry.status === "failed" && entry.traceback === null;
  return isAtMax ? failed(entry.error_class, entry.error_message) : result;
}

function failure(error_class: string | null, message: string | null): Member {
  return { key: "error", json: JSON.stringify({ class: error_class, message }) };
}
