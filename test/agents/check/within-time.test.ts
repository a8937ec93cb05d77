import { checkNodeCode } from "@nova/python";
import { describe, expect, it } from "vitest";
import { checkCode, readsOf } from "../../../packages/agents/src/check/within-time.ts";

describe("the check of generated code", () => {
  it("returns the same findings and reads in a thread as without one", async () => {
    const source = 'context["total"] = contxt["a"]';
    expect(await checkCode(source, { nodeType: "action" })).toEqual(
      await checkNodeCode(source, { nodeType: "action" }),
    );
    expect(await readsOf('total = context["a"]')).toEqual([{ path: "a", optional: false }]);
  });
});
