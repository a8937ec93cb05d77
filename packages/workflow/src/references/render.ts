import { defined } from "../defined.ts";
import { promptParts, type Reference } from "./grammar.ts";
import type { ItemSource } from "./items.ts";
import { type ContextData, type Found, type FoundBy, Lookup } from "./lookup.ts";
import { Parts } from "./part.ts";

/** Characters of one inserted value, unless a prompt says otherwise. */
export const defaultMaxChars = 50_000;

export interface RenderOptions {
  /** The most characters of one inserted value; what is longer is cut, and says so. */
  maxChars?: number;
  /** Changes every value before it is inserted: masks secrets. */
  mask?(text: string): string;
}

/** A reference that was replaced by its value. */
export interface InsertedReference {
  /** As it stands in the prompt, with its braces. */
  reference: string;
  /** Id of the node, where it is known. */
  node?: string;
  found_by: FoundBy;
  /** How the item of a list was found; absent where none was asked for. */
  item?: ItemSource;
  /** Of the whole value. */
  characters: number;
  /** How many of them were inserted, where that are not all. */
  cut_at?: number;
}

/** A reference without a value. */
export interface MissingReference {
  reference: string;
  name: string;
  /** The node has a value, and the value not this part. */
  has_node: boolean;
}

export interface RenderedPrompt {
  /** Every reference replaced; where a value is missing, by `contextError`. */
  processed_prompt: string;
  /** What was inserted, by reference without its braces. */
  processed_node_values: Record<string, string>;
  references: InsertedReference[];
  missing: MissingReference[];
}

/** A prompt with the values of its references. A value is inserted as it is: braces in it are never references. */
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

/** What stands in a prompt where a value is missing. */
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
  // Half a character would be none.
  const cutAt = /[\ud800-\udbff]/.test(whole[maxChars - 1] ?? "") ? maxChars - 1 : maxChars;
  const text = `${whole.slice(0, cutAt)}... [cut: ${cutAt} of ${whole.length} characters]`;
  return { text, characters: whole.length, cutAt };
}
