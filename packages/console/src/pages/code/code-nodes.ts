import type { Schemas } from "@nova/client";
import { asRecord, type Change, findChanges, hashText, readIngredients } from "./staleness.ts";

type Generation = Schemas["Generation"];

/** Code of a node, from the store or from the workflow's lock file. */
export interface CodeVersion extends Omit<Generation, "status"> {
  status: Generation["status"] | "locked";
  /** Differences to the current definition; undefined if the node no longer exists. */
  changes: Change[] | undefined;
}

export const codeStates = ["waits", "stale", "candidate", "runs", "replaced"] as const;
export type CodeState = (typeof codeStates)[number];

/** A prompt node, for all clients or for one client. */
export interface CodeNode {
  key: string;
  workflow: string;
  node: string;
  client: string | null;
  state: CodeState;
  /** The version that runs, or would run first. */
  current: CodeVersion;
  /** Newest first; locked code before stored code. */
  versions: CodeVersion[];
}

export interface CodeSource {
  workflow: string;
  definition: unknown;
  generations: readonly Generation[];
}

/** Builds the prompt nodes of a workflow with all versions of their code. */
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

function createCodeNode(key: string, workflow: string, versions: CodeVersion[], needsApproval: boolean): CodeNode {
  const current =
    versions.find((one) => isCurrent(one, needsApproval)) ??
    versions.find(({ status }) => status !== "replaced") ??
    (versions[0] as CodeVersion);
  const { node, client_slug: client } = current;
  return { key, workflow, node, client, state: classifyVersion(current, needsApproval), current, versions };
}

/** Whether a version runs for the current definition, or will run after approval. */
function isCurrent({ status, changes, approved }: CodeVersion, needsApproval: boolean): boolean {
  if (status === "replaced" || changes?.length !== 0) return false;
  return status !== "candidate" || (needsApproval && approved === null);
}

export function classifyVersion({ status, changes, approved }: CodeVersion, needsApproval: boolean): CodeState {
  if (status === "replaced") return "replaced";
  if (changes?.length !== 0) return "stale";
  if (needsApproval && approved === null) return "waits";
  return status === "candidate" ? "candidate" : "runs";
}

const rank: Record<CodeVersion["status"], number> = { locked: 0, pinned: 1, candidate: 1, replaced: 1 };

function compareVersions(a: CodeVersion, b: CodeVersion): number {
  return rank[a.status] - rank[b.status] || (a.created_at < b.created_at ? 1 : -1);
}

/** Sorts nodes that need attention first, then by name. */
export function compareCodeNodes(a: CodeNode, b: CodeNode): number {
  return codeStates.indexOf(a.state) - codeStates.indexOf(b.state) || a.key.localeCompare(b.key);
}

/** Lists the code of the lock file, which definitions store under other member names. */
function listLockedCode(definition: unknown): (Omit<Generation, "status"> & { status: "locked" })[] {
  return Object.entries(asRecord(asRecord(definition).lock)).map(([node, value]) => {
    const {
      key,
      ingredients,
      code,
      codeHash,
      analysis,
      analysisHash,
      origin,
      model,
      cost,
      createdAt,
      provenBy,
      approved,
    } = asRecord(value);
    const {
      usd = 0,
      tokens_input = 0,
      tokens_cached = 0,
      tokens_output = 0,
    } = asRecord(cost) as Record<string, number>;
    const { by, at } = asRecord(approved);
    return {
      node,
      client_slug: null,
      status: "locked" as const,
      key: String(key),
      ingredients: asRecord(ingredients),
      code: String(code),
      code_hash: String(codeHash),
      analysis: toTextOrNull(analysis),
      analysis_hash: toTextOrNull(analysisHash),
      origin: origin === "edited" ? ("edited" as const) : ("generated" as const),
      model: String(model),
      cost: { usd, tokens_input, tokens_cached, tokens_output },
      created_at: String(createdAt),
      proven_by: toTextOrNull(provenBy),
      approved: by === undefined ? null : { by: String(by), at: String(at) },
    };
  });
}

function toTextOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : String(value);
}
