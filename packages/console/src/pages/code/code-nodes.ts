import type { Schemas } from "@nova/client";
import { asRecord, type Change, findChanges, hashText, readIngredients } from "./staleness.ts";

type Generation = Schemas["Generation"];

/** Code of a node: one that the store keeps, or that which lies in the workflow's lock file. */
export interface CodeVersion extends Omit<Generation, "status"> {
  status: Generation["status"] | "locked";
  /** What the definition says differently now; undefined where the node is gone. */
  changes: Change[] | undefined;
}

export const codeStates = ["waits", "stale", "candidate", "runs", "replaced"] as const;
export type CodeState = (typeof codeStates)[number];

/** A prompt node, for everybody or for one client. */
export interface CodeNode {
  key: string;
  workflow: string;
  node: string;
  client: string | null;
  state: CodeState;
  /** What runs, or would run first. */
  current: CodeVersion;
  /** Newest first; what is locked before all. */
  versions: CodeVersion[];
}

export interface CodeSource {
  workflow: string;
  definition: unknown;
  generations: readonly Generation[];
}

/** Nodes whose code was written by models: those that somebody has to look at first. */
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

/** What would run for a definition like today's, or may once somebody has approved it. */
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

/** What somebody has to look at comes first, then by name. */
export function compareCodeNodes(a: CodeNode, b: CodeNode): number {
  return codeStates.indexOf(a.state) - codeStates.indexOf(b.state) || a.key.localeCompare(b.key);
}

/** A definition holds the code of its lock file under names of its own. */
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
