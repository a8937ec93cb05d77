import { describe, expect, it } from "vitest";
import { differences, type VisitedStates } from "./paths.ts";

function execution(entered: string, more: Partial<VisitedStates> = {}): VisitedStates {
  return { name: "exec", status: "SUCCEEDED", error: undefined, entered: entered.split(" "), ...more };
}

describe("the executions in AWS and in the local cloud", () => {
  it("count as equal if only the order of executions and branches differs", () => {
    const [a, b] = [execution("start left right"), execution("start end")];
    expect(differences([a, b], [b, execution("start right left")])).toEqual([]);
  });

  it("count as different if one cloud has one more visit of a state, or one more execution", () => {
    expect(differences([execution("start loop loop")], [execution("start loop")])).toEqual([
      "only deployed: SUCCEEDED loop loop start",
      "only local: SUCCEEDED loop start",
    ]);
    const failed = execution("start", { status: "FAILED", error: "NodeFailed" });
    expect(differences([failed], [])).toEqual(["only deployed: FAILED (NodeFailed) start"]);
  });
});
