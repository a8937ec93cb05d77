import type { Workflow } from "@nova/workflow";
import { type Arrow, action, decision, flow, lines, mapOver } from "./flows.ts";

const repeatable = { effects: false };
const retried = { retry: { attempts: 3, delaySeconds: 1 } };
const straight = lines("start > f > a > j > end", "f > b > j");

/** Workflows with branches and items for the random simulation (simulate.ts). Their context has a `list` of lists. */
export const forkFlows: Workflow[] = [
  flow(
    "fork",
    [action("f"), action("a"), action("b"), action("c"), action("j")],
    [...lines("start > f > a > j > end", "f > b > c > j")],
  ),
  flow(
    "fork of repeatable nodes",
    [
      action("f"),
      action("a", { ...repeatable, retry: { attempts: 2, delaySeconds: 1 } }),
      action("b", repeatable),
      action("j", repeatable),
    ],
    straight,
  ),
  flow("fork of retried nodes", [action("f"), action("a", retried), action("b", retried), action("j")], straight),
  flow(
    "fork at the start",
    [action("a"), action("b"), action("c")],
    [...lines("start > a > end", "start > b > end", "start > c > end")],
  ),
  flow(
    "rescued in a branch",
    [action("f"), action("a", { onError: "r" }), action("r"), action("b"), action("j")],
    [...straight, ...lines("r > j")],
  ),
  flow(
    "rescued by the join",
    [action("f", { onError: "r" }), action("a", { onError: "j" }), action("b"), action("j"), action("r")],
    [...straight, ...lines("r > end")],
  ),
  flow(
    "decision in a branch",
    [action("f"), decision("d"), action("x"), action("b"), action("j")],
    [...lines("start > f > d", "f > b > j > end", "x > j"), ["d", "x", "yes"], ["d", "j", "default"]],
  ),
  flow(
    "fork in a branch",
    [action("f"), action("a"), action("c"), action("d"), action("e"), action("b", repeatable), action("j")],
    [...lines("start > f > a > c > e > j > end", "a > d > e", "f > b > j")],
  ),
  flow(
    "fork in a branch, one join",
    [action("f"), action("a"), action("c"), action("d"), action("b"), action("j")],
    [...lines("start > f > a > c > j > end", "a > d > j", "f > b > j")],
  ),
  flow(
    "two forks",
    [action("f"), action("a"), action("b"), action("g"), action("c"), action("d")],
    [...lines("start > f > a > g > c > end", "f > b > g > d > end")],
  ),
  flow(
    "merged",
    [
      action("f", { merge: "collect" }),
      action("a"),
      action("b"),
      action("g", { merge: "last" }),
      action("c"),
      action("d"),
    ],
    [...lines("start > f > a > g > c > end", "f > b > g > d > end")],
  ),
  flow("limited fork", [action("f"), action("a"), action("b"), action("j")], straight, { timeoutSeconds: 600 }),
];

const around: Arrow[] = lines("start > m > z > end");

export const mapFlows: Workflow[] = [
  flow("map", [mapOver("m", [action("i"), action("k")], lines("i > k")), action("z")], around),
  flow("map of repeatable nodes", [mapOver("m", [action("i", repeatable)], []), action("z")], around),
  flow("map of retried nodes", [mapOver("m", [action("i", retried)], []), action("z")], around),
  flow("tolerant map", [mapOver("m", [action("i")], [], { toleratedFailures: { count: 1 } }), action("z")], around),
  flow(
    "half tolerant map",
    [
      mapOver("m", [action("i"), action("k", { onError: "r" }), action("r")], lines("i > k"), {
        toleratedFailures: { percent: 50 },
      }),
      action("z"),
    ],
    around,
  ),
  flow(
    "rescued map",
    [mapOver("m", [action("i")], [], { onError: "r" }), action("z"), action("r")],
    [...around, ...lines("r > end")],
  ),
  flow(
    "map without a list",
    [mapOver("m", [action("i")], [], { items: "letter", onError: "r" }), action("z"), action("r")],
    [...around, ...lines("r > end")],
  ),
  flow(
    "map in a map",
    [
      mapOver(
        "m",
        [action("i"), mapOver("n", [action("k")], [], { items: "item", as: "inner" }), action("l")],
        lines("i > n > l"),
      ),
      action("z"),
    ],
    around,
  ),
  flow(
    "map that ends in a map",
    [mapOver("m", [mapOver("n", [action("k")], [], { items: "item", as: "inner" })], []), action("z")],
    around,
  ),
  flow(
    "fork in a map",
    [
      mapOver(
        "m",
        [action("i"), action("k"), action("l"), { id: "done", type: "end" }],
        lines("i > k > done", "i > l > done"),
      ),
      action("z"),
    ],
    around,
  ),
  flow(
    "decision in a map",
    [
      mapOver(
        "m",
        [decision("d"), action("k", { onError: "done" }), { id: "done", type: "end" }],
        [
          ["d", "k", "yes"],
          ["d", "done", "default"],
          ["k", "done"],
        ],
      ),
      action("z"),
    ],
    around,
  ),
  flow(
    "map in a branch",
    [action("f"), mapOver("m", [action("i")], []), action("b"), action("z")],
    [...lines("start > f > m > z > end", "f > b > z")],
  ),
  flow(
    "map that fans out",
    [mapOver("m", [action("i")], [], { merge: "last" }), action("a"), action("b"), action("z")],
    [...lines("start > m > a > z > end", "m > b > z")],
  ),
];
