import { headText } from "./headers.ts";

const newline = 10;
const shortBytes = 20;
/**
 * Minimum length of a line that counts as base64. Mail programs write lines of 76 letters. Only the last line of a text
 * is shorter.
 */
const leastBase64Bytes = 56;

const isBase64Letter = new Uint8Array(256);
for (const letter of Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r")) {
  isBase64Letter[letter] = 1;
}

/**
 * Returns the number of bytes in all lines that are not base64, and the number of short lines among them. A parser
 * reads such lines letter by letter.
 */
export function textLoad(raw: Buffer) {
  const load = { textBytes: 0, shortLines: 0 };
  for (let start = 0; start < raw.length; ) {
    const found = raw.indexOf(newline, start);
    const end = found === -1 ? raw.length : found;
    if (!isBase64(raw, start, end)) {
      load.textBytes += end - start + 1;
      if (end - start < shortBytes) load.shortLines += 1;
    }
    start = end + 1;
  }
  return load;
}

function isBase64(raw: Buffer, start: number, end: number): boolean {
  if (end - start < leastBase64Bytes) return false;
  for (let at = start; at < end; at++) if (isBase64Letter[raw[at] as number] !== 1) return false;
  return true;
}

/** The largest mail that SES accepts. */
export const largestMailBytes = 40 * 1024 * 1024;

/** Limits that no honest mail exceeds. A parser would need seconds or minutes for a mail that exceeds them. */
const limits = { parts: 5_000, boundaries: 500, mentions: 20_000, textBytes: 5 * 1024 * 1024, shortLines: 50_000 };

/** Returns the reason to refuse a mail before parsing it; undefined if it may be parsed. */
export function guardProblem(raw: Buffer): string | undefined {
  if (raw.length === 0) return "it is empty";
  if (raw.length > largestMailBytes) return tooLargeReason(raw.length);
  if (/\0|\r(?!\n)/.test(headText(raw) ?? ""))
    return "its head has a NUL, or a CR without LF: it can be read in two ways";
  const { textBytes, shortLines } = textLoad(raw);
  if (textBytes > limits.textBytes)
    return `it has ${textBytes} bytes besides base64, and a mail may have ${limits.textBytes}`;
  if (shortLines > limits.shortLines)
    return `it has ${shortLines} short lines, and a mail may have ${limits.shortLines}`;
  const boundaries = boundariesIn(raw);
  if (boundaries.size > limits.boundaries) return `it has parts within parts more than ${limits.boundaries} times`;
  return countParts(raw, boundaries) > limits.parts ? `it has more than ${limits.parts} parts` : undefined;
}

export function tooLargeReason(bytes: number): string {
  return `it has ${bytes} bytes, and a mail may have ${largestMailBytes}`;
}

/**
 * Returns the boundaries that a mail declares. The search stops at 501, since `guardProblem` refuses a mail with more
 * than 500.
 */
export function boundariesIn(raw: Buffer): Set<string> {
  const found = new Set<string>();
  let mentions = 0;
  for (const at of findPositions(raw, "boundary")) {
    mentions += 1;
    const text = raw.toString("latin1", at, at + 200);
    const [, quoted, plain] = /^boundary\*?0?\*?\s*=\s*(?:"([^"\r\n]{1,120})"|([^\s;"]{1,120}))/i.exec(text) ?? [];
    const boundary = quoted ?? plain;
    if (boundary !== undefined) found.add(boundary);
    if (found.size > limits.boundaries || mentions > limits.mentions) break;
  }
  return found;
}

function countParts(raw: Buffer, boundaries: ReadonlySet<string>): number {
  let parts = 0;
  for (const at of findPositions(raw, "\n--")) {
    const line =
      raw
        .toString("latin1", at + 3, at + 203)
        .split(/\r?\n/, 1)[0]
        ?.trimEnd() ?? "";
    if (boundaries.has(line)) parts += 1;
    if (parts > limits.parts) break;
  }
  return parts;
}

function* findPositions(raw: Buffer, text: string): Iterable<number> {
  for (let at = raw.indexOf(text); at !== -1; at = raw.indexOf(text, at + 1)) yield at;
}
