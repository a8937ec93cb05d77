import { localFunctions } from "@nova/compiler";
import type { GenerationStore, PromptTask } from "@nova/engine";
import { resetServicePorts } from "@nova/functions";
import { createServicePorts } from "@nova/functions/api";
import type { RateStore } from "@nova/service";
import { createOutgoing } from "@nova/service/outgoing";
import { templateName, type Workflow } from "@nova/workflow";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { createPorts, logger } from "../../functions/app.ts";
import { ApiEnvironment, Environment, ServiceEnvironment } from "../../functions/environment.ts";
import { nodePipeline } from "../../functions/node-pipeline.ts";
import { apiAccess, provideCompiler } from "../../functions/service-app.ts";

const least = { NOVA_BUCKET: "bucket", NOVA_SIGNING_KEY: "00".repeat(32), NOVA_VAULT_KEY: "11".repeat(32) };

beforeAll(() => {
  resetServicePorts();
  process.env.AWS_REGION ??= "us-east-1";
});

describe("the ports of the service in a Lambda function", () => {
  it("name the functions of their own stage, which state machines call", () => {
    const arn = "arn:aws:lambda:eu-west-1:123456789012:function:prod-{name}:live";
    const { functions } = createServicePorts({ ...least, NOVA_FUNCTION_ARN: arn });
    expect(functions.runNode).toBe("arn:aws:lambda:eu-west-1:123456789012:function:prod-nova-run-node:live");
    expect(new Set(Object.values(functions)).size).toBe(4);
    expect(createServicePorts(least).functions).toEqual(localFunctions);
  });

  it("can send mail only if a sender address is configured", () => {
    expect(createServicePorts({ ...least, NOVA_MAIL_FROM: "nova@in.example.com" }).mailer).toBeDefined();
    expect(createServicePorts({ ...least, NOVA_MAIL_FROM: "" }).mailer).toBeUndefined();
    expect(createServicePorts(least).mailer).toBeUndefined();
  });

  it("get time stamps only from an authority that is configured with its address", () => {
    const stamperAt = (NOVA_TSA_URL: string) => createServicePorts({ ...least, NOVA_TSA_URL }).timeStamper;
    expect(stamperAt("https://tsa.example.com/rfc3161")).toBeDefined();
    expect(stamperAt("http://timestamp.example.com")).toBeDefined();
    expect(createServicePorts(least).timeStamper).toBeUndefined();
    for (const wrong of ["tsa.example.com", "ftp://tsa.example.com", "file:///etc/passwd"])
      expect(() => stamperAt(wrong)).toThrow("NOVA_TSA_URL is no address");
  });

  it("tell the compiler whether models are forbidden", async () => {
    const told: unknown[] = [];
    const compile = async (source: object) => {
      told.push(source);
      return { findings: [] };
    };
    provideCompiler({ compile, findLookedUpKeys: async () => null, checkCode: async () => [] });
    const source = { text: "{}", fileName: "workflow.json", files: {} };
    for (const NOVA_MODELS of ["on", "off"]) await createServicePorts({ ...least, NOVA_MODELS }).compile(source);
    expect(told).toEqual([source, { ...source, modelsOff: true }]);
    expect(() => createServicePorts({ ...least, NOVA_MODELS: "maybe" })).toThrow(/NOVA_MODELS/);
  });

  it("select the sandbox template that has the requirements of a workflow", async () => {
    const { templates } = createServicePorts({ ...least, E2B_TEMPLATE_ID: "base" });
    const asking = (requirements: string[]) => ({ requirements }) as Workflow;
    expect(await templates.of(asking([]))).toBe("base");
    expect(await templates.of(asking(["rich"]))).toBe(templateName(["rich"]));
  });
});

describe("the environment variables of the API", () => {
  it.each([
    [undefined, []],
    ["", []],
    ["*", ["*"]],
    ["https://a.example.com, https://b.example.com", ["https://a.example.com", "https://b.example.com"]],
  ])("with the allowed origins %j permit calls from %j", (NOVA_CORS_ORIGINS, origins) => {
    expect(ApiEnvironment.parse({ NOVA_CORS_ORIGINS }).NOVA_CORS_ORIGINS).toEqual(origins);
  });

  it("are refused if the ARN has no placeholder for the function name", () => {
    const NOVA_FUNCTION_ARN = "arn:aws:lambda:eu-west-1:123456789012:function:nova-run-node";
    expect(() => ServiceEnvironment.parse({ NOVA_FUNCTION_ARN })).toThrow(/NOVA_FUNCTION_ARN/);
  });
});

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

