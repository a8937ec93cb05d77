import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refuseMisfits } from "../../packages/engine/src/kinds/start/start.ts";
import { parseWorkflow, readWorkflowSource } from "../../packages/workflow/src/index.ts";

const examples = join(import.meta.dirname, "../../packages/examples");

async function parse(name: string) {
  return parseWorkflow(await readWorkflowSource(join(examples, name)));
}

test.each(["invoice", "approval", "batch", "read-email", "chain", "invoice-text"])(
  "the example %s is a workflow without findings",
  async (name) => {
    const { workflow, findings } = await parse(name);
    expect(findings).toEqual([]);
    expect(workflow?.id).toBe(name);
  },
);

test.each([
  ["batch", "lib", "approval"],
  ["invoice-text", "lib", "approval"],
  ["invoice-ai", "lib", "invoice"],
  ["invoice-ai", "nodes", "invoice"],
])("the example %s has the same Python files in its folder %s as the example %s", async (name, folder, first) => {
  const names = (await readdir(join(examples, name, folder))).filter((file) => file.endsWith(".py"));
  expect(names).not.toEqual([]);
  for (const file of names) {
    const [one, other] = [first, name].map((each) => readFile(join(examples, each, folder, file), "utf8"));
    expect(await other, file).toBe(await one);
  }
});

test("the TypeScript program of nova init makes the same workflow as the template hello", async () => {
  const [graph, program] = await Promise.all(
    ["templates/hello/workflow.json", "cli/starter-typescript/workflow.ts"].map(async (name) =>
      JSON.parse((await readWorkflowSource(join(examples, "..", name))).text),
    ),
  );
  expect(program).toEqual(graph);
});

test("the example invoice describes every node, and declares effects for the nodes that send mail", async () => {
  const { workflow } = await parse("invoice");
  expect(workflow?.nodes.filter((node) => !node.description)).toEqual([]);
  const sending = workflow?.nodes.filter((node) => "effects" in node && node.effects).map((node) => node.id);
  expect(sending).toEqual(["notify_high", "notify_low", "send_rejection"]);
});

test("the example invoice can be started with a mail from its trigger, or with a mail as a file", async () => {
  const { workflow } = await parse("invoice");
  if (!workflow) throw new TypeError("invoice is no workflow");
  await refuseMisfits(workflow, '{"smtp_port":2525}', ["mail"]);
  await refuseMisfits(workflow, '{"email":{}}', []);
  await expect(refuseMisfits(workflow, "{}", [])).rejects.toThrow(/has no "email"/);
});

test.each([
  ["invoice", ["layout", "mail", "notices", "pdf", "totals"]],
  ["batch", ["decimal", "email", "invoice_text"]],
])("the example %s has in its folder lib every module that its nodes import", async (name, expected) => {
  const { workflow } = await parse(name);
  const nodes = workflow?.nodes.flatMap((node) => (node.type === "map" ? node.body.nodes : [node]));
  const code = nodes?.flatMap((node) => ("executor" in node && "code" in node.executor ? node.executor.code : []));
  const imported = new Set(
    code?.flatMap((text) => [...text.matchAll(/^from (\w+) import/gm)].map((match) => match[1])),
  );
  expect([...imported].sort()).toEqual(expected);
  const modules = Object.keys(workflow?.lib ?? {}).map((path) => path.replace(/^lib\/|\.py$/g, ""));
  expect([...modules, "decimal", "email"]).toEqual(expect.arrayContaining([...imported]));
});
