import { describe, expect, it } from "vitest";
import { addressesFor, allowedFor, networkOf } from "../../../packages/engine/src/attempt/code.ts";
import type { Task } from "../../../packages/engine/src/attempt/task-input.ts";
import { emptyOverlay } from "../../../packages/engine/src/secrets/overlay.ts";

const overlay = { ...emptyOverlay, hosts: ["smtp.acme.test:587", "api.acme.test:443"] };
const task = (allow?: string[], sealed?: true) => {
  const executor = { kind: "code" as const, code: "", ...(allow && { allow }) };
  return { node: { executor }, position: { before: { ...(sealed && { sealed }) } } } as Pick<Task, "node" | "position">;
};

describe("what a node can connect to", () => {
  it("is what its definition says and the hosts of its credentials, each once", () => {
    expect(allowedFor(task(["api.acme.test:443", "b.test"]), overlay)).toEqual([
      "api.acme.test:443",
      "b.test",
      "smtp.acme.test:587",
    ]);
    expect(allowedFor(task([]), emptyOverlay)).toEqual([]);
    expect(allowedFor(task(["api.acme.test:443"], true), overlay)).toEqual([]);
    expect(allowedFor(task(undefined, true), emptyOverlay)).toEqual([]);
  });

  it("is everything if the node names no hosts", () => {
    expect(allowedFor(task(), overlay)).toBeUndefined();
    expect(networkOf(undefined, {})).toEqual({});
    expect(networkOf(undefined, {}, overlay)).toEqual({ near: overlay.hosts });
    expect(networkOf([], {}, overlay)).toEqual({ network: { allow: [] } });
  });

  it.each([
    ["a name on another port", ["db.acme.test:5432"], { "db.acme.test": ["10.0.0.7"] }],
    ["a name on several", ["db.acme.test:5432", "db.acme.test:22"], { "db.acme.test": ["10.0.0.7"] }],
    ["names of the web", ["a.test", "b.test:443", "c.test:80"], undefined],
    ["addresses, ranges and this machine", ["10.0.0.7:1", "[::1]:2", "10.0.0.0/8:3", "localhost:4"], undefined],
    ["nothing", undefined, undefined],
  ])("has %s looked up before it begins: %j", async (_what, allow, addresses) => {
    const asked: string[] = [];
    const addressesOf = async (host: string) => {
      asked.push(host);
      return ["10.0.0.7"];
    };
    expect((await addressesFor({ hostNames: { addressesOf } }, allow)).addresses).toEqual(addresses);
    expect(asked).toEqual(Object.keys(addresses ?? {}));
  });

  it("goes to the sandbox with the addresses that the turn holds", () => {
    const addresses = { "db.acme.test": ["10.0.0.7"] };
    expect(networkOf(["db.acme.test:5432"], { addresses })).toEqual({
      network: { allow: ["db.acme.test:5432"], addresses },
    });
  });
});
