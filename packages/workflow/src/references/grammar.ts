export type ReferenceStep =
  | { kind: "key"; key: string }
  /**
   * An item by its number: `[2]` or `:item(2)` directly after the name. It is the item labelled 2 in a text, or the
   * second item of a list.
   */
  | { kind: "item"; number: number }
  /** An element of a list by its index: `[0]` in a later step. It counts from 0. */
  | { kind: "index"; number: number };

export interface Reference {
  kind: "reference";
  written: string;
  offset: number;
  /** Name or id of a node, or a key of the context, without blanks at its ends. */
  name: string;
  steps: ReferenceStep[];
}

export type PromptPart = { kind: "text"; text: string } | Reference;

/** Returns true for a known name, which may contain any character, even one that would end an unknown name. */
export type IsName = (name: string) => boolean;

export function normalName(name: string): string {
  return name.normalize("NFC").trim().toLowerCase();
}

/** Matches braces with a short text. This limit and `maxSteps` bound the time of the search in any text. */
const braces = /\{([^{}\n\r]{0,298})\}/y;
const maxSteps = 10;

/**
 * Splits a prompt into texts and references. `\{` is a plain brace. Braces that are no reference stay text, because
 * prompts often contain JSON.
 */
export function promptParts(prompt: string, isName: IsName = () => false): PromptPart[] {
  const parts: PromptPart[] = [];
  let text = "";
  let done = 0;
  for (let open = prompt.indexOf("{"); open >= 0; open = prompt.indexOf("{", open + 1)) {
    if (prompt[open - 1] === "\\" && open > done) {
      text += `${prompt.slice(done, open - 1)}{`;
      done = open + 1;
      continue;
    }
    const found = referenceAt(prompt, open, isName);
    if (!found) continue;
    text += prompt.slice(done, open);
    if (text !== "") parts.push({ kind: "text", text });
    parts.push(found);
    text = "";
    done = open + found.written.length;
    open = done - 1;
  }
  text += prompt.slice(done);
  if (text !== "") parts.push({ kind: "text", text });
  return parts;
}

export function referencesIn(prompt: string, isName?: IsName): Reference[] {
  return promptParts(prompt, isName).flatMap((part) => (part.kind === "reference" ? part : []));
}

function referenceAt(prompt: string, open: number, isName: IsName): Reference | undefined {
  braces.lastIndex = open;
  const [written = "", inside] = prompt[open - 1] === "{" ? [] : (braces.exec(prompt) ?? []);
  const read = inside === undefined ? undefined : readInside(inside, isName);
  return read && { kind: "reference", written, offset: open, ...read };
}

/**
 * Matches unknown names that a person may have meant as a reference. Braces around anything else are text, not a
 * mistake.
 */
const plausibleName = /^[\p{L}_][\p{L}\p{M}\p{N}_ -]*$/u;

/**
 * Splits the text in braces into a name and its steps. The longest known name wins. Without a known name, the name ends
 * at the first step.
 */
function readInside(inside: string, isName: IsName): Pick<Reference, "name" | "steps"> | undefined {
  const ends = [inside.length, ...stepStarts(inside).reverse()];
  for (const end of ends) {
    const name = inside.slice(0, end).trim();
    const steps = isName(name) ? readSteps(inside.slice(end)) : undefined;
    if (steps) return { name, steps };
  }
  const end = ends.at(-1) as number;
  const name = inside.slice(0, end).trim();
  const steps = plausibleName.test(name) ? readSteps(inside.slice(end)) : undefined;
  return steps && { name, steps };
}

/** Returns the offsets at which a step such as `.key`, `[0]` or `:item(2)` may start. */
function stepStarts(inside: string): number[] {
  const starts: number[] = [];
  for (let at = 0; at < inside.length && starts.length < maxSteps; at++)
    if (".[:".includes(inside[at] as string)) starts.push(at);
  return starts;
}

const step = /\.([\p{L}\p{N}_$][\p{L}\p{M}\p{N}_$ -]*)|\[ *(\d{1,9}) *\]|:item\( *(\d{1,9}) *\)/uy;

function readSteps(written: string): ReferenceStep[] | undefined {
  const text = written.trimEnd();
  const steps: ReferenceStep[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const [, key, number, item] = step.exec(text) ?? [];
    if (key !== undefined) steps.push({ kind: "key", key: key.trimEnd() });
    else if (item !== undefined) steps.push({ kind: "item", number: Number(item) });
    else if (number !== undefined) steps.push({ kind: steps.length === 0 ? "item" : "index", number: Number(number) });
    else return undefined;
  }
  return steps;
}
