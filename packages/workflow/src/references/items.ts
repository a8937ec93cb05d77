/** How an item was found: by its label, or by its position in a list. */
export type ItemSource = "label" | "json" | "bullet";

/** The lists in a text, as people and models write them. */
export interface TextLists {
  /** Items of `1.`, `1)` or `1:` by label. The first one counts if a label is repeated. */
  numbered: ReadonlyMap<number, string>;
  /** Items of `-`, `*`, `+` or `•`. */
  bulleted: readonly string[];
}

interface Mark {
  kind: "numbered" | "bulleted";
  label: number;
  indent: number;
  /** Offset of the item's own text. */
  start: number;
}

/**
 * Finds the lists of a text in one pass. An item ends at the next item of its list, or at an empty line before a line
 * that is not indented. A deeper list is part of its item.
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
    const mark = markAt(text, start);
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

const blanks = /[ \t\r]*/y;

function lineAt(text: string, start: number): { end: number; indent: number; isEmpty: boolean } {
  const found = text.indexOf("\n", start);
  const end = found < 0 ? text.length : found;
  blanks.lastIndex = start;
  const indent = blanks.exec(text)?.[0].length ?? 0;
  return { end, indent, isEmpty: start + indent === end };
}

/** A bullet, or a label of at most six digits. */
const markPattern = /([ \t\r]*)(?:[-*+•]|(\d{1,6})[.):])(?=[ \t\r\n]|$)/y;

function markAt(text: string, start: number): Mark | undefined {
  markPattern.lastIndex = start;
  const [whole, before = "", label] = markPattern.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const kind = label === undefined ? "bulleted" : "numbered";
  return { kind, label: Number(label ?? 0), indent: before.length, start: start + whole.length };
}
