import { toStateMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { checkSize, definitionLimitBytes } from "../../../packages/compiler/src/check/size.ts";
import { chainOf } from "../support/workflows.ts";

const definitionOf = (nodes: number) => JSON.stringify(toStateMachine(chainOf(nodes)));

describe("the size of a state machine", () => {
  it("may be as much as Step Functions takes, in bytes and not in characters", () => {
    expect(checkSize("x".repeat(definitionLimitBytes), 10)).toEqual([]);
    expect(checkSize(`${"x".repeat(definitionLimitBytes - 1)}€`, 10)).toHaveLength(1);
  });

  it("beyond that is a finding that says how many nodes fit, and they do", () => {
    const [found] = checkSize(definitionOf(2000), 2000);
    expect(found).toMatchObject({ code: "NOVA701", severity: "error", path: "$.nodes" });
    const fitting = Number(/about (\d+) nodes/.exec(found?.message ?? "")?.[1]);
    expect(Buffer.byteLength(definitionOf(fitting - 5))).toBeLessThanOrEqual(definitionLimitBytes);
    expect(Buffer.byteLength(definitionOf(fitting + 20))).toBeGreaterThan(definitionLimitBytes);
  });
});
