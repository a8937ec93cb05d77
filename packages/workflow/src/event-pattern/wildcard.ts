/** Why a text is no wildcard; `*` stands for any characters, `\*` and `\\` for themselves. */
export function wildcardProblem(wildcard: string): string | undefined {
  if (/^(?:[^\\]|\\[\\*])*$/s.test(wildcard)) {
    return /(?<!\\)(?:\\\\)*\*\*/.test(wildcard) ? "must not have two * in a row" : undefined;
  }
  return "must have \\* or \\\\ where it has a \\";
}

/** A text as a wildcard that fits nothing else. */
export function asWildcard(text: string): string {
  return text.replaceAll(/[\\*]/g, "\\$&");
}

/** Linear in the text: the pieces between the stars are looked for from left to right. */
export function fitsWildcard(wildcard: string, text: string): boolean {
  const pieces = piecesOf(wildcard);
  const [first = "", last = ""] = [pieces[0], pieces.at(-1)];
  if (pieces.length === 1) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

function piecesOf(wildcard: string): string[] {
  const pieces = [""];
  for (const [token] of wildcard.matchAll(/\\[\\*]|./gs)) {
    if (token === "*") pieces.push("");
    else pieces[pieces.length - 1] += token.length === 2 ? token.slice(1) : token;
  }
  return pieces;
}
