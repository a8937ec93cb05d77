import { expect, it } from "vitest";
import { Context } from "../../../packages/engine/src/context/context.ts";
import { mergeBranches } from "../../../packages/engine/src/protocol/settle-join.ts";

const before = new Context([
  { key: "old", json: "0", by: 0 },
  { key: "other", json: "1", by: 0 },
]);

/** Returns the branch `name` of a fork at entry 1. The branch has set and deleted these keys. */
function branch(name: string, set: Record<string, string>, deleted: string[] = []) {
  const scope = `/f@1.${name}`;
  const members = Object.entries(set).map(([key, json]) => ({ key, json }));
  return { name, scope, context: before.apply({ set: members, delete: deleted }, `${scope}#1`) };
}

const a = (set: Record<string, string>, deleted?: string[]) => branch("a", set, deleted);
const b = (set: Record<string, string>, deleted?: string[]) => branch("b", set, deleted);
const merged = (merge: "unique" | "last" | "collect", ...branches: ReturnType<typeof branch>[]) =>
  mergeBranches(before, branches, { node: "f", merge });
const changes = (set: Record<string, string>, deleted: string[] = []) => ({
  set: Object.entries(set).map(([key, json]) => ({ key, json })),
  delete: deleted,
});

it.each([
  ["keeps what one branch sets", merged("unique", a({ x: "1" }), b({ y: "2.50" })), changes({ x: "1", y: "2.50" })],
  ["deletes a key that one branch deletes", merged("unique", a({}, ["old"]), b({})), changes({}, ["old"])],
  [
    "accepts the same value for one key from both branches",
    merged("unique", a({ x: "[1]" }), b({ x: "[1]" })),
    changes({ x: "[1]" }),
  ],
  ["deletes a key that both branches delete", merged("unique", a({}, ["old"]), b({}, ["old"])), changes({}, ["old"])],
  ["leaves out the decisions that branches made", merged("unique", a({ branch_decision: '"x"' }), b({})), changes({})],
  [
    "takes the value of the last branch with the merge rule `last`",
    merged("last", a({ x: "1", old: "5" }), b({ x: "2" }, ["old"])),
    changes({ x: "2" }, ["old"]),
  ],
  [
    "collects values in the order of the edges",
    merged("collect", a({ x: "1" }), b({ x: "1" })),
    changes({ x: "[1,1]" }),
  ],
  [
    "makes no list of a value that only one branch sets",
    merged("collect", a({ x: "1" }), b({ y: "[]" })),
    changes({ x: "1", y: "[]" }),
  ],
  [
    "collects the values of some branches even if another branch deletes the key",
    merged("collect", a({ old: "5" }), b({}, ["old"])),
    changes({ old: "5" }),
  ],
  ["accepts equal numbers", merged("unique", a({ x: "1" }), b({ x: "1.0" })), changes({ x: "1.0" })],
  [
    "accepts equal objects whose fields have another order",
    merged("unique", a({ x: '{"a":1,"b":[2]}' }), b({ x: '{"b":[2e0],"a":1}' })),
    changes({ x: '{"b":[2e0],"a":1}' }),
  ],
])("mergeBranches %s", (_what, found, expected) => {
  expect(found).toEqual(expected);
});

it.each([
  ["different values for one key", a({ x: "1" }), b({ x: '"1"' }), "each to another value"],
  ["lists whose items have another order", a({ x: "[1,2]" }), b({ x: "[2,1]" }), "each to another value"],
  [
    "numbers that differ only beyond the precision of a double",
    a({ x: "9007199254740993" }),
    b({ x: "9007199254740992" }),
    "each to another",
  ],
  [
    "a value from one branch and a deletion from the other",
    a({ old: "5" }),
    b({}, ["old"]),
    "one sets it, the other deletes it",
  ],
])("mergeBranches refuses %s, and names the key and both branches", (_what, one, other, how) => {
  const { problem } = merged("unique", one, other) as { problem: string };
  expect(problem).toMatch(/^branches "a" and "b" both changed context\["(x|old)"\]/);
  expect(problem).toContain(how);
  expect(problem).toContain('give node "f" "merge": "last" or "collect"');
});

it("mergeBranches merges keys that an inner branch set, and no keys from before the fork", () => {
  const inner = before.apply({ set: [{ key: "deep", json: "1" }], delete: [] }, "/f@1.a/g@2.c#1");
  const sibling = before.apply({ set: [{ key: "far", json: "1" }], delete: [] }, "/f@1.ab#1");
  const branches = [
    { name: "a", scope: "/f@1.a", context: inner },
    { name: "b", scope: "/f@1.b", context: sibling },
  ];
  expect(mergeBranches(before, branches, { node: "f", merge: "unique" })).toEqual(changes({ deep: "1" }));
});
