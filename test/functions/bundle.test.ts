// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LambdaName, lambdas } from "../../stacks/stacks.ts";
import { bytesIn } from "../support/bundle.ts";
import { carriedIn, deployedBundle } from "../support/deployed-bundle.ts";
import { httpEvent } from "../support/http-event.ts";
import { root } from "../support/imports.ts";
import { callInFreshProcess } from "../support/lambda-process.ts";
import { type ParameterStore, parameterStore } from "../support/parameter-store.ts";
import { type RefusingServer, refusingServer } from "../support/refusing-server.ts";

const megabyte = 1024 * 1024;
const names = Object.keys(lambdas) as LambdaName[];
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
  "nova-verify": {},
  "nova-prove": {},
  "nova-fire-trigger": { workflow: "hello", trigger: "schedule", scheduled_at: "2026-01-01T00:00:00Z" },
  "nova-receive-mail": { Records: [{ s3: { object: { key: "mail/1" } } }] },
  "nova-poll-mailbox": { workflow: "hello", trigger: "imap" },
  "nova-publish": { workflow: "hello", version: 1 },
  "nova-notify": { detail: { execution_id: execution.id } },
  "nova-erase": { client: "acme" },
  "nova-retain": {},
  "nova-api": httpEvent("GET /workflows", { authorization: `Bearer nova_${"0".repeat(26)}_${"a".repeat(43)}` }),
};

const filesBelow = (folder: string, as: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("__pycache__"))
    .map(({ parentPath, name }) => join(as, join(parentPath, name).slice(join(root, folder).length)));

/** The files in a bundle that are not code, by function. The bundles of other functions contain only code. */
const carried: Partial<Record<LambdaName, string[]>> = {
  "nova-run-node": [
    "functions/ruff_wasm_bg.wasm",
    ...filesBelow("packages/agents/src/knowledge/shelf", "functions/shelf"),
    ...filesBelow("packages/sandbox/python", "python"),
  ].toSorted(),
  "nova-sweep": filesBelow("packages/sandbox/python", "python").toSorted(),
  "nova-api": ["functions/api/ruff_wasm_bg.wasm", "functions/llms-full.txt", "functions/llms.txt"],
};

let aws: RefusingServer;
let parameters: ParameterStore;

beforeAll(async () => {
  [aws, parameters] = await Promise.all([refusingServer(), parameterStore({})]);
});
afterAll(async () => {
  await aws[Symbol.asyncDispose]();
  await parameters[Symbol.asyncDispose]();
});

describe.each(names)("the deployed Lambda function %s", { timeout: 60_000 }, (name) => {
  it("starts alone in its folder, reads its keys and reports a refused request", async () => {
    [aws.asked.length, parameters.asked.length] = [0, 0];
    const { file, variables } = await deployedBundle(name);
    expect(
      createRequire(file)
        .resolve.paths("any")
        ?.filter((path) => existsSync(path)),
    ).toEqual([]);
    const account = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
    const endpoints = { AWS_ENDPOINT_URL: aws.url, AWS_ENDPOINT_URL_SSM: parameters.url };
    const ended = await callInFreshProcess(file, events[name], { ...variables, ...account, ...endpoints });
    const refused = { error: { name: "AccessDeniedException", message: "You may not." } };
    expect(ended).toEqual(name === "nova-api" ? { answer: expect.objectContaining({ statusCode: 500 }) } : refused);
    expect(aws.asked[0]).toMatch(name === "nova-receive-mail" ? /^S3.GET$/ : /^DynamoDB_/);
    const keys = Object.entries(variables).filter(([variable]) => variable.endsWith("_API_KEY_PARAMETER"));
    expect(parameters.asked).toEqual(keys.map(([, parameter]) => parameter));
  });

  it("contains exactly the files that it reads", async () => {
    expect(carriedIn(await deployedBundle(name))).toEqual(carried[name] ?? []);
  });

  it("has less than 5 MB without the Python checker, or less than 6 MB if it is the API, which has tools for agents", async () => {
    const { folder } = await deployedBundle(name);
    const [all, checker] = [bytesIn(folder, "") / megabyte, bytesIn(folder, ".wasm") / megabyte];
    if (process.env.NOVA_BUNDLE_SIZES) process.stdout.write(`MB of ${name}: ${all}, of which the checker ${checker}\n`);
    expect(all - checker).toBeLessThan(name === "nova-api" ? 6 : 5);
    expect(checker).toBeLessThan(11);
  });

  it("does not load ruff or rarely used SDKs at its start", async () => {
    const { atStart } = (await deployedBundle(name)).modules;
    const seldom =
      /ruff-wasm|openai\/client|client-(ssm|sesv2|scheduler|eventbridge)|@aws-crypto|@modelcontextprotocol|packages\/mcp/;
    expect(atStart).toContain(`functions/${lambdas[name].file}.ts`);
    expect(atStart.filter((path) => seldom.test(path))).toEqual([]);
  });
});

describe("the bundles of all functions", { timeout: 60_000 }, () => {
  const everRead = () => Promise.all(names.map(async (name) => (await deployedBundle(name)).modules.ever));

  it.each([
    ["the Python checkers", /ruff-wasm|packages\/python/, ["nova-run-node", "nova-api"]],
    ["the compiler", /packages\/compiler/, ["nova-sweep", "nova-publish", "nova-api"]],
    ["the tools of agents", /packages\/mcp|@modelcontextprotocol/, ["nova-api"]],
    ["the harness", /sandbox\/src\/harness-file/, ["nova-run-node", "nova-sweep"]],
    ["clients and prompts of models", /node_modules\/openai|packages\/agents/, ["nova-run-node"]],
  ])("contain %s only for the functions that use it", async (_, pattern, users) => {
    const read = await everRead();
    expect(names.filter((_, place) => read[place]?.some((path) => pattern.test(path)))).toEqual(
      users.toSorted(byPlace),
    );
  });

  it("contain no modules that use their own file path, except the known modules", async () => {
    const modules = [...new Set((await everRead()).flat())].filter((path) => /\.[cm]?[jt]s$/.test(path));
    const looks = /import\.meta\.(url|dirname|filename)|__dirname|__filename/;
    const looking = modules.filter((path) => looks.test(readFileSync(join(root, path), "utf8")));
    expect(looking.toSorted()).toEqual([...findThem, ...ownAddress, ...uncalled].toSorted());
  });
});

const byPlace = (a: string, b: string) => names.indexOf(a as LambdaName) - names.indexOf(b as LambdaName);

const findThem = [
  "node_modules/@astral-sh/ruff-wasm-nodejs/ruff_wasm.js",
  "packages/agents/src/knowledge/shelf.ts",
  "packages/mcp/src/pages.ts",
  "packages/sandbox/src/harness-file.ts",
];
/** Modules that pass their own path to a worker thread, which runs the module. */
const ownAddress = ["agents/src/check", "compiler/src", "workflow/src/inputs"].map(
  (folder) => `packages/${folder}/worker.ts`,
);
/** Modules that no code calls, because the logger of the IMAP client is off. */
const uncalled = ["node_modules/pino/lib/transport.js", "node_modules/thread-stream/index.js"];
