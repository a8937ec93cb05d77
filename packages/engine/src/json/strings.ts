/** Where a string literal stands in a JSON text, its quotes included. */
export interface StringSpan {
  start: number;
  end: number;
}

/** Every string literal of a valid JSON text, keys included, in order. */
export function* stringsIn(text: string): Iterable<StringSpan> {
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfString(text, start);
    yield { start, end };
    start = text.indexOf('"', end);
  }
}

/** True when the literal names a member: only a colon can follow it. */
export function isKey(text: string, { end }: StringSpan): boolean {
  let at = end;
  while (at < text.length && " \t\n\r".includes(text[at] as string)) at++;
  return text[at] === ":";
}

/**
 * Behind the closing quote of the literal that begins at `start`: the first quote with an even number of backslashes
 * before it.
 */
export function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}
