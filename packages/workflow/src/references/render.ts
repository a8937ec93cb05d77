import { defined } from "../defined.ts";
import { promptParts, type Reference } from "./grammar.ts";
import type { ItemSource } from "./items.ts";
import { type ContextData, type Found, type FoundBy, Lookup } from "./lookup.ts";
import { Parts } from "./part.ts";

/** Default limit of one inserted value, in characters. */
export const defaultMaxChars = 50_000;

export interface RenderOptions {
  /** Limit of one inserted value, in characters. A longer value is cut, and a note says so. */
  maxChars?: number;
  /** Changes each value before it is inserted, to mask secrets. */
  mask?(text: string): string;
}

/** A reference that was replaced by its value. */
export interface InsertedReference {
  /** The reference in the prompt, with its braces. */
  reference: string;
  /** Id of the node, if known. */
  node?: string;
  found_by: FoundBy;
  /** How a list's item was found; absent without an item step. */
  item?: ItemSource;
  /** Length of the whole value. */
  characters: number;
  /** Number of inserted characters; absent if the whole value was inserted. */
  cut_at?: number;
}

/** A reference without a value. */
export interface MissingReference {
  reference: string;
  name: string;
  /** True if the node has a value but not this part. */
  has_node: boolean;
}

export interface RenderedPrompt {
  /** The prompt with all references replaced. `contextError` stands for a missing value. */
  processed_prompt: string;
  /** The inserted values, by reference without its braces. */
  processed_node_values: Record<string, string>;
  references: InsertedReference[];
  missing: MissingReference[];
}

/** Replaces the references of a prompt by their values. Braces inside a value are never references. */
export function renderPrompt(prompt: string, data: ContextData, options: RenderOptions = {}): RenderedPrompt {
  const lookup = new Lookup(data);
  const parts = new Parts();
  const values = new Map<string, string>();
  const inserted = new Map<string, InsertedReference>();
  const missing = new Map<string, MissingReference>();
  const texts = promptParts(prompt, (name) => lookup.isName(name)).map((part) => {
    if (part.kind === "text") return part.text;
    const inside = part.written.slice(1, -1).trim();
    const known = values.get(inside);
    if (known !== undefined) return known;
    const found = lookup.find(part.name);
    const value = found && parts.find(found.value, part.steps);
    if (!found || !value) {
      missing.set(inside, { reference: part.written, name: part.name, has_node: found !== undefined });
      return contextError(found ? inside : part.name);
    }
    const { text, ...facts } = boundedText(value.value, options);
    inserted.set(inside, factsOf(part, found, value.item, facts));
    values.set(inside, text);
    return text;
  });
  return {
    processed_prompt: texts.join(""),
    processed_node_values: Object.fromEntries(values),
    references: [...inserted.values()],
    missing: [...missing.values()],
  };
}

/** The text that stands for a missing value. */
export function contextError(name: string): string {
  return `[CONTEXT_ERROR: Content for '${name}' not found in provided context_data]`;
}

function factsOf(
  { written }: Reference,
  { node, foundBy }: Found,
  item: ItemSource | undefined,
  { characters, cutAt }: Omit<BoundedText, "text">,
): InsertedReference {
  return defined({ reference: written, node, found_by: foundBy, item, characters, cut_at: cutAt });
}

interface BoundedText {
  text: string;
  characters: number;
  cutAt?: number;
}

function boundedText(value: unknown, { maxChars = defaultMaxChars, mask }: RenderOptions): BoundedText {
  const written = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
  const whole = mask ? mask(written) : written;
  if (whole.length <= maxChars) return { text: whole, characters: whole.length };
  // The cut must not split a surrogate pair.
  const cutAt = /[\ud800-\udbff]/.test(whole[maxChars - 1] ?? "") ? maxChars - 1 : maxChars;
  const text = `${whole.slice(0, cutAt)}... [cut: ${cutAt} of ${whole.length} characters]`;
  return { text, characters: whole.length, cutAt };
}
