import { describe, expect, it } from "vitest";
import { changeParams, readParams } from "../../../packages/console/src/parts/params.ts";

describe("the filters in the URL of a console page", () => {
  it("are read only if they have a known name and a value", () => {
    const params = new URLSearchParams("status=failed&client=&other=1&status=twice");
    expect(readParams(params, ["status", "client", "workflow"])).toEqual({ status: "failed" });
  });

  it("change one by one, and disappear from the URL when they are cleared", () => {
    const before = new URLSearchParams("status=failed&node=a%20b");
    expect(changeParams(before, { status: undefined, workflow: "orders" }).toString()).toBe("node=a+b&workflow=orders");
    expect(changeParams(before, { node: "" }).toString()).toBe("status=failed");
    expect(before.toString()).toBe("status=failed&node=a%20b".replace("%20", "+"));
  });
});
