/** SES: the largest mail that it takes in. */
export const largestMailBytes = 40 * 1024 * 1024;

/** A mail with more parts than this was made to keep somebody busy. */
const mostParts = 5_000;
const mostBoundaries = 500;

/** Why a mail is not even looked into; undefined where it is. */
export function refusedByShape(raw: Buffer): string | undefined {
  if (raw.length === 0) return "it is empty";
  if (raw.length > largestMailBytes) return tooLarge(raw.length);
  const boundaries = boundariesIn(raw);
  if (boundaries.size > mostBoundaries) return `it has parts within parts more than ${mostBoundaries} times`;
  return countParts(raw, boundaries) > mostParts ? `it has more than ${mostParts} parts` : undefined;
}

export function tooLarge(bytes: number): string {
  return `it has ${bytes} bytes, and a mail may have ${largestMailBytes}`;
}

function boundariesIn(raw: Buffer): Set<string> {
  const found = new Set<string>();
  for (const at of places(raw, "boundary")) {
    const text = raw.toString("latin1", at, at + 200);
    const [, quoted, plain] = /^boundary\*?0?\*?\s*=\s*(?:"([^"\r\n]{1,120})"|([^\s;"]{1,120}))/i.exec(text) ?? [];
    const boundary = quoted ?? plain;
    if (boundary !== undefined) found.add(boundary);
    if (found.size > mostBoundaries) break;
  }
  return found;
}

function countParts(raw: Buffer, boundaries: ReadonlySet<string>): number {
  let parts = 0;
  for (const at of places(raw, "\n--")) {
    const line =
      raw
        .toString("latin1", at + 3, at + 203)
        .split(/\r?\n/, 1)[0]
        ?.trimEnd() ?? "";
    if (boundaries.has(line)) parts += 1;
    if (parts > mostParts) break;
  }
  return parts;
}

function* places(raw: Buffer, text: string): Iterable<number> {
  for (let at = raw.indexOf(text); at !== -1; at = raw.indexOf(text, at + 1)) yield at;
}
