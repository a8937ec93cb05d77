import { parsedOrNot } from "@nova/engine";

/** Limits the work for texts with many starts of JSON, as a multiple of the text's length. */
const maxReadings = 30;

const outsideStrings = /[\s,:\d+\-.eEtrufalsn]/;

/**
 * Returns a function that finds the end of the JSON object or list that starts at a position; -1 if none starts there.
 * Its total time is bounded for every text.
 */
export function jsonEndFinder(text: string): (start: number) => number {
  /** Positions of brackets that are never closed. */
  const unclosed = new Set<number>();
  let left = maxReadings * text.length;
  return (start) => {
    if ((text[start] !== "{" && text[start] !== "[") || unclosed.has(start) || left <= 0) return -1;
    const open: number[] = [];
    let at = start;
    for (; at < text.length; at++) {
      const sign = text[at] as string;
      if (sign === '"') at = closingQuote(text, at);
      else if (sign === "{" || sign === "[") open.push(at);
      else if (sign === "}" || sign === "]") {
        if (text[open.pop() as number] !== (sign === "}" ? "{" : "[")) break;
        if (open.length === 0) {
          left -= at - start + 1;
          return parsedOrNot(text.slice(start, at + 1)) === undefined ? -1 : at + 1;
        }
      } else if (!outsideStrings.test(sign)) break;
    }
    left -= at - start;
    for (const position of open) unclosed.add(position);
    return -1;
  };
}

function closingQuote(text: string, opening: number): number {
  let at = opening + 1;
  for (; at < text.length && text[at] !== '"'; at++) if (text[at] === "\\") at++;
  return at;
}

/** Finds the outermost JSON objects and lists in a text, in order. */
export function jsonValuesIn(text: string): string[] {
  const endOf = jsonEndFinder(text);
  const values: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const end = endOf(at);
    if (end < 0) continue;
    values.push(text.slice(at, end));
    at = end - 1;
  }
  return values;
}
