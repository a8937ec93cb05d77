import type { Workflow } from "@nova/workflow";
import { action, decision, flow, lines, mapOver } from "./flows.ts";

const repeatable = { effects: false };

/** Workflows with edges that lead back, for the random simulation (simulate.ts). */
export const loopFlows: Workflow[] = [
  flow(
    "loop",
    [action("a", repeatable), decision("d"), action("b")],
    [...lines("start > a > d", "b > end"), ["d", "a", "again", 2], ["d", "b", "default"]],
  ),
  flow(
    "loop that reaches its limit",
    [action("a"), decision("d", { effects: false, onError: "r" }), action("r")],
    [...lines("start > a > d", "r > end"), ["d", "a", true, 1], ["d", "end", false]],
  ),
  flow(
    "loop in a loop",
    [action("a"), decision("d", repeatable), decision("e")],
    [
      ...lines("start > a > d"),
      ["d", "d", "again", 1],
      ["d", "e", "default"],
      ["e", "a", "again", 1],
      ["e", "end", "default"],
    ],
  ),
  flow(
    "loop round a fork",
    [action("f"), action("a"), action("b", repeatable), decision("d")],
    [...lines("start > f > a > d", "f > b > d"), ["d", "f", "again", 1], ["d", "end", "default"]],
  ),
  flow(
    "loop in a branch",
    [action("f"), action("a"), decision("d", repeatable), action("b"), action("j")],
    [...lines("start > f > a > d", "f > b > j > end"), ["d", "a", "again", 1], ["d", "j", "default"]],
  ),
  flow(
    "loop in a map",
    [
      mapOver(
        "m",
        [action("i"), decision("d", repeatable), { id: "done", type: "end" }],
        [
          ["i", "d"],
          ["d", "i", "again", 2],
          ["d", "done", "default"],
        ],
      ),
      action("z"),
    ],
    lines("start > m > z > end"),
  ),
];
