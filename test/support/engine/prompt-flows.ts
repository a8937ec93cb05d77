import type { Workflow } from "@nova/workflow";
import { action, decision, flow, lines, mapOver, prompted } from "./flows.ts";

const repeatable = { effects: false };

/** Workflows with nodes whose code a model writes, for the random simulation (simulate.ts). */
export const promptFlows: Workflow[] = [
  flow("prompt", [prompted(action("a")), action("b"), prompted(action("c"))], lines("start > a > b > c > end")),
  flow(
    "repeatable prompts",
    [prompted(action("a", repeatable)), prompted(action("b", repeatable)), action("c")],
    lines("start > a > b > c > end"),
  ),
  flow(
    "prompts with effects",
    [prompted(action("a", { effects: true, onError: "r" })), prompted(action("r"))],
    lines("start > a > end", "r > end"),
  ),
  flow(
    "retried prompts",
    [
      prompted(action("a", { retry: { attempts: 3, delaySeconds: 2 } })),
      prompted(action("b", { effects: false, onError: "r", retry: { attempts: 5, delaySeconds: 1, jitter: true } })),
      action("r"),
    ],
    lines("start > a > b > end", "r > end"),
  ),
  flow(
    "prompted decision",
    [prompted(decision("d", repeatable)), action("a"), prompted(action("b", { isolation: "fresh" }))],
    [...lines("start > d", "a > end", "b > end"), ["d", "a", "yes"], ["d", "b", "default"]],
  ),
  flow(
    "prompts in branches",
    [action("f"), prompted(action("a", repeatable)), prompted(action("b")), action("j")],
    lines("start > f > a > j > end", "f > b > j"),
  ),
  flow(
    "prompts in a map",
    [mapOver("m", [prompted(action("i", repeatable))], []), action("z")],
    lines("start > m > z > end"),
  ),
];
