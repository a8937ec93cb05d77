import { type Principal, seenBy } from "@nova/service";
import type { Trigger, Workflow } from "@nova/workflow";
import { expect, it } from "vitest";

const hook = (id: string, client?: string): Trigger => ({
  id,
  type: "webhook",
  ...(client !== undefined && { client }),
});
const workflow = {
  id: "orders",
  onFailure: { mail: ["ops@example.com"] },
  triggers: [hook("shop", "acme"), hook("open", "globex"), hook("ours")],
} as unknown as Workflow;
const by = (client: string | null): Principal => ({ id: "key_1", role: "viewer", client, name: "" });

it("is whole for a key of all clients", () => {
  expect(seenBy(by(null), workflow)).toBe(workflow);
});

it.each([
  ["acme", ["shop"]],
  ["globex", ["open"]],
])("names to a key of %s no other client's triggers, nor who hears of failures", (client, ids) => {
  const { triggers = [], ...rest } = seenBy(by(client), workflow);
  expect([triggers.map(({ id }) => id), rest]).toEqual([ids, { id: "orders" }]);
});

it("has no triggers where none are the client's", () => {
  expect(seenBy(by("initech"), workflow)).toEqual({ id: "orders" });
});
