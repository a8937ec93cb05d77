import { asReference, Context, type Member } from "@nova/engine";
import type { Ingredients } from "@nova/workflow";

/** A key that code reads, as a dot path. `optional`: the code works without it. */
export interface ContextRead {
  path: string;
  optional: boolean;
}

/**
 * Types of an input's values by path: `null`, `boolean`, `number`, `string`, `bytes`, `list`, `object`. `json` is a
 * list or object that is too large to be examined. `any` was absent when the code was written.
 */
export type ReadTypes = Ingredients["reads"];

/** Types of the input with which the code was written, at the code's reads. */
export function typesOf(reads: readonly ContextRead[], input: readonly Member[]): ReadTypes {
  const context = contextOf(input);
  const types = reads.map(({ path, optional }) => {
    const type = typeAt(context, path);
    return [optional ? `${path}?` : path, type === "absent" || type === "hidden" ? "any" : type] as const;
  });
  return Object.fromEntries(types.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Types of the current input at the same reads. A fitting value keeps the recorded type. */
export function currentTypes(reads: ReadTypes, input: readonly Member[]): ReadTypes {
  const context = contextOf(input);
  return Object.fromEntries(
    Object.entries(reads).map(([name, written]) => [name, currentType(name, written, context)] as const),
  );
}

function currentType(name: string, written: string, context: Context): string {
  const optional = name.endsWith("?");
  const type = typeAt(context, optional ? name.slice(0, -1) : name);
  const fits =
    written === "any" ||
    type === "hidden" ||
    (type === "absent" && optional) ||
    (type === "json" && (written === "list" || written === "object")) ||
    (written === "json" && (type === "list" || type === "object"));
  return fits ? written : type;
}

function contextOf(input: readonly Member[]): Context {
  return new Context(input.map((member) => ({ ...member, by: 0 })));
}

/** The type at a path; `absent` if there is no value, `hidden` if the path leads into a value that is too large. */
function typeAt(context: Context, path: string): string {
  const found = context.find(path);
  return found ? typeInside(JSON.parse(found.json), found.inside) : "absent";
}

function typeInside(value: unknown, steps: readonly string[]): string {
  const [step, ...rest] = steps;
  if (step === undefined) return typeOf(value);
  if (value === null || typeof value !== "object") return "absent";
  const reference = asReference(value);
  if (reference) return reference.type === "json" ? "hidden" : "absent";
  if (!Object.prototype.propertyIsEnumerable.call(value, step)) return "absent";
  return typeInside((value as Record<string, unknown>)[step], rest);
}

function typeOf(value: unknown): string {
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  const reference = asReference(value);
  if (reference) return reference.type === "text" ? "string" : reference.type;
  return Array.isArray(value) ? "list" : "object";
}

/** The context key of an analysis result. It is never part of a node's result. */
export const analysisKey = "_data_analysis";

/** True if code mentions the analysis result; then its analysis must always run before it. */
export function needsAnalysis(code: string): boolean {
  return code.includes(analysisKey);
}

/** Merges the reads of code and of its analysis. A key that one of them requires is required. */
export function mergeReads(code: readonly ContextRead[], analysis: readonly ContextRead[]): ContextRead[] {
  const reads = new Map<string, ContextRead>();
  for (const read of [...code, ...analysis]) {
    if (read.path === analysisKey || read.path.startsWith(`${analysisKey}.`)) continue;
    const known = reads.get(read.path);
    reads.set(read.path, known?.optional === false ? known : read);
  }
  return Array.from(reads.values());
}
