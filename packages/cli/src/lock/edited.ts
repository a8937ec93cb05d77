import { type Generator, generationKey, ingredientsOf, needsAnalysis, type Read, readsTogether } from "@nova/agents";
import { membersOf } from "@nova/engine";
import { codeHashOf, hashOf, type LockedCode, type ReadLock } from "@nova/workflow";
import type { Recorded } from "../replay/recorded.ts";
import type { PromptNode } from "./folder.ts";

/** What an edit is read with. */
export interface EditSources {
  /** The code that the node ran last, with success; null where it is not known. */
  used(node: string): Recorded | null;
  generator: Generator;
  readsOf(source: string): Promise<readonly Read[]>;
  /** ISO 8601. */
  now: string;
}

/**
 * Code as somebody has changed it, or the analysis in front of it; that goes where the code names it no more. Nobody has
 * proven or approved it; what it reads is looked up in the last input of the node.
 */
export async function takeEdit(
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
