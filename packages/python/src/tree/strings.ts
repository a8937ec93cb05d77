const opening = /^([a-zA-Z]*)("""|'''|"|')/;

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", "\\": "\\", "'": "'", '"': '"', "\n": "" };

/** The value of a string literal; null for bytes. */
export function textOf(literal: string): string | null {
  const [start = "", prefix = "", quote = ""] = opening.exec(literal) ?? [];
  if (/b/i.test(prefix)) return null;
  const inner = literal.slice(start.length, literal.length - quote.length);
  return /r/i.test(prefix) ? inner : unescaped(inner);
}

/** Keeps escapes by number or name: keys are never written that way. */
export function unescaped(text: string): string {
  return text.replace(/\\(\n|[ntr\\'"])/g, (_, letter: string) => escapes[letter] ?? letter);
}

/** The range of an f-string's text inside its literal. */
export function insideOf(literal: string): { from: number; to: number } {
  const [start = "", , quote = ""] = opening.exec(literal) ?? [];
  return { from: start.length, to: literal.length - quote.length };
}
