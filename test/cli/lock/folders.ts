import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { currentGenerator, generationKey, ingredientsOf } from "@nova/agents";
import { type Generation, type Member, membersOf } from "@nova/engine";
import { codeFileText, codeHashOf, hashOf, type LockedCode, lockText } from "@nova/workflow";
import { afterEach } from "vitest";
import { type LockFolder, type PromptNode, readLockFolder } from "../../../packages/cli/src/lock/folder.ts";
import { inARow } from "../../support/cloud.ts";

export const code = 'context["total"] = sum(context["lines"])';
export const approved = { by: "ada", at: "2026-11-22T11:00:00.000Z" };
export const cost = { usd: 0.002, tokens_input: 900, tokens_cached: 400, tokens_output: 100 };

const folders: string[] = [];
afterEach(() => Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true }))));

export const sum = { executor: "prompt", prompt: "Add up the lines." };
export const send = { executor: "prompt", prompt: "Send the total.", effects: true };

/** Makes a folder with a workflow of prompt nodes in a row, and with other files. */
export async function makeFolder(
  nodes: Record<string, object> = { sum },
  { workflow = {}, files = {} }: { workflow?: object; files?: Record<string, string> } = {},
): Promise<LockFolder> {
  const folder = await mkdtemp(join(tmpdir(), "nova-lock-"));
  folders.push(folder);
  const definition = JSON.stringify(inARow("bills", nodes, workflow), withDefault);
  await writeFiles(folder, { "workflow.json": definition, ...files });
  return readLockFolder(folder);
}

/** A replacer for JSON.stringify. It gives every edge of a decision the condition `default`. */
function withDefault(this: { nodes?: { id: string; type: string }[] }, key: string, value: unknown): unknown {
  if (key !== "edges" || !Array.isArray(value)) return value;
  const decisions = (this.nodes ?? []).filter(({ type }) => type === "decision").map(({ id }) => id);
  return value.map((edge) => (decisions.includes(edge.from) ? { ...edge, condition: "default" } : edge));
}

export async function writeFiles(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

export function promptOf({ prompts }: LockFolder, id = "sum"): PromptNode {
  const found = prompts.find(({ node }) => node.id === id);
  if (!found) throw new RangeError(`the folder has no prompt node "${id}"`);
  return found;
}

/** The context at the time when the code was written. */
export const input: Member[] = membersOf('{"lines": [1, 2]}');

export const reads = [{ path: "lines", optional: false }];

/** Returns code that was written for this prompt node of the folder. */
export function generationOf(prompt: PromptNode, fields: Partial<Generation> = {}): Generation {
  const ingredients = ingredientsOf({ ...prompt, input }, currentGenerator, { reads, guides: ["money"] });
  return {
    format: 1,
    workflowId: "bills",
    node: prompt.node.id,
    client: null,
    status: "pinned",
    origin: "generated",
    key: generationKey(ingredients),
    ingredients,
    model: "gpt-6-luna",
    cost,
    provenBy: "exec_01",
    code: fields.code ?? code,
    codeHash: hashOfBoth(fields),
    createdAt: "2026-11-22T10:00:00.000Z",
    ...fields,
  } as Generation;
}

function hashOfBoth({ code: own = code, analysis }: Partial<Generation>): string {
  return codeHashOf({ code: own, ...(analysis !== undefined && { analysis }) });
}

export const analysis = 'result = {"sum": sum(context["lines"])}';

/** Fields of code that needs an analysis. */
export const twoStages = {
  code: 'context["total"] = context["_data_analysis"]["sum"]',
  analysis,
  analysisHash: hashOf(analysis),
};

export function lockedOf(prompt: PromptNode, fields: Partial<Generation> = {}): LockedCode {
  const { analysis, analysisHash } = fields;
  const look = { ...(analysis !== undefined && { analysis }), ...(analysisHash !== undefined && { analysisHash }) };
  const { key, ingredients, code, codeHash, origin, model, cost, createdAt, provenBy, approved } = generationOf(
    prompt,
    fields,
  );
  const proof = { ...(provenBy !== undefined && { provenBy }), ...(approved && { approved }) };
  return { key, ingredients, code, codeHash, ...look, origin, model, cost, createdAt, ...proof };
}

/** Locks the code as `nova lock` does, and reads the folder again. */
export async function locking(folder: LockFolder, locked: Record<string, LockedCode>): Promise<LockFolder> {
  const codes = Object.entries(locked).flatMap(([node, { code, analysis }]) => [
    [`generated/${node}.py`, codeFileText(code)] as const,
    ...(analysis === undefined ? [] : [[`generated/${node}.analysis.py`, codeFileText(analysis)] as const]),
  ]);
  await writeFiles(folder.folder, { ...Object.fromEntries(codes), "workflow.lock.json": lockText(locked) });
  return readLockFolder(folder.folder);
}
