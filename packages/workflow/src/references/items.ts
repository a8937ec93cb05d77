/** How an item was found: by its label, or as the n-th of a list. */
export type ItemSource = "label" | "json" | "bullet";

/** The lists that a text holds, as people and models write them. */
export interface TextLists {
  /** By label, of `1.`, `1)` or `1:`; of several with one label the first. */
  numbered: ReadonlyMap<number, string>;
  /** Of `-`, `*`, `+` or `•`. */
  bulleted: readonly string[];
}

interface Mark {
  kind: "numbered" | "bulleted";
  label: number;
  indent: number;
  /** Where the item's own text begins. */
  start: number;
}

/**
 * An item goes on until the next one of its list, or until an empty line behind which nothing is indented. Deeper lists
 * are part of their item. Goes through the text once, whatever it holds.
 */
export function listsIn(text: string): TextLists {
  const numbered = new Map<number, string>();
  const bulleted: string[] = [];
  const bases = { numbered: Number.POSITIVE_INFINITY, bulleted: Number.POSITIVE_INFINITY };
  let open: { mark: Mark; end: number } | undefined;
  let isBehindGap = false;
  const close = () => {
    if (!open) return;
    const { mark, end } = open;
    const item = text.slice(mark.start, end).trim();
    if (mark.kind === "bulleted") bulleted.push(item);
    else if (!numbered.has(mark.label)) numbered.set(mark.label, item);
    open = undefined;
  };
  for (let start = 0; start <= text.length; ) {
    const line = lineAt(text, start);
    const mark = markAt(text, start, line.end);
    const isInside = open !== undefined && line.indent > open.mark.indent;
    if (line.isEmpty) isBehindGap = true;
    else if (mark && !isInside && mark.indent <= bases[mark.kind]) {
      close();
      bases[mark.kind] = Math.min(bases[mark.kind], mark.indent);
      open = { mark, end: line.end };
    } else if (open && (isInside || !isBehindGap)) open.end = line.end;
    else close();
    if (!line.isEmpty) isBehindGap = false;
    start = line.end + 1;
  }
  close();
  return { numbered, bulleted };
}

function lineAt(text: string, start: number): { end: number; indent: number; isEmpty: boolean } {
  const found = text.indexOf("\n", start);
  const end = found < 0 ? text.length : found;
  let at = start;
  while (at < end && isBlank(text[at] as string)) at++;
  return { end, indent: at - start, isEmpty: at === end };
}

/** Digits of a label; nobody counts further. */
const maxDigits = 6;

function markAt(text: string, start: number, end: number): Mark | undefined {
  let at = start;
  while (at < end && isBlank(text[at] as string)) at++;
  const indent = at - start;
  const sign = text[at] as string;
  if (at < end && "-*+•".includes(sign) && isGap(text[at + 1], at + 1, end))
    return { kind: "bulleted", label: 0, indent, start: at + 1 };
  const digits = at;
  while (at < end && isDigit(text[at] as string)) at++;
  if (at === digits || at - digits > maxDigits || at >= end) return undefined;
  if (!".):".includes(text[at] as string) || !isGap(text[at + 1], at + 1, end)) return undefined;
  return { kind: "numbered", label: Number(text.slice(digits, at)), indent, start: at + 1 };
}

function isGap(sign: string | undefined, at: number, end: number): boolean {
  return at >= end || isBlank(sign as string);
}

function isBlank(sign: string): boolean {
  return sign === " " || sign === "\t" || sign === "\r";
}

function isDigit(sign: string): boolean {
  return sign >= "0" && sign <= "9";
}