it("the API accepts only API keys and limits no rates by default", () => {
  expect(access({})).toEqual({});
});

it("the API limits the requests of each API key to the configured rate", async () => {
  const { rates } = access({ NOVA_RATE_PER_KEY: "20" });
  await rates?.take(by);
  await expect(rates?.take(by)).rejects.toThrow("this key has sent 20 requests in 10 seconds");
});

it("the API accepts tokens of the configured issuer", async () => {
  const { tokens } = access({ NOVA_JWT_ISSUER: "https://id.example.com" });
  expect(await tokens?.principalOf("a.b.c")).toBeNull();
});

it.each([{ NOVA_RATE_PER_KEY: "0" }, { NOVA_JWT_ISSUER: "id.example.com" }])(
  "the API refuses the environment variables %j",
  (variables) => {
    expect(() => access(variables)).toThrow(Object.keys(variables)[0]);
  },
);
const task = { id: "task_1", execution: "exec_1", node: "ask", choices: ["approved", "not now"] };

it.each([
  [undefined, "nova approve task_1 --choice approved|'not now'"],
  ["https://nova.example.com/tasks", "https://nova.example.com/tasks/task_1"],
  ["https://nova.example.com/tasks/", "https://nova.example.com/tasks/task_1"],
])("the link to a task in a message is, with %j as NOVA_LINK_BASE, %s", (NOVA_LINK_BASE, link) => {
  const { links } = createPorts({ ...least, NOVA_LINK_BASE });
  expect(links.toTask(task)).toBe(link);
});

it("the functions put events of executions on the bus and log them as objects, so that metrics can use their fields", async () => {
  const info = vi.spyOn(logger, "info").mockReturnValue(undefined);
  const { events, bus } = createPorts(least);
  const publish = vi.spyOn(bus, "publish").mockResolvedValue(undefined);
  const detail = { execution_id: "exec_1", cost_usd: 0.012 };
  await events.publish("execution.completed", detail);
  expect(info).toHaveBeenCalledExactlyOnceWith("execution.completed", { detail });
  expect(publish).toHaveBeenCalledExactlyOnceWith("execution.completed", detail);
});

describe("the environment variables of a Lambda function", () => {
  it("must include a bucket and a signing key, and have defaults for everything else", () => {
    expect(Environment.parse(least)).toMatchObject({ NOVA_TABLE: "nova", NOVA_S3_PATH_STYLE: false });
  });

  it("forbid the use of models by default", () => {
    expect(Environment.parse(least).NOVA_FROZEN).toBe(true);
    expect(Environment.parse({ ...least, NOVA_FROZEN: "0" }).NOVA_FROZEN).toBe(false);
  });

  it.each([
    ["no bucket", { ...least, NOVA_BUCKET: undefined }, /NOVA_BUCKET/],
    ["no signing key", { ...least, NOVA_SIGNING_KEY: undefined }, /NOVA_SIGNING_KMS_KEY .* or NOVA_SIGNING_KEY/],
    ["no vault key", { ...least, NOVA_VAULT_KEY: undefined }, /NOVA_VAULT_KMS_KEY .* or NOVA_VAULT_KEY/],
    ["a flag that is no flag", { ...least, NOVA_S3_PATH_STYLE: "perhaps" }, /NOVA_S3_PATH_STYLE/],
  ])("are refused with %s, and the error names the variable", (_what, variables, message) => {
    expect(() => Environment.parse(variables)).toThrow(message);
  });
});

const made = vi.hoisted(() => ({ pipelines: 0 }));

vi.mock("@nova/agents", () => ({
  frozenPipeline: (pipeline: object) => pipeline,
  modelFreePipeline: (pipeline: object) => pipeline,
  createModels: () => ({}),
  createPipeline: () => {
    made.pipelines += 1;
    return { pinned: async () => null, generation: async (_: unknown, key: string) => ({ generation: key, code: "" }) };
  },
}));

it("the pipeline that writes code is created once, at the first prompt node", async () => {
  const keys = { NOVA_SIGNING_KEY: "0".repeat(64), NOVA_VAULT_KEY: "0".repeat(64) };
  const pipeline = nodePipeline({ NOVA_TABLE: "t", NOVA_BUCKET: "b", ...keys }, {} as GenerationStore);
  expect(made.pipelines).toBe(0);
  const task = {} as PromptTask;
  const [pinned, found] = await Promise.all([pipeline.pinned(task), pipeline.generation(task, "key")]);
  expect({ pinned, found, ...made }).toEqual({ pinned: null, found: { generation: "key", code: "" }, pipelines: 1 });
});
