import { type Generator, generationKey, ingredientsOf, needsAnalysis, type Read, readsTogether } from "@nova/agents";
import { membersOf } from "@nova/engine";
import { codeHashOf, hashOf, type LockedCode, type ReadLock } from "@nova/workflow";
import type { Recorded } from "../replay/recorded.ts";
import type { PromptNode } from "./folder.ts";

/** The data that is needed to lock an edit. */
export interface EditSources {
  /** The code of the node's last successful run; null if it is unknown. */
  used(node: string): Recorded | null;
  generator: Generator;
  readsOf(source: string): Promise<readonly Read[]>;
  /** ISO 8601. */
  now: string;
}

/**
 * Locks code or an analysis that the user edited. An analysis that the code no longer needs is dropped. An edit is
 * neither proven nor approved. The types of the keys that it reads come from the last input of the node.
 */
export async function lockEdit(
  prompt: PromptNode,
  { code, analysis: read, record }: ReadLock & { state: "edited" },
  sources: EditSources,
): Promise<LockedCode> {
  const { provenBy: _, approved: _approved, analysisHash: _hash, ...kept } = record;
  const analysis = read !== undefined && needsAnalysis(code) ? read : undefined;
  const codes = { code, ...(analysis !== undefined && { analysis, analysisHash: hashOf(analysis) }) };
  const input = membersOf(sources.used(prompt.node.id)?.entry.input_context?.text ?? "{}");
  const guides = Object.keys(record.ingredients.guides);
  const readsOfCode = await sources.readsOf(code);
  const reads =
    codes.analysis === undefined ? readsOfCode : readsTogether(readsOfCode, await sources.readsOf(codes.analysis));
  const ingredients = ingredientsOf({ ...prompt, input }, sources.generator, { reads, guides });
  for (const [name, type] of Object.entries(ingredients.reads)) {
    if (type === "any") ingredients.reads[name] = record.ingredients.reads[name] ?? type;
  }
  const key = generationKey(ingredients);
  return { ...kept, key, ingredients, ...codes, codeHash: codeHashOf(codes), origin: "edited", createdAt: sources.now };
}
