import { ApiProblem, type NovaClient, type Session } from "@nova/client";
import { RawJson } from "@nova/engine";
import { templateNames, templates } from "@nova/templates";
import { parseKeepingDigits, type Workflow, writeTriggers, writeWorkflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { z } from "zod";
import { Draft, Finding, hasErrors, listFindings, Next, reads, tool, WorkflowId } from "../tool.ts";

const maxListed = 50;

export const find = tool({
  name: "find",
  description: "Find workflows, drafts and examples by a part of their name.",
  input: z.object({ query: z.string().optional().describe("absent: all") }),
  output: z.object({
    workflows: z.array(
      z.object({ id: z.string(), name: z.string(), version: z.number(), active: z.number().nullable() }),
    ),
    drafts: z.array(z.object({ draft: z.string(), name: z.string() })).describe("needs the role editor"),
    examples: z.array(z.object({ name: z.string(), description: z.string() })),
    more: z.boolean().describe("there are more: use a query"),
  }),
  hints: reads,
  async call({ query = "" }, { nova }) {
    const wanted = query.toLowerCase();
    const fits = (...texts: string[]) => texts.some((text) => text.toLowerCase().includes(wanted));
    const workflows = await firstFitting(nova.workflows.list(), ({ id, name }) => fits(id, name));
    const drafts = await firstFitting(nova.sessions.list(), ({ session_id, name }) => fits(session_id, name)).catch(
      emptyIfForbidden,
    );
    const examples = Object.values(templates).filter(({ name, description }) => fits(name, description));
    return {
      result: {
        workflows: workflows.items.map(({ id, name, version, active_version }) => {
          return { id, name, version, active: active_version };
        }),
        drafts: drafts.items.map(({ session_id, name }) => ({ draft: session_id, name })),
        examples: examples.map(({ name, description }) => ({ name, description })),
        more: workflows.more || drafts.more,
      },
    };
  },
});

/** The largest number of items of a list that one search reads and compares with the query. */
const maxLooked = 1_000;

async function firstFitting<T>(list: AsyncIterable<T>, fits: (item: T) => boolean) {
  const items: T[] = [];
  let looked = 0;
  for await (const item of list) {
    if (items.length >= maxListed || looked++ >= maxLooked) return { items, more: true };
    if (fits(item)) items.push(item);
  }
  return { items, more: false };
}

function emptyIfForbidden(cause: unknown): { items: never[]; more: boolean } {
  if (cause instanceof ApiProblem && cause.status === 403) return { items: [], more: false };
  throw cause;
}

interface ReadWorkflow {
  name: string;
  version: number;
  /** The definition as JSON, without the texts of its files. */
  text: string;
  files: Readonly<Record<string, string>>;
}

/** Reads a version of a workflow in the form in which people write it. */
export async function readPublished(nova: NovaClient, id: string, version?: number): Promise<ReadWorkflow> {
  const { definition, name, version: number } = await nova.workflows.get(id, defined({ version }));
  const workflow = parseKeepingDigits((definition as unknown as RawJson).text) as Workflow;
  const { text, files = {} } = writeWorkflow(workflow);
  const { nodes, edges, ...settings } = parseKeepingDigits(text) as Record<string, unknown>;
  const whole = { ...settings, ...writeTriggers(workflow), nodes, edges };
  return { name, version: number, text: JSON.stringify(whole, null, 1), files };
}

/** Returns the definition of a draft as one JSON text, with code and prompts inside. */
export function draftText({ settings, nodes, edges }: Session): string {
  return JSON.stringify({ ...settings, nodes: nodes.map(({ definition }) => definition), edges }, null, 1);
}

const Named = z.object({
  workflow: WorkflowId.optional(),
  version: z.number().optional().describe("absent: the latest"),
  draft: Draft.optional(),
  example: z.enum(templateNames).optional(),
  node: z.string().optional().describe("only this node"),
});

export const read = tool({
  name: "read",
  description: "Read a workflow, a draft or an example, or one node of it. Give one of the three.",
  input: Named,
  output: z.object({
    id: z.string(),
    name: z.string(),
    version: z.number().nullable(),
    revision: z.number().nullable().describe("of a draft: give it to edit"),
    definition: z.string().nullable().describe("JSON text; null: too large, read its resource"),
    files: z.record(z.string(), z.string()).describe("code and prompts by path"),
  }),
  hints: reads,
  async call(asked, { nova }) {
    const found = await readOne(nova, asked);
    const { text: definition, files } = asked.node === undefined ? found : pickNode(found, asked.node);
    return { result: { ...found.about, definition, files }, whole: [{ uri: found.uri, name: "the definition" }] };
  },
});

interface Found extends Pick<ReadWorkflow, "text" | "files"> {
  about: { id: string; name: string; version: number | null; revision: number | null };
  uri: string;
}

async function readOne(
  nova: NovaClient,
  { workflow, version, draft, example }: z.output<typeof Named>,
): Promise<Found> {
  if ([workflow, draft, example].filter((one) => one !== undefined).length !== 1)
    throw new RangeError("give exactly one of workflow, draft and example");
  if (draft !== undefined) {
    const session = await nova.sessions.get(draft);
    const about = { id: draft, name: session.name, version: null, revision: session.revision };
    return { about, uri: `nova://drafts/${draft}`, text: draftText(session), files: {} };
  }
  if (example !== undefined) {
    const { title, files } = templates[example];
    const { "workflow.json": text = "{}", ...others } = files;
    const about = { id: example, name: title, version: null, revision: null };
    return { about, uri: `nova://examples/${example}`, text, files: filesOfDefinition(others) };
  }
  const found = await readPublished(nova, workflow as string, version);
  const about = { id: workflow as string, name: found.name, version: found.version, revision: null };
  return { about, uri: `nova://workflows/${workflow}/${found.version}`, text: found.text, files: found.files };
}

/** Returns the files of an example that its definition may name. */
export function filesOfDefinition(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).filter(([path]) => /^(nodes|lib|prompts)\//.test(path)));
}

/** Returns only one node of a definition, and the files that the node names. */
function pickNode({ text, files }: Found, id: string): Pick<Found, "text" | "files"> {
  const all = nodesIn(parseKeepingDigits(text) as Written);
  const node = all.find((one) => one.id === id);
  if (!node) throw new RangeError(`there is no node "${id}" - it has ${all.map((one) => one.id).join(", ")}`);
  const named = [node.codeFile, node.promptFile].filter((path) => typeof path === "string");
  return {
    text: JSON.stringify(node, null, 1),
    files: Object.fromEntries(named.map((path) => [path, files[path] ?? ""])),
  };
}

type Written = { id?: unknown; nodes?: unknown } & Record<string, unknown>;

/** Returns all nodes of a definition, also those in the bodies of maps. */
function nodesIn({ nodes }: Written): Written[] {
  if (!Array.isArray(nodes)) return [];
  return (nodes as Written[]).flatMap((node) => [node, ...nodesIn(node)]);
}

const Checked = z.object({
  draft: Draft.optional(),
  workflow: WorkflowId.optional(),
  definition: z.string().optional().describe("JSON text of a workflow.json"),
  files: z.record(z.string(), z.string()).optional().describe("texts of the files that the definition names"),
});

export const validate = tool({
  name: "validate",
  description: "Find the mistakes in a draft, a published workflow, or a definition that you send.",
  input: Checked,
  output: z.object({ valid: z.boolean(), findings: z.array(Finding), next: Next }),
  hints: reads,
  async call(asked, { nova }) {
    const found = await findMistakes(nova, asked);
    const valid = !hasErrors(found);
    const next = valid
      ? "run it, or publish the draft"
      : "correct the errors with edit; nova://docs/findings explains them";
    return { result: { valid, findings: listFindings(found), next } };
  },
});

async function findMistakes(
  nova: NovaClient,
  { draft, workflow, definition, files }: z.output<typeof Checked>,
): Promise<Finding[]> {
  if (draft !== undefined) return (await nova.sessions.edit(draft, { operations: [] })).findings;
  if (workflow !== undefined) return (await nova.workflows.findings(workflow)).findings;
  if (definition === undefined) throw new RangeError("give a draft, a workflow or a definition");
  const body = files === undefined ? new RawJson(definition) : { definition: new RawJson(definition), files };
  return (await nova.workflows.validate(body)).findings;
}
