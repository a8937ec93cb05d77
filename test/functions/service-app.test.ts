import { localFunctions } from "@nova/compiler";
import { resetServicePorts } from "@nova/functions";
import { createServicePorts } from "@nova/functions/api";
import { templateName, type Workflow } from "@nova/workflow";
import { beforeAll, describe, expect, it } from "vitest";
import { ApiEnvironment, ServiceEnvironment } from "../../functions/environment.ts";
import { provideCompiler } from "../../functions/service-app.ts";

const least = { NOVA_BUCKET: "bucket", NOVA_SIGNING_KEY: "00".repeat(32), NOVA_VAULT_KEY: "11".repeat(32) };

beforeAll(() => {
  resetServicePorts();
  process.env.AWS_REGION ??= "us-east-1";
});

describe("the ports of the service", () => {
  it("name the functions of the stage in state machines", () => {
    const arn = "arn:aws:lambda:eu-west-1:123456789012:function:prod-{name}:live";
    const { functions } = createServicePorts({ ...least, NOVA_FUNCTION_ARN: arn });
    expect(functions.runNode).toBe("arn:aws:lambda:eu-west-1:123456789012:function:prod-nova-run-node:live");
    expect(new Set(Object.values(functions)).size).toBe(4);
    expect(createServicePorts(least).functions).toEqual(localFunctions);
  });

  it("send mail only with a sender address", () => {
    expect(createServicePorts({ ...least, NOVA_MAIL_FROM: "nova@in.example.com" }).mailer).toBeDefined();
    expect(createServicePorts({ ...least, NOVA_MAIL_FROM: "" }).mailer).toBeUndefined();
    expect(createServicePorts(least).mailer).toBeUndefined();
  });

  it("tell the compiler whether models are forbidden", async () => {
    const told: unknown[] = [];
    const compile = async (source: object) => {
      told.push(source);
      return { findings: [] };
    };
    provideCompiler({ compile, findLookedUpKeys: async () => null });
    const source = { text: "{}", fileName: "workflow.json", files: {} };
    for (const NOVA_MODELS of ["on", "off"]) await createServicePorts({ ...least, NOVA_MODELS }).compile(source);
    expect(told).toEqual([source, { ...source, modelsOff: true }]);
    expect(() => createServicePorts({ ...least, NOVA_MODELS: "maybe" })).toThrow(/NOVA_MODELS/);
  });

  it("select a sandbox template by requirements", async () => {
    const { templates } = createServicePorts({ ...least, E2B_TEMPLATE_ID: "base" });
    const asking = (requirements: string[]) => ({ requirements }) as Workflow;
    expect(await templates.of(asking([]))).toBe("base");
    expect(await templates.of(asking(["rich"]))).toBe(templateName(["rich"]));
  });
});

describe("the environment of the API", () => {
  it.each([
    [undefined, []],
    ["", []],
    ["*", ["*"]],
    ["https://a.example.com, https://b.example.com", ["https://a.example.com", "https://b.example.com"]],
  ])("with the origins %j permits calls from %j", (NOVA_CORS_ORIGINS, origins) => {
    expect(ApiEnvironment.parse({ NOVA_CORS_ORIGINS }).NOVA_CORS_ORIGINS).toEqual(origins);
  });

  it("refuses an ARN without a placeholder for the function name", () => {
    const NOVA_FUNCTION_ARN = "arn:aws:lambda:eu-west-1:123456789012:function:nova-run-node";
    expect(() => ServiceEnvironment.parse({ NOVA_FUNCTION_ARN })).toThrow(/NOVA_FUNCTION_ARN/);
  });
});
