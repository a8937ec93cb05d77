import { describe, expect, it } from "vitest";
import { freshNodes } from "../../../packages/cli/src/run/request.ts";
import { action, flow, lines, prompted } from "../../support/engine/flows.ts";

const mixed = flow(
  "mixed",
  [prompted(action("a")), action("b"), prompted(action("c"))],
  lines("start > a > b > c > end"),
);
const byHand = flow("by-hand", [action("b")], lines("start > b > end"));

describe("the option --fresh of nova run", () => {
  it.each([
    ["no node if the option is absent", [], []],
    ["the nodes that the option names", ["c"], ["c"]],
    ["every prompt node if the option names none", true as const, ["a", "c"]],
  ])("selects %s", async (_what, fresh, ids) => {
    expect(await freshNodes(mixed, { fresh, frozen: false })).toEqual(ids);
  });

  it.each([
    ["--frozen", mixed, { fresh: true, frozen: true }, /a frozen run asks no model.*leave out frozen/],
    ["--frozen and the id of a node", mixed, { fresh: ["a"], frozen: true }, /a frozen run asks no model/],
    ["a node that has no prompt", mixed, { fresh: ["b"], frozen: false }, /no prompt node "b".*are a, c/],
    ["a workflow without prompts", byHand, { fresh: true, frozen: false }, /no node has a prompt.*leave out --fresh/],
  ] as const)("is refused with %s", async (_what, workflow, request, message) => {
    const asked = { ...request, fresh: request.fresh === true ? (true as const) : [...request.fresh] };
    await expect(freshNodes(workflow, asked)).rejects.toMatchObject({
      name: "InvalidInput",
      message: expect.stringMatching(message),
    });
  });
});
