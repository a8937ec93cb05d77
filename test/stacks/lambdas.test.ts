import { existsSync } from "node:fs";
import { join } from "node:path";
import { functions, serviceFunctions } from "@nova/functions";
import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import { Environment, ServiceEnvironment } from "../../functions/environment.ts";
import type { LambdaPlan } from "../../stacks/lambda.ts";
import { type LambdaName, lambdas } from "../../stacks/stacks.ts";
import { type DeployedFunction, functionsOf } from "../support/functions.ts";
import { root } from "../support/imports.ts";
import { stacksOf } from "../support/stacks.ts";

const lambdaNames = Object.keys(lambdas) as LambdaName[];
const plans = Object.entries(lambdas) as [LambdaName, LambdaPlan][];
const namesWhere = (is: (plan: LambdaPlan) => boolean) => plans.filter(([, plan]) => is(plan)).map(([name]) => name);

describe("the plan of the Lambda functions", () => {
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

  it.each(plans)("lists each permission of %s once", (_, { may }) => {
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
  ])("gives the permission %j only to the functions %j", (grant, allowed) => {
    expect(namesWhere(({ may }) => may.includes(grant))).toEqual(allowed);
  });

  it("lets functions whose callers do not wait put failed events into a queue", () => {
    const asynchronous = namesWhere(({ isAsynchronous }) => isAsynchronous === true);
    const waitedFor = ["run-node", "settle-node", "close-execution", "request-approval", "publish", "notify", "api"];
    expect(asynchronous).toEqual(
      namesWhere(() => true).filter((name) => !waitedFor.includes(name.replace("nova-", ""))),
    );
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

const stacks = ["engine", "triggers", "api"] as const;
let templates: Template[];
let deployed: Map<string, DeployedFunction>;

beforeAll(async () => {
  const made = (await stacksOf("production")).templates;
  templates = stacks.map((stack) => made[stack]);
  deployed = new Map(templates.flatMap(functionsOf).map((one) => [one.name, one]));
});

const variablesOf = (name: string) => deployed.get(name)?.variables ?? {};

describe("the deployed Lambda functions", () => {
  it("are the functions of the plan", () => {
    expect([...deployed.keys()].toSorted()).toEqual(lambdaNames.toSorted());
  });

  it.each(lambdaNames)(
    "include %s, which uses Node 24 and ARM, is traced, and logs to the shared log group",
    (name) => {
      const { file, timeoutSeconds, memoryMb } = lambdas[name];
      expect(deployed.get(name)?.properties).toMatchObject({
        Handler: `functions/${file}.handler`,
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        Timeout: timeoutSeconds,
        MemorySize: memoryMb,
        TracingConfig: { Mode: "Active" },
      });
      expect(JSON.stringify(deployed.get(name)?.properties.LoggingConfig)).toMatch(/Logs/);
    },
  );

  it("each have an alias, which changes to each new version of their code", () => {
    const aliases = templates.flatMap((template) => Object.values(template.findResources("AWS::Lambda::Alias")));
    expect(aliases.map(({ Properties }) => Properties.Name)).toEqual(lambdaNames.map(() => "live"));
    expect(aliases.map(({ Properties }) => JSON.stringify(Properties.FunctionVersion))).not.toContain('"$LATEST"');
  });

  it.each(lambdaNames)("have an environment with all variables of %s, in less than Lambda's 4 KB", (name) => {
    expect(Environment.parse(variablesOf(name))).toMatchObject({
      NOVA_TABLE: "Table",
      NOVA_BUCKET: "Bucket",
      NOVA_SIGNING_KMS_KEY: "SigningKey",
      NOVA_PROOF_KMS_KEYS: ["ProofKey"],
      NOVA_VAULT_KMS_KEY: "VaultKey",
      NOVA_EVENT_BUS: "nova",
      NOVA_FROZEN: true,
      NOVA_STATES_ROLE_ARN: "arn:aws:iam::123456789012:role/nova-machines-us-east-1",
      NOVA_STATES_LOG_GROUP_ARN: "MachineLogs.Arn",
    });
    expect(ServiceEnvironment.parse(variablesOf(name))).toMatchObject({
      NOVA_FUNCTION_ARN: "arn:aws:lambda:us-east-1:123456789012:function:{name}:live",
      NOVA_QUEUES: true,
      NOVA_SCHEDULE_GROUP: "nova",
      NOVA_SCHEDULE_ROLE_ARN: "arn:aws:iam::123456789012:role/nova-schedules-us-east-1",
      NOVA_UNDELIVERED_ARN: "Undelivered.Arn",
      NOVA_MAIL_DOMAINS: ["in.example.com"],
      NOVA_MAIL_FROM: "nova@in.example.com",
      NOVA_JWT_ISSUER: "https://login.example.com/",
    });
    expect(JSON.stringify(variablesOf(name)).length).toBeLessThan(3_000);
  });

  it("may send no mail if no mail address is configured", async () => {
    const personal = Object.values((await stacksOf("ada")).templates);
    const texts = (made: Template[]) => JSON.stringify(made.map((template) => template.toJSON()));
    expect(texts(templates)).toMatch(/ses:SendEmail/);
    expect(texts(personal)).not.toMatch(/ses:SendEmail|NOVA_MAIL_FROM/);
  });

  it("get the names of the parameters with keys, never the keys themselves, and only if they use these keys", () => {
    const e2b = ["E2B_API_KEY_PARAMETER", "/nova/production/E2B_API_KEY"];
    const openai = ["OPENAI_API_KEY_PARAMETER", "/nova/production/OPENAI_API_KEY"];
    const keys = lambdaNames.map((name) => [
      name,
      Object.entries(variablesOf(name)).filter(([variable]) => /API_KEY/.test(variable)),
    ]);
    expect(Object.fromEntries(keys)).toEqual({
      ...Object.fromEntries(lambdaNames.map((name) => [name, []])),
      "nova-run-node": [e2b, openai],
      "nova-settle-node": [e2b],
      "nova-close-execution": [e2b],
      "nova-request-approval": [e2b],
      "nova-execution-status": [e2b],
      "nova-sweep": [e2b],
      "nova-erase": [e2b],
      "nova-retain": [e2b],
      "nova-api": [e2b],
    });
  });

  it("are retried twice if their caller does not wait, and events that failed three times are kept in a queue", () => {
    const configured = templates.flatMap((one) => Object.values(one.findResources("AWS::Lambda::EventInvokeConfig")));
    expect(configured).toHaveLength(10);
    for (const template of templates.slice(0, 2)) {
      template.allResourcesProperties("AWS::Lambda::EventInvokeConfig", {
        MaximumRetryAttempts: 2,
        DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
      });
    }
  });

  it("share a role only if both erase contents in chains", () => {
    const roles = lambdaNames.map((name) => JSON.stringify(deployed.get(name)?.properties.Role));
    expect(roles[lambdaNames.indexOf("nova-retain")]).toBe(roles[lambdaNames.indexOf("nova-erase")]);
    expect(new Set(roles).size).toBe(lambdaNames.length - 1);
    templates[1]?.hasResourceProperties("AWS::IAM::Role", { RoleName: "nova-erase-us-east-1" });
  });
});
