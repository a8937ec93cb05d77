import { checkNodeCode } from "@nova/python";
import { describe, expect, it } from "vitest";
import { checkCode, readsOf } from "../../../packages/agents/src/check/within-time.ts";

describe("the check of generated code", () => {
  it("returns the same findings and the same read keys inside and outside a worker thread", async () => {
    const source = 'context["total"] = contxt["a"]';
    expect(await checkCode(source, { nodeType: "action" })).toEqual(
      await checkNodeCode(source, { nodeType: "action" }),
    );
    expect(await readsOf('total = context["a"]')).toEqual([{ path: "a", optional: false }]);
  });
});
