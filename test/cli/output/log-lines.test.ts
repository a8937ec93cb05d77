import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import type { LogPiece } from "../../../packages/cli/src/api/follow-logs.ts";
import { LogLines } from "../../../packages/cli/src/output/logs.ts";

function shown(...pieces: LogPiece[]): string[] {
  const lines = new LogLines();
  return pieces.flatMap((piece) => lines.of(piece)).map(stripVTControlCharacters);
}

const printed = (node_id: string, text: string, more: { leftOut?: number; attempt?: number } = {}): LogPiece => {
  const { leftOut = 0, attempt = 1 } = more;
  return { kind: "printed", at: { node_id, scope: "", seq: node_id === "a" ? 1 : 2, attempt }, text, leftOut };
};
const ended = (node_id: string, logs: string, more: object = {}): LogPiece => {
  const place = { node_id, scope: "", seq: node_id === "a" ? 1 : 2, attempt: 1, steps: [] };
  const entry = { ...place, error_class: null, error_message: null, traceback: null, ...more } as never;
  return { kind: "ended", entry, logs, steps: [] };
};

it("LogLines prints the node's name when the node changes, and joins partial lines", () => {
  const pieces = [printed("a", "one\ntw"), printed("a", "o\n"), printed("b", "x\n"), printed("a", "three\n")];
  expect(shown(...pieces)).toEqual(["1 a", "  one", "  two", "2 b", "  x", "1 a", "  three"]);
});

it("LogLines prints an incomplete line when no more text follows", () => {
  expect(shown(printed("a", "working"))).toEqual([]);
  expect(shown(printed("a", "working"), printed("a", ""), printed("a", ""))).toEqual(["1 a", "  working"]);
});

it("LogLines prints the rest of the output and the reason of the failure when a node fails", () => {
  const failure = { error_class: "NodeFailed", error_message: "no" };
  expect(shown(printed("a", "one\ntw"), ended("a", "o\n", failure))).toEqual([
    "1 a",
    "  one",
    "  two",
    "  NodeFailed: no",
  ]);
  expect(shown(ended("b", ""))).toEqual([]);
});

it("LogLines prints a line about omitted bytes, about a new attempt, and about nodes that it does not follow", () => {
  const again = printed("a", "x\n", { leftOut: 900, attempt: 2 });
  expect(shown(again)).toEqual(["1 a, attempt 2", "  ... 900 bytes are left out", "  x"]);
  expect(shown({ kind: "crowd", count: 40, followed: 5 })[0]).toContain("40 nodes are running, 5 of them");
});

it("LogLines prints the failure of an attempt after its output and before the next attempt", () => {
  const step = { attempt_number: 1, logs: "o\n", error_class: "NodeFailed", error_message: "no", traceback: "line 3" };
  const at = { node_id: "a", scope: "", seq: 1, attempt: 1 };
  const failed = { kind: "failed", at, step } as LogPiece;
  expect(shown(printed("a", "one\ntw"), failed, printed("a", "again\n", { attempt: 2 }))).toEqual([
    "1 a",
    "  one",
    "  two",
    "  NodeFailed: no",
    "  line 3",
    "1 a, attempt 2",
    "  again",
  ]);
});
