import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Execution, readTrace, startExecution } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LambdaName, lambdas } from "../../stacks/lambdas.ts";
import { bundleHandlers, bytesIn, type ReadAtStart } from "../support/bundle.ts";
import { entryOf, inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";
import { httpEvent } from "../support/http-event.ts";
import { callInFreshProcess } from "../support/lambda-process.ts";
import { type Exchange, modelServer } from "../support/model-server/model-server.ts";
import { type RefusingServer, refusingServer } from "../support/refusing-server.ts";
import { stacksOf } from "../support/stacks.ts";

const megabyte = 1024 * 1024;
const files = Object.values(lambdas).map(({ file }) => file);
const execution = { id: "exec_01M807BBQY2N74A81YD8H8T9DS", workflowId: "hello", version: 1 };
const at = { execution, scope: "", seq: 0 };
const error = { Error: "NodeFailed", Cause: "" };

const events: Record<LambdaName, object> = {
  "nova-run-node": { ...at, node: "greet" },
  "nova-settle-node": { ...at, node: "greet", error },
  "nova-close-execution": { ...at, error },
  "nova-request-approval": { ...at, node: "ask", token: "token" },
  "nova-deliver-event": { source: "shop", "detail-type": "order" },
  "nova-execution-status": { detail: { name: execution.id } },
  "nova-sweep": {},
  "nova-fire-trigger": { workflow: "hello", trigger: "schedule", scheduled_at: "2026-01-01T00:00:00Z" },
  "nova-receive-mail": { Records: [{ s3: { object: { key: "mail/1" } } }] },
  "nova-poll-mailbox": { workflow: "hello", trigger: "imap" },
  "nova-publish": { workflow: "hello", version: 1 },
  "nova-notify": { detail: { execution_id: execution.id } },
  "nova-erase": { client: "acme" },
  "nova-retain": {},
  "nova-api": httpEvent("GET /workflows", { authorization: `Bearer nova_${"0".repeat(26)}_${"a".repeat(43)}` }),
};

let aws: RefusingServer;
const variables = () => ({
  NOVA_BUCKET: "bucket",
  NOVA_SIGNING_KMS_KEY: "signing",
  NOVA_VAULT_KMS_KEY: "vault",
  AWS_ENDPOINT_URL: aws.url,
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
});

beforeAll(async () => {
  aws = await refusingServer();
});
afterAll(() => aws[Symbol.asyncDispose]());

describe("a bundle", () => {
  const out = mkdtempSync(join(tmpdir(), "nova-bundles-"));
  let readAtStart: ReadAtStart;

  beforeAll(async () => {
    readAtStart = await bundleHandlers(files, out);
  });
  afterAll(() => rmSync(out, { recursive: true, force: true }));

  it.each(Object.entries(events))("of %s starts in a fresh process and says what was refused", async (name, event) => {
    aws.asked.length = 0;
    const file = join(out, `functions/${lambdas[name as LambdaName].file}.mjs`);
    const refused = { error: { name: "AccessDeniedException", message: "You may not." } };
    const ended = await callInFreshProcess(file, event, variables());
    expect(ended).toEqual(name === "nova-api" ? { answer: expect.objectContaining({ statusCode: 500 }) } : refused);
    expect(aws.asked[0]).toMatch(name === "nova-receive-mail" ? /^S3.GET$/ : /^DynamoDB_/);
  });

  it.each(files)(
    "of %s reads neither ruff nor SDKs of models, encryption and notices before they are needed",
    (file) => {
      const inputs = readAtStart[file] ?? [];
      expect(inputs).toContain(`functions/${file}.ts`);
      expect(
        inputs.filter((path) =>
          /ruff_wasm|openai\/client|client-(ssm|sesv2|scheduler|eventbridge)|@aws-crypto/.test(path),
        ),
      ).toEqual([]);
    },
  );
});

describe("what SST bundles for nova-run-node", () => {
  let folder: string;
  const handler = () => join(folder, "functions/run-node.mjs");

  beforeAll(async () => {
    folder = await (await stacksOf("production")).bundle("nova-run-node");
  });

  it("has less than 3 MB of code", () => {
    const [code, ruff, all] = [".mjs", ".wasm", ""].map((ending) => bytesIn(folder, ending) / megabyte) as number[];
    if (process.env.NOVA_BUNDLE_SIZES) process.stdout.write(`MB: code ${code}, ruff ${ruff}, all ${all}\n`);
    expect(code).toBeLessThan(3);
    expect(ruff).toBeLessThan(11);
    expect(all).toBeLessThan(15);
  });

  it.each(["python/bundle.py", "python/nova_harness/cell.py", "functions/shelf/guides", "functions/ruff_wasm_bg.wasm"])(
    "has %s where the code looks for it",
    (file) => expect(existsSync(join(folder, file))).toBe(true),
  );

  it("asks Systems Manager for its keys first where it is told their names", async () => {
    aws.asked.length = 0;
    const named = { ...variables(), E2B_API_KEY_PARAMETER: "/nova/production/E2B_API_KEY" };
    const ended = await callInFreshProcess(handler(), events["nova-run-node"], named);
    expect(ended).toMatchObject({ error: { name: "AccessDeniedException" } });
    expect(aws.asked).toEqual(["AmazonSSM.GetParameters"]);
  });

  describe("on a cloud that lets it in", () => {
    const good = 'context["discount"] = context["total"] * 0.1';
    const script: Exchange[] = [
      { expect: { role: "input_analyzer" }, answer: { json: { needs_analysis: false, complexity: "simple" } } },
      {
        expect: { role: "code_generator" },
        answer: {
          calls: [{ name: "search_documentation", arguments: { library: "pymupdf", query: "text of a page" } }],
        },
      },
      {
        expect: { role: "code_generator", says: ["get_text"] },
        answer: { json: { code: "context['discount'] = totl" } },
      },
      { expect: { role: "code_generator", says: ["totl"] }, answer: { json: { code: good } } },
      { expect: { role: "output_validator" }, answer: { json: { valid: true, reason: "10 % of the total" } } },
    ];
    let cloud: TestCloud;

    beforeAll(async () => {
      cloud = await openTestCloud();
    });
    afterAll(() => cloud.close());

    /** Started as far as a deployed run is when its first node begins; the state machine stays out of it. */
    async function begin(workflow: object, context: string): Promise<Execution> {
      const version = await cloud.publish(workflow);
      const stateMachines = { ...cloud.ports.stateMachines, start: async () => undefined };
      return startExecution({ ...cloud.ports, stateMachines }, { version, context });
    }

    it("writes, checks and runs a node with the files beside it alone", async () => {
      await using models = await modelServer(script);
      const { id } = await begin(
        inARow("discount", { work: { executor: "prompt", prompt: "Set discount to 10 % of total." } }),
        '{"total": 50}',
      );
      const event = { execution: { id, workflowId: "discount", version: 1 }, scope: "", seq: 0, node: "work" };
      const ended = await callInFreshProcess(handler(), event, {
        ...process.env,
        ...models.environment,
        NOVA_DOCSTRINGS: "",
        NOVA_FROZEN: "false",
      });
      expect(ended).toMatchObject({ answer: { scope: "", seq: 1 } });
      const entry = entryOf(await readTrace(cloud.ports, id, { full: true }));
      expect(entry).toMatchObject({ status: "success", code_executed: good });
    });
  });
});
