import type { RateStore } from "@nova/service";
import { createOutgoing } from "@nova/service/outgoing";
import { expect, it } from "vitest";
import { ServiceEnvironment } from "../../functions/environment.ts";
import { apiAccess } from "../../functions/service-app.ts";

const rateStore: RateStore = { add: async () => false };
const by = { id: "key_1", client: null };
const clock = { now: () => 0, sleep: async () => undefined };

function access(variables: Record<string, string>) {
  return apiAccess(ServiceEnvironment.parse(variables), {
    rateStore,
    clock,
    outgoing: createOutgoing({ allowsPrivate: true }),
  });
}

it("the API accepts only keys and limits no rates by default", () => {
  expect(access({})).toEqual({});
});

it("the API limits keys to the configured rate", async () => {
  const { rates } = access({ NOVA_RATE_PER_KEY: "20" });
  await rates?.take(by);
  await expect(rates?.take(by)).rejects.toThrow("this key has asked 20 times in 10 seconds");
});

it("the API trusts the configured issuer", async () => {
  const { tokens } = access({ NOVA_JWT_ISSUER: "https://id.example.com" });
  expect(await tokens?.principalOf("a.b.c")).toBeNull();
});

it.each([{ NOVA_RATE_PER_KEY: "0" }, { NOVA_JWT_ISSUER: "id.example.com" }])(
  "the API refuses the variables %j",
  (variables) => {
    expect(() => access(variables)).toThrow(Object.keys(variables)[0]);
  },
);
