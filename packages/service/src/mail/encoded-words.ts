/** Encoded words (RFC 2047) of one charset in base64, one after another. Each part of the pattern has one way to match. */
const words = /=\?([\w.:-]{1,40})\?b\?[a-z0-9+/=]*\?=(?:\s+=\?\1\?b\?[a-z0-9+/=]*\?=)+/gi;
const word = /\?b\?([a-z0-9+/=]*)\?=/gi;
const padded = /=\?=\s+=\?/;

/**
 * Joins encoded words that split a character between them. RFC 2047 forbids such a split, and some mail programs do it all
 * the same: `=?UTF-8?B?TcM=?= =?UTF-8?B?pHJ6?=` is "März". A parser decodes padded words one by one, and loses the letter.
 */
export function joinSplitWords(text: string): string {
  return text.replaceAll(words, (run, charset: string) => {
    if (!padded.test(run)) return run;
    const bytes = Array.from(run.matchAll(word), ([, base64 = ""]) => Buffer.from(base64, "base64"));
    return `=?${charset}?B?${Buffer.concat(bytes).toString("base64")}?=`;
  });
}

/** Joins the split words in the heads of a mail and of its parts; bodies stay byte for byte. */
export function joinWordsInHeads(raw: Buffer, isBoundary: (line: string) => boolean): Buffer {
  const text = raw.toString("latin1");
  if (!padded.test(text)) return raw;
  let joined = "";
  for (let start = 0; start < text.length; ) {
    const blank = /\r?\n\r?\n/g;
    // A part may have no head: its blank line follows the boundary's line at once.
    blank.lastIndex = Math.max(0, start - 1);
    const end = Math.max(start, blank.exec(text)?.index ?? text.length);
    joined += joinSplitWords(text.slice(start, end));
    const next = nextHead(text, end, isBoundary);
    joined += text.slice(end, next);
    start = next;
  }
  return Buffer.from(joined, "latin1");
}

/** The start of the next part's head, after its boundary's line. */
function nextHead(text: string, from: number, isBoundary: (line: string) => boolean): number {
  for (let at = text.indexOf("\n--", from); at !== -1; at = text.indexOf("\n--", at + 1)) {
    const end = text.indexOf("\n", at + 1);
    if (end === -1) return text.length;
    if (isBoundary(text.slice(at + 3, Math.min(end, at + 203)).trimEnd())) return end + 1;
  }
  return text.length;
}
