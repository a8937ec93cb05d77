import type { Schemas } from "@nova/client";
import { asList, asRecord } from "../../parts/graph/definition.ts";

type Generation = Schemas["Generation"];

/** Code of a node, from the store or from the workflow's lock file. */
export interface CodeVersion extends Omit<Generation, "status"> {
  status: Generation["status"] | "locked";
  /**
   * The ingredients in the definition that have changed since the model wrote the code; undefined if the node no longer
   * exists.
   */
  changes: Change[] | undefined;
}

export const codeStates = ["waits", "stale", "candidate", "runs", "replaced"] as const;
export type CodeState = (typeof codeStates)[number];

/** A prompt node with the versions of its code, for all clients or for one client. */
export type CodeNode = ReturnType<typeof createCodeNode>;

interface CodeSource {
  workflow: string;
  definition: unknown;
  generations: readonly Generation[];
}

/**
 * Builds the prompt nodes of a workflow with all versions of their code. Locked code comes before stored code; in each
 * group the newest code comes first.
 */
export async function buildCodeNodes(
  { workflow, definition, generations }: CodeSource,
  digest: (text: string) => Promise<string> = hashText,
): Promise<CodeNode[]> {
  const versions = await Promise.all(
    [...listLockedCode(definition), ...generations].map(async (one): Promise<CodeVersion> => {
      const today = readIngredients(definition, one.node);
      return { ...one, changes: today && (await findChanges(one.ingredients, today, digest)) };
    }),
  );
  const groups = Map.groupBy(versions, ({ node, client_slug }) => `${workflow}/${node}/${client_slug ?? ""}`);
  const needsApproval = asRecord(definition).approval === "required";
  return Array.from(groups, ([key, unsorted]) =>
    createCodeNode(key, workflow, unsorted.sort(compareVersions), needsApproval),
  );
}

function createCodeNode(key: string, workflow: string, versions: CodeVersion[], needsApproval: boolean) {
  /**
   * The version that runs or waits for approval. If there is none, the newest version that is not replaced, or else the
   * first.
   */
  const current =
    versions.find((one) => isCurrent(one, needsApproval)) ??
    versions.find(({ status }) => status !== "replaced") ??
    (versions[0] as CodeVersion);
  const { node, client_slug: client } = current;
  return { key, workflow, node, client, state: classifyVersion(current, needsApproval), current, versions };
}

/** Returns whether a version runs for the current definition, or will run after approval. */
function isCurrent({ status, changes, approved }: CodeVersion, needsApproval: boolean): boolean {
  if (status === "replaced" || changes?.length !== 0) return false;
  return status !== "candidate" || (needsApproval && approved === null);
}

function classifyVersion({ status, changes, approved }: CodeVersion, needsApproval: boolean): CodeState {
  if (status === "replaced") return "replaced";
  if (changes?.length !== 0) return "stale";
  if (needsApproval && approved === null) return "waits";
  return status === "candidate" ? "candidate" : "runs";
}

const rank: Record<CodeVersion["status"], number> = { locked: 0, pinned: 1, candidate: 1, replaced: 1 };

function compareVersions(a: CodeVersion, b: CodeVersion): number {
  return rank[a.status] - rank[b.status] || (a.created_at < b.created_at ? 1 : -1);
}

export function compareCodeNodes(a: CodeNode, b: CodeNode): number {
  return codeStates.indexOf(a.state) - codeStates.indexOf(b.state) || a.key.localeCompare(b.key);
}

/**
 * Lists the code of the lock file, which the definition contains as `lock`. The members of this code have other names
 * there than in the store.
 */
function listLockedCode(definition: unknown): (Omit<Generation, "status"> & { status: "locked" })[] {
  return Object.entries(asRecord(asRecord(definition).lock)).map(([node, value]) => {
    const locked = asRecord(value);
    const { usd = 0, tokens_input = 0, tokens_cached = 0, tokens_output = 0 } = asRecord(locked.cost) as Costs;
    const { by, at } = asRecord(locked.approved);
    return {
      node,
      client_slug: null,
      status: "locked",
      key: String(locked.key),
      ingredients: asRecord(locked.ingredients),
      code: String(locked.code),
      code_hash: String(locked.codeHash),
      analysis: toText(locked.analysis),
      analysis_hash: toText(locked.analysisHash),
      origin: locked.origin === "edited" ? "edited" : "generated",
      model: String(locked.model),
      cost: { usd, tokens_input, tokens_cached, tokens_output },
      created_at: String(locked.createdAt),
      proven_by: toText(locked.provenBy),
      approved: by === undefined ? null : { by: String(by), at: String(at) },
    };
  });
}

