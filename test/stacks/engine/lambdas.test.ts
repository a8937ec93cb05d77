import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LambdaName, type LambdaPlan, lambdas } from "../../../stacks/engine/lambdas.ts";
import { root } from "../../support/imports.ts";

const plans = Object.entries(lambdas) as [LambdaName, LambdaPlan][];
const names = (is: (plan: LambdaPlan) => boolean) => plans.filter(([, plan]) => is(plan)).map(([name]) => name);

describe("the plan of the functions", () => {
  it.each(plans)("gives %s a file and a time that Lambda has", (_, { file, timeoutSeconds, memoryMb }) => {
    expect(existsSync(join(root, `functions/${file}.ts`))).toBe(true);
    expect(timeoutSeconds).toBeLessThanOrEqual(900);
    expect(memoryMb % 128).toBe(0);
  });

  it.each(plans)("allows %s nothing twice", (_, { may }) => {
    expect(may.length).toBe(new Set(may).size);
  });

  it.each([
    ["the models' key", ["nova-run-node"]],
    ["generations", ["nova-run-node"]],
    ["new executions", ["nova-run-node"]],
    ["sealing", ["nova-request-approval"]],
    ["unsealing", ["nova-deliver-event", "nova-sweep"]],
    ["spendings", ["nova-run-node"]],
    ["client lists", ["nova-sweep"]],
    ["run lists", ["nova-sweep"]],
  ] as const)("keeps %j to %j", (grant, allowed) => {
    expect(names(({ may }) => may.includes(grant))).toEqual(allowed);
  });

  it("lets those keep what they could not take that nobody waits for", () => {
    const asynchronous = names(({ isAsynchronous }) => isAsynchronous === true);
    expect(asynchronous).toEqual(["nova-deliver-event", "nova-execution-status", "nova-sweep"]);
    expect(names(({ may }) => may.includes("undelivered events"))).toEqual(asynchronous);
  });
});
