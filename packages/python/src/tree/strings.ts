const opening = /^([a-zA-Z]*)("""|'''|"|')/;

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", "\\": "\\", "'": "'", '"': '"', "\n": "" };

/** What a string literal says; null for bytes. */
export function textOf(literal: string): string | null {
  const [start = "", prefix = "", quote = ""] = opening.exec(literal) ?? [];
  if (/b/i.test(prefix)) return null;
  const inner = literal.slice(start.length, literal.length - quote.length);
  return /r/i.test(prefix) ? inner : unescaped(inner);
}

/** Escapes of letters by number or name are left as they are: keys are not written so. */
export function unescaped(text: string): string {
  return text.replace(/\\(\n|[ntr\\'"])/g, (_, letter: string) => escapes[letter] ?? letter);
}

/** Where the text of an f-string begins and ends inside of its literal. */
export function insideOf(literal: string): { from: number; to: number } {
  const [start = "", , quote = ""] = opening.exec(literal) ?? [];
  return { from: start.length, to: literal.length - quote.length };
}
