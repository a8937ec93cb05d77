import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseWorkflow, readWorkflowSource } from "@nova/workflow";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compileParsed } from "../../packages/compiler/src/compile-workflow.ts";
import { sha256 } from "../../packages/engine/src/sha256.ts";
import { entryOf, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { root } from "../support/imports.ts";
import {
  type ModelAction,
  type ModelRequest,
  type ModelServer,
  modelServer,
} from "../support/model-server/model-server.ts";

let cloud: TestCloud;
let server: ModelServer;
let answer: (request: ModelRequest) => ModelAction;

beforeAll(async () => {
  server = await modelServer((request) => answer(request));
  Object.assign(process.env, server.environment);
  cloud = await openTestCloud();
});
afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(server.environment)) delete process.env[name];
  await server[Symbol.asyncDispose]();
});

const folder = (name: string) => join(root, "packages/examples", name);

it.each(["chain", "invoice-text"])(
  "the compiler finds no mistake in the context keys and references of the example %s",
  async (name) => {
    const { findings } = await compileParsed(parseWorkflow(await readWorkflowSource(folder(name))));
    expect(findings).toEqual([]);
  },
);

it("the example chain writes an article in four prompts, each of which gets the results of the earlier prompts", async () => {
  const sections = [
    { title: "Springs", about: "where rivers begin" },
    { title: "Deltas", about: "where they end" },
  ];
  answer = ({ input }) => {
    if (input.startsWith("Write a brief")) return { text: "Tell children of rivers." };
    if (input.startsWith("Outline")) return { json: { sections } };
    const [, title] = /^Write the section "(\w+)"/.exec(input) ?? [];
    return title ? { text: `${title} are wet.` } : { text: "# Rivers" };
  };
  const trace = await cloud.run(await cloud.publish(folder("chain")), '{"topic":"rivers"}');
  expect(trace.execution.status).toBe("completed");
  const asked = server.requests.map(({ input }) => input);
  expect(asked[0]).toContain("Readers: [CONTEXT_ERROR: Content for 'readers' not found in provided context_data]");
  expect(asked[1]).toContain("The brief:\nTell children of rivers.");
  expect(asked.slice(2, 4).sort()).toEqual(
    sections
      .map(({ title, about }) =>
        expect.stringContaining(`"${title}" of an article, at most 200 words. It is about this: ${about}`),
      )
      .toReversed(),
  );
  expect(asked[4]).toContain('[{"text":"Springs are wet."},{"text":"Deltas are wet."}]');
  expect(JSON.parse(trace.context.text)).toMatchObject({ article: "# Rivers" });
  expect(entryOf(trace, "edit").ai_metadata).toMatchObject({ references: [{ node: "outline" }, { node: "sections" }] });
  expect(await verified(cloud, trace)).toBe("anchored");
});

it.each([
  ["pay", { outcome: "paid", payment: { total: 1338.75, currency: "EUR" } }],
  ["ask", { outcome: "asked", question: "Dear Nordic Desk Company, ..." }],
  ["default", { outcome: "put aside" }],
])(
  "the example invoice-text takes the edge that a model chooses for an invoice: %s",
  async (branch_decision, context) => {
    answer = ({ answer }) =>
      answer === "decision" ? { json: { branch_decision } } : { text: "Dear Nordic Desk Company, ..." };
    const bytes = await readFile(join(folder("approval"), "invoices/desks.txt"));
    const open = async function* () {
      yield bytes;
    };
    const files = [{ key: "invoice", sha256: sha256(bytes), bytes: bytes.length, open }];
    const trace = await cloud.run(await cloud.publish(folder("invoice-text")), "{}", files);
    expect(trace.execution.status).toBe("completed");
    expect(JSON.parse(trace.context.text)).toMatchObject(context);
    expect(server.requests.find(({ answer }) => answer === "decision")?.input).toContain("Nordic Desk Company");
  },
);
