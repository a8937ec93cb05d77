import { expect, it } from "vitest";
import { branchOf, branchScope, entryName } from "../../../packages/engine/src/chain/ids.ts";
import { isWithin, linkLabel } from "../../../packages/engine/src/context/context.ts";

it.each([
  ["", "f", 1, "a", "/f@1.a"],
  ["/f@1.a", "m", 2, "17", "/f@1.a/m@2.17"],
  ["/m@3.0", "m.join", 4, "b-1_x", "/m@3.0/m.join@4.b-1_x"],
])(
  "branchScope names a branch in scope %j by its fork, entry number and id, and branchOf parses this name",
  (parent, fork, seq, branch, scope) => {
    expect(branchScope({ scope: parent, seq }, fork, branch)).toBe(scope);
    expect(branchOf(scope)).toEqual({ parent, fork, seq, branch });
  },
);

it("branchOf returns null for the main line", () => {
  expect(branchOf("")).toBeNull();
});

it.each([
  [{ scope: "/f@1.a", seq: 2 }, true],
  [{ scope: "/f@1.a/g@2.c", seq: 1 }, true],
  [{ scope: "/f@1.ab", seq: 2 }, false],
  [{ scope: "", seq: 2 }, false],
])("isWithin says whether the entry %j is inside the branch /f@1.a", (at, inside) => {
  expect(isWithin(linkLabel(at), "/f@1.a")).toBe(inside);
});

it("entryName returns file names of limited length", () => {
  const deep = (letter: string) => `/${letter.repeat(60)}@1.${"b".repeat(60)}`.repeat(4);
  const names = ["a", "c"].map((letter) => entryName({ execution: "exec_1", scope: deep(letter), seq: 12 }));
  expect(names[0]?.length).toBeLessThan(150);
  expect(names[0]).not.toBe(names[1]);
  expect(entryName({ execution: "exec_1", scope: "/f@1.a", seq: 2 })).toBe("exec_1+f@1.a.2");
});
