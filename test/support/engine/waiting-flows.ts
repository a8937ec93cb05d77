import type { Approvers, Workflow } from "@nova/workflow";
import { type Arrow, action, flow, lines, mapOver } from "./flows.ts";
import { approval, pause } from "./waiting.ts";

const answered = (from: string, approved: string, rejected: string): Arrow[] => [
  [from, approved, "approved"],
  [from, rejected, "rejected"],
];

/** Workflows with approvals, which people answer in time or too late, for the random simulation (simulate.ts). */
export const waitingFlows: Workflow[] = [
  flow(
    "asked",
    [action("a", { effects: false }), approval("ask"), action("b")],
    [...lines("start > a > ask", "b > end"), ...answered("ask", "b", "end")],
  ),
  flow(
    "approval with an edge for silence",
    [approval("ask"), action("b", { effects: false }), action("late")],
    [...lines("start > ask", "b > end", "late > end"), ...answered("ask", "b", "end"), ["ask", "late", "timeout"]],
  ),
  flow(
    "approval with a rescue",
    [action("a", { effects: false }), approval("ask", { onError: "r" }), action("r")],
    [...lines("start > a > ask", "r > end"), ...answered("ask", "end", "r")],
  ),
  flow(
    "two approvals with a pause",
    [approval("ask"), pause("wait"), approval("again"), action("b", { effects: false })],
    [
      ...lines("start > ask", "wait > again", "b > end"),
      ...answered("ask", "wait", "end"),
      ...answered("again", "b", "end"),
    ],
  ),
  flow(
    "approvals in two branches",
    [action("f", { effects: false }), approval("ask"), approval("other"), action("j")],
    [
      ...lines("start > f > ask", "f > other", "j > end"),
      ...answered("ask", "j", "j"),
      ...answered("other", "j", "j"),
      ["other", "j", "timeout"],
    ],
  ),
  flow(
    "approval for each item",
    [
      action("f", { effects: false }),
      mapOver(
        "m",
        [approval("ask"), action("b")],
        [
          ["ask", "b", "approved"],
          ["ask", "b", "rejected"],
        ],
      ),
    ],
    lines("start > f > m > end"),
  ),
];

const two: Approvers = { any: ["ann@acme.com", "bob@acme.com", "cid@acme.com"], count: 2, not: [] };
const any = ["ann", "bob", "cid", "dan", "eve"].map((name) => `${name}@acme.com`);
const one: Approvers = { any: ["ann@acme.com", "bob@acme.com"], count: 1, not: [] };

/** Workflows with approvals on which several people vote, for the random simulation (simulate.ts). */
export const votingFlows: Workflow[] = [
  flow(
    "voted",
    [action("a", { effects: false }), approval("ask", { approvers: two }), action("b")],
    [...lines("start > a > ask", "b > end"), ...answered("ask", "b", "end")],
  ),
  flow(
    "voted with an edge for silence",
    [approval("ask", { approvers: two }), action("b", { effects: false }), action("late")],
    [...lines("start > ask", "b > end", "late > end"), ...answered("ask", "b", "end"), ["ask", "late", "timeout"]],
  ),
  flow(
    "voted with a rescue",
    [approval("ask", { approvers: one, onError: "r" }), action("r")],
    [...lines("start > ask", "r > end"), ...answered("ask", "end", "r")],
  ),
  flow(
    "voted by other people than before",
    [
      approval("ask", { approvers: one }),
      approval("again", { approvers: { ...two, count: 1, not: ["ask", "starter"] } }),
    ],
    [...lines("start > ask"), ...answered("ask", "again", "end"), ...answered("again", "end", "end")],
  ),
  flow(
    "voted in two branches",
    [
      action("f", { effects: false }),
      approval("ask", { approvers: two }),
      approval("other", { approvers: one }),
      action("j"),
    ],
    [
      ...lines("start > f > ask", "f > other", "j > end"),
      ...answered("ask", "j", "j"),
      ...answered("other", "j", "j"),
      ["other", "j", "timeout"],
    ],
  ),
  flow(
    "voted in two branches by different people",
    [
      action("f", { effects: false }),
      approval("ask", { approvers: { any, count: 3, not: ["other"] } }),
      approval("other", { approvers: { any, count: 3, not: ["ask"] } }),
      action("j"),
    ],
    [
      ...lines("start > f > ask", "f > other", "j > end"),
      ...answered("ask", "j", "j"),
      ...answered("other", "j", "j"),
      ["ask", "j", "timeout"],
      ["other", "j", "timeout"],
    ],
  ),
  flow(
    "voted for each item",
    [
      action("f", { effects: false }),
      mapOver(
        "m",
        [approval("ask", { approvers: one }), action("b")],
        [
          ["ask", "b", "approved"],
          ["ask", "b", "rejected"],
        ],
      ),
    ],
    lines("start > f > m > end"),
  ),
];
