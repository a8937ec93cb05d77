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
  it("has every function of functions/, with its time, and the API", () => {
    const times = Object.entries({ ...functions, ...serviceFunctions }).map(([name, { timeoutSeconds }]) => [
      name,
      timeoutSeconds,
    ]);
    const planned = plans.map(([name, { timeoutSeconds }]) => [name, timeoutSeconds]);
    expect(Object.fromEntries(planned)).toEqual(Object.fromEntries([...times, ["nova-api", 30]]));
  });

  it.each(plans)("gives %s a file and a time that Lambda has", (_, { file, timeoutSeconds, memoryMb }) => {
    expect(existsSync(join(root, `functions/${file}.ts`))).toBe(true);
    expect(timeoutSeconds).toBeLessThanOrEqual(900);
    expect(memoryMb % 128).toBe(0);
  });

  it.each(plans)("allows %s nothing twice", (_, { may }) => {
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
  ])("keeps %j to %j", (grant, allowed) => {
    expect(names(({ may }) => may.includes(grant))).toEqual(allowed);
  });

  it("lets those keep what they could not take that nobody waits for", () => {
    const asynchronous = names(({ isAsynchronous }) => isAsynchronous === true);
    const waitedFor = ["run-node", "settle-node", "close-execution", "request-approval", "publish", "notify", "api"];
    expect(asynchronous).toEqual(names(() => true).filter((name) => !waitedFor.includes(name.replace("nova-", ""))));
    const keeping = plans.filter(([, { may, as }]) =>
      (as ? lambdas[as as LambdaName].may : may).some((grant) => grant === "undelivered events"),
    );
    expect(keeping.map(([name]) => name)).toEqual(asynchronous);
  });

  it("gives two functions one role only where both take contents out of chains", () => {
    expect(plans.filter(([, { as }]) => as).map(([name, { as, may }]) => [name, as, may])).toEqual([
      ["nova-retain", "nova-erase", []],
    ]);
  });
});
