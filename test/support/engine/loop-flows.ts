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

const long = { timeoutSeconds: 7_200 };
const longRepeatable = { ...long, effects: false };

/** Workflows with code that runs longer than the Lambda that starts it, for the random simulation (simulate.ts). */
export const longFlows: Workflow[] = [
  flow("long", [action("a", long), action("b"), action("c", long)], lines("start > a > b > c > end")),
  flow(
    "long and rescued",
    [action("a", { ...long, onError: "r" }), action("b", longRepeatable), action("r")],
    lines("start > a > b > end", "r > end"),
  ),
  flow(
    "long and retried",
    [
      action("a", { ...longRepeatable, retry: { attempts: 2, delaySeconds: 5 } }),
      action("b", { ...long, isolation: "fresh", retry: { attempts: 3, delaySeconds: 60, backoff: 3, jitter: true } }),
    ],
    lines("start > a > b > end"),
  ),
  flow(
    "long decision",
    [decision("d", longRepeatable), action("a", long)],
    [...lines("start > d", "a > end"), ["d", "a", "yes"], ["d", "end", "default"]],
  ),
  flow(
    "long in a branch",
    [action("f"), action("a", long), action("b", longRepeatable), action("j")],
    lines("start > f > a > j > end", "f > b > j"),
  ),
  flow("long in a map", [mapOver("m", [action("i", long)], []), action("z")], lines("start > m > z > end")),
];
