/** Consecutive encoded words (RFC 2047). Each part of the pattern has one way to match, so it is fast. */
const one = String.raw`=\?[\w.:-]{1,40}(?:\*[\w-]{1,40})?\?(?:b\?[a-z0-9+/=]*|q\?[!->@-~]*)\?=`;
const words = new RegExp(`${one}(?:\\s*${one})+`, "gi");
/** Charset, encoding and text of a word. Its language (RFC 2231) does not affect the letters. */
const word = /=\?([\w.:-]+)(?:\*[\w-]+)?\?([bq])\?([^?\s]*)\?=/gi;
const severalWords = /\?=\s*=\?/;

/**
 * Joins consecutive encoded words into one. Some mail programs split a character between two words, which RFC 2047
 * forbids: `=?UTF-8?B?TcM=?= =?UTF-8?Q?=A4rz?=` is "März".
 */
function joinSplitWords(text: string): string {
  return text.replaceAll(words, (run) => {
    const decoded = textOfWords(run);
    return decoded === undefined ? run : `=?UTF-8?B?${Buffer.from(decoded).toString("base64")}?=`;
  });
}

/** Each word of this charset starts in the initial state, so the decoder must not keep the state of the previous word. */
const withStates = "iso-2022-jp";

/** Undefined for a charset that `TextDecoder` does not know; the mail parser may still know it. */
function textOfWords(run: string): string | undefined {
  let text = "";
  let decoder = new TextDecoder();
  for (const [, label = "", encoding = "", content = ""] of run.matchAll(word)) {
    const charset = charsetNamed(label);
    if (charset === undefined) return undefined;
    if (charset !== decoder.encoding) {
      text += decoder.decode();
      decoder = new TextDecoder(charset);
    }
    text += decoder.decode(bytesOfWord(encoding, content), { stream: charset !== withStates });
  }
  return text + decoder.decode();
}

/** The canonical name of a charset: `utf8` and `UTF-8` are the same. */
function charsetNamed(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

function bytesOfWord(encoding: string, content: string): Buffer {
  if (encoding.toLowerCase() === "b") return Buffer.from(content, "base64");
  const spaced = content.replaceAll("_", " ");
  return Buffer.from(
    spaced.replace(/=([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}

/** Joins split words in the headers of a mail and of its parts. Bodies stay unchanged. */
export function joinWordsInHeads(raw: Buffer, isBoundary: (line: string) => boolean): Buffer {
  const text = raw.toString("latin1");
  if (!severalWords.test(text)) return raw;
  let joined = "";
  for (let start = 0; start < text.length; ) {
    const blank = /\r?\n\r?\n/g;
    // A part without headers has its blank line directly after the boundary line.
    blank.lastIndex = Math.max(0, start - 1);
    const end = Math.max(start, blank.exec(text)?.index ?? text.length);
    joined += joinSplitWords(text.slice(start, end));
    const next = nextHead(text, end, isBoundary);
    joined += text.slice(end, next);
    start = next;
  }
  return Buffer.from(joined, "latin1");
}

/** The start of the next part's headers, after its boundary line. */
function nextHead(text: string, from: number, isBoundary: (line: string) => boolean): number {
  for (let at = text.indexOf("\n--", from); at !== -1; at = text.indexOf("\n--", at + 1)) {
    const end = text.indexOf("\n", at + 1);
    if (end === -1) return text.length;
    if (isBoundary(text.slice(at + 3, Math.min(end, at + 203)).trimEnd())) return end + 1;
  }
  return text.length;
}
