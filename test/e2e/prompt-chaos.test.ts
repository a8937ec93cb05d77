// @module-tag deep
import { afterAll, beforeAll, expect, it } from "vitest";
import { entryOf, inARow, openChaoticCloud, type TestCloud, verified } from "../support/cloud.ts";
import { type CountingServer, countingServer } from "../support/counting-server.ts";
import { answering } from "../support/model-answers.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";

let cloud: TestCloud;
let server: ModelServer;
let outside: CountingServer;

/** Code that reports each start to the counting server. The path of the request has its idempotency key. */
const begin = `import os, urllib.request\nurllib.request.urlopen(f"{context['url']}/{os.environ['NOVA_IDEMPOTENCY_KEY']}")\n`;
const broken = `${begin}context["total"] = sum(context["lines"]) / 0`;
const good = `${begin}context["total"] = sum(context["lines"])`;

beforeAll(async () => {
  server = await modelServer((request) => answering({ code: [broken, good] }, request));
  Object.assign(process.env, server.environment);
  [cloud, outside] = await Promise.all([openChaoticCloud(7), countingServer()]);
});
afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(server.environment)) delete process.env[name];
  await Promise.all([server[Symbol.asyncDispose](), outside[Symbol.asyncDispose]()]);
});

it.each([1, 2, 3, 4])(
  "a prompt node has the same result even if Lambdas die, and runs each piece of code once (run %i)",
  async (n) => {
    const asked = {
      executor: "prompt",
      prompt: `Add up the lines, time ${n}.`,
      network: { allow: [new URL(outside.url).host] },
    };
    const version = await cloud.publish(inARow(`chaos-${n}`, { work: asked, after: 'context["done"] = True' }));
    const trace = await cloud.run(version, JSON.stringify({ lines: [1, 2], url: outside.url }));
    expect(trace.execution).toMatchObject({ status: "completed" });
    expect(JSON.parse(trace.context.text)).toMatchObject({ total: 3, done: true });
    expect(entryOf(trace).ai_metadata).toMatchObject({ attempts: 2, generated_code: good });
    expect(new Set(Object.values(outside.counts()))).toEqual(new Set([1]));
    expect(await verified(cloud, trace)).toBe("anchored");
  },
  60_000,
);
