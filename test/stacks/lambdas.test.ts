import { existsSync } from "node:fs";
import { join } from "node:path";
import { functions, serviceFunctions } from "@nova/functions";
import { describe, expect, it } from "vitest";
import type { LambdaPlan } from "../../stacks/engine/lambda-plan.ts";
import { type LambdaName, lambdas } from "../../stacks/lambdas.ts";
import { root } from "../support/imports.ts";

const plans = Object.entries(lambdas) as [LambdaName, LambdaPlan][];
const names = (is: (plan: LambdaPlan) => boolean) => plans.filter(([, plan]) => is(plan)).map(([name]) => name);

describe("the plan of the functions", () => {
  it("has every function of functions/ with its timeout, and the API", () => {
    const times = Object.entries({ ...functions, ...serviceFunctions }).map(([name, { timeoutSeconds }]) => [
      name,
      timeoutSeconds,
    ]);
    const planned = plans.map(([name, { timeoutSeconds }]) => [name, timeoutSeconds]);
    expect(Object.fromEntries(planned)).toEqual(Object.fromEntries([...times, ["nova-api", 30]]));
  });

  it.each(plans)("has a file and a valid timeout for %s", (_, { file, timeoutSeconds, memoryMb }) => {
    expect(existsSync(join(root, `functions/${file}.ts`))).toBe(true);
    expect(timeoutSeconds).toBeLessThanOrEqual(900);
    expect(memoryMb % 128).toBe(0);
  });

  it.each(plans)("has each permission of %s once", (_, { may }) => {
    expect(may.length).toBe(new Set(may).size);
  });

  it.each<[LambdaPlan["may"][number], LambdaName[]]>([
    ["the models' key", ["nova-run-node"]],
    ["generations", ["nova-run-node"]],
    ["new spendings", ["nova-run-node"]],
    ["sealing", ["nova-request-approval"]],
    ["unsealing", ["nova-deliver-event", "nova-sweep", "nova-api"]],
    ["run lists", ["nova-sweep"]],
    ["machines", ["nova-publish"]],
    ["what machines run as", ["nova-publish"]],
    ["incoming mail", ["nova-receive-mail"]],
    ["mails", ["nova-notify"]],
    ["contents of chains", ["nova-erase"]],
    ["erased objects", ["nova-erase"]],
    ["new keys", ["nova-api"]],
    ["whole table", ["nova-erase", "nova-api"]],
    ["new executions", ["nova-run-node", "nova-fire-trigger", "nova-receive-mail", "nova-poll-mailbox", "nova-api"]],
    ["sealing credentials", ["nova-run-node", "nova-poll-mailbox", "nova-notify", "nova-api"]],
  ])("allows %j only to %j", (grant, allowed) => {
    expect(names(({ may }) => may.includes(grant))).toEqual(allowed);
  });

  it("allows functions without a waiting caller to keep failed events", () => {
    const asynchronous = names(({ isAsynchronous }) => isAsynchronous === true);
    const waitedFor = ["run-node", "settle-node", "close-execution", "request-approval", "publish", "notify", "api"];
    expect(asynchronous).toEqual(names(() => true).filter((name) => !waitedFor.includes(name.replace("nova-", ""))));
    const keeping = plans.filter(([, { may, as }]) =>
      (as ? lambdas[as as LambdaName].may : may).some((grant) => grant === "undelivered events"),
    );
    expect(keeping.map(([name]) => name)).toEqual(asynchronous);
  });

  it("shares a role between two functions only if both erase contents in chains", () => {
    expect(plans.filter(([, { as }]) => as).map(([name, { as, may }]) => [name, as, may])).toEqual([
      ["nova-retain", "nova-erase", []],
    ]);
  });
});
