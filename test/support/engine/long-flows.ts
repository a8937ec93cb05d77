import type { Workflow } from "@nova/workflow";
import { action, decision, flow, lines, mapOver } from "./flows.ts";

const long = { timeoutSeconds: 7_200 };
const repeatable = { ...long, effects: false };

/** Workflows with code that runs longer than the Lambda that starts it, for the random simulation (simulate.ts). */
export const longFlows: Workflow[] = [
  flow("long", [action("a", long), action("b"), action("c", long)], lines("start > a > b > c > end")),
  flow(
    "long and rescued",
    [action("a", { ...long, onError: "r" }), action("b", repeatable), action("r")],
    lines("start > a > b > end", "r > end"),
  ),
  flow(
    "long and retried",
    [
      action("a", { ...repeatable, retry: { attempts: 2, delaySeconds: 5 } }),
      action("b", { ...long, isolation: "fresh", retry: { attempts: 3, delaySeconds: 60, backoff: 3, jitter: true } }),
    ],
    lines("start > a > b > end"),
  ),
  flow(
    "long decision",
    [decision("d", repeatable), action("a", long)],
    [...lines("start > d", "a > end"), ["d", "a", "yes"], ["d", "end", "default"]],
  ),
  flow(
    "long in a branch",
    [action("f"), action("a", long), action("b", repeatable), action("j")],
    lines("start > f > a > j > end", "f > b > j"),
  ),
  flow("long in a map", [mapOver("m", [action("i", long)], []), action("z")], lines("start > m > z > end")),
];