type Costs = Partial<Generation["cost"]>;

/**
 * The ingredients of a prompt node that its current definition contains. A model writes the code of the node from them.
 * They have the same names as in `Generation.ingredients`.
 */
export type CurrentIngredients = NonNullable<ReturnType<typeof readIngredients>>;

/**
 * An ingredient in the definition that has changed since the model wrote the code. `null` means that the ingredient is
 * absent.
 */
export interface Change {
  ingredient: string;
  part?: string;
  was: string | null;
  is: string | null;
}

/**
 * Maximum number of characters of a prompt that the store keeps as text. Of a longer prompt, the store keeps only the
 * hash.
 */
const longestPrompt = 4000;

/**
 * Reads from a definition the ingredients of a prompt node, in the same form as the engine. Returns undefined if the
 * node no longer exists or has no prompt.
 */
export function readIngredients(definition: unknown, nodeId: string) {
  const { model, requirements, lib } = asRecord(definition);
  const location = findNode(definition, nodeId);
  if (!location) return undefined;
  const { node, edges } = location;
  const executor = asRecord(node.executor);
  if (executor.kind !== "prompt") return undefined;
  const isDecision = node.type === "decision";
  return {
    prompt: String(executor.prompt),
    node_type: String(node.type),
    edges: isDecision ? edges.map(formatCondition) : [],
    model: findModel(asRecord(executor.model), asRecord(model)),
    requirements: asList(requirements)
      .map((line) => String(line).trim())
      .sort(),
    lib: Object.fromEntries(Object.entries(asRecord(lib)).map(([path, source]) => [path, String(source)])),
  };
}

interface Found {
  node: Record<string, unknown>;
  edges: Record<string, unknown>[];
}

function findNode(graph: unknown, id: string): Found | undefined {
  const { nodes, edges } = asRecord(graph);
  const all = asList(nodes).map(asRecord);
  const node = all.find((one) => one.id === id);
  if (node) {
    const leaving = asList(edges)
      .map(asRecord)
      .filter(({ from }) => from === id);
    return { node, edges: leaving };
  }
  for (const { body } of all) {
    const inside = body === undefined ? undefined : findNode(body, id);
    if (inside) return inside;
  }
  return undefined;
}

function formatCondition({ condition = "default" }: Record<string, unknown>): string {
  return typeof condition === "string" ? condition : JSON.stringify(condition);
}

function findModel(own: Record<string, unknown>, common: Record<string, unknown>): string {
  return String(own.code_generator ?? own.default ?? common.code_generator ?? common.default ?? "default");
}

/**
 * Compares the ingredients from which a model wrote code with those in the current definition, one by one. Does not
 * compare input types, guides, generator and sandbox. A definition does not contain these, so only a run compares them.
 */
export async function findChanges(
  ingredients: Readonly<Record<string, unknown>>,
  today: CurrentIngredients,
  digest: (text: string) => Promise<string>,
): Promise<Change[]> {
  const prompt = today.prompt.length <= longestPrompt ? today.prompt : `sha256:${await digest(today.prompt)}`;
  const single = { ...today, prompt } as const;
  const names = ["prompt", "node_type", "edges", "model", "requirements"] as const;
  const changes = names.flatMap((name) => compareIngredient(name, toText(ingredients[name]), toText(single[name])));
  return [...changes, ...(await findLibChanges(asRecord(ingredients.lib), today.lib, digest))];
}

async function findLibChanges(
  was: Readonly<Record<string, unknown>>,
  sources: CurrentIngredients["lib"],
  digest: (text: string) => Promise<string>,
): Promise<Change[]> {
  const hashes = await Promise.all(Object.entries(sources).map(async ([path, source]) => [path, await digest(source)]));
  const is: Record<string, string> = Object.fromEntries(hashes);
  const paths = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
  return paths.flatMap((part) =>
    compareIngredient("lib", toText(was[part]), is[part] ?? null).map((location) => ({ ...location, part })),
  );
}

function compareIngredient(ingredient: string, was: string | null, is: string | null): Change[] {
  return was === is ? [] : [{ ingredient, was, is }];
}

function toText(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return Array.isArray(value) ? value.join(", ") : String(value);
}

export async function hashText(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
