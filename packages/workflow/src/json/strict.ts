/** Maximum number of nested levels of a value. The harness in the sandbox has the same limit. */
const maxLevels = 500;
/** A value may contain bytes. In JSON they are references to blobs, which have two levels more. */
const levelsOfReference = 2;

/** The longest name or number, in UTF-16 units. */
const maxToken = 1024 * 1024;

/** Thrown if a text is not exactly one JSON value. The message completes "it ...". */
export class NotStrictJson extends Error {
  override name = "NotStrictJson";
}

/** Explains why a text is not exactly one JSON value, to complete "it ..."; undefined for a valid text. */
export function jsonProblem(text: string): string | undefined {
  if (simple.test(text)) return undefined;
  if (!text.isWellFormed()) return "has half a character";
  const check = new StrictJson();
  try {
    check.read(text);
    check.end();
    return undefined;
  } catch (error) {
    if (error instanceof NotStrictJson) return error.message;
    throw error;
  }
}

/**
 * Matches the most frequent values: numbers, `true`, `false`, `null` and plain texts. One match is a fast check, and a
 * node may set a hundred thousand values.
 */
const simple = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false|null|"[ !#-[\]-~]*")$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids raw control characters in strings
const plain = /[^"\\\u0000-\u001f]*/y;
const escaped = /\\(?:["\\/bfnrt]|u([\da-fA-F]{4}))/y;
const word = /[-+.\w]*/y;
const scalar = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/** The kind of token that the syntax allows next. */
type Due = "value" | "first item" | "name" | "first name" | "colon" | "comma" | "nothing";

/**
 * Checks that a stream of chunks is exactly one JSON value in UTF-8. Refuses repeated names in an object, half
 * surrogate pairs, more than 500 levels, and text after the value. It builds no value, so a value of any size can be
 * checked: only the names of open objects are in memory.
 */
export class StrictJson {
  readonly #utf8 = new Utf8Check();
  /** The names of each open object, or null for each open list; innermost last. */
  readonly #open: (Set<string> | null)[] = [];
  #due: Due = "value";
  #inText = false;
  /** True after the escape of the first half of a surrogate pair, which the second half must follow. */
  #isHalf = false;
  /** The start of a token that continues in the next chunk. */
  #rest = "";

  look(chunk: Uint8Array): void {
    const text = this.#utf8.decode(chunk);
    if (text === undefined) throw new NotStrictJson("is not UTF-8");
    this.read(text);
  }

  end(): void {
    // A number ends only where another character follows, so a blank is read after the text. After any other value the
    // blank has no effect.
    if (!this.#inText) this.read(" ");
    if (!this.#utf8.end() || this.#inText || this.#rest !== "" || this.#due !== "nothing")
      throw new NotStrictJson("is cut off before its end");
  }

  /** Checks the next chunk like `look`, but as text that is already decoded. */
  read(text: string): void {
    const chunk = this.#rest + text;
    this.#rest = "";
    let at = this.#inText ? this.#text(chunk, 0) : 0;
    while (at < chunk.length) {
      const mark = chunk[at] as string;
      if (" \n\r\t".includes(mark)) at++;
      else if (",:{}[]".includes(mark)) at = this.#punctuation(mark, at);
      else if (mark !== '"') at = this.#scalar(chunk, at);
      else if (this.#due === "name" || this.#due === "first name") at = this.#name(chunk, at);
      else {
        this.#demandValue(mark);
        this.#inText = true;
        at = this.#text(chunk, at + 1);
      }
    }
  }

  #punctuation(mark: string, at: number): number {
    if (mark === ",") {
      if (this.#due !== "comma") throw unexpected(mark);
      this.#due = this.#open.at(-1) === null ? "value" : "name";
    } else if (mark === ":") {
      if (this.#due !== "colon") throw unexpected(mark);
      this.#due = "value";
    } else if (mark === "{" || mark === "[") {
      this.#demandValue(mark);
      if (this.#open.push(mark === "[" ? null : new Set()) > maxLevels + levelsOfReference)
        throw new NotStrictJson(`is nested more than ${maxLevels} levels deep`);
      this.#due = mark === "[" ? "first item" : "first name";
    } else {
      const isList = mark === "]";
      const mayEnd = this.#due === "comma" || this.#due === (isList ? "first item" : "first name");
      const innermost = this.#open.pop();
      if (!mayEnd || innermost === undefined || (innermost === null) !== isList) throw unexpected(mark);
      this.#valueEnds();
    }
    return at + 1;
  }

  #demandValue(mark: string): void {
    if (this.#due !== "value" && this.#due !== "first item") throw unexpected(mark);
  }

  #valueEnds(): void {
    this.#due = this.#open.length === 0 ? "nothing" : "comma";
  }

  #text(chunk: string, from: number): number {
    const end = this.#throughText(chunk, from);
    if (!this.#inText) this.#valueEnds();
    return end;
  }

  #name(chunk: string, at: number): number {
    this.#inText = true;
    const end = this.#throughText(chunk, at + 1);
    if (this.#inText) {
      this.#inText = this.#isHalf = false;
      return this.#keep(chunk, at);
    }
    const quoted = chunk.slice(at, end);
    const names = this.#open.at(-1);
    // The name is parsed, because a mere slice of the text would keep the whole chunk in memory.
    if (!names || names.size === names.add(JSON.parse(quoted)).size)
      throw new NotStrictJson(`has the field ${shortened(quoted)} twice in one object`);
    this.#due = "colon";
    return end;
  }

  #throughText(chunk: string, from: number): number {
    for (let at = from; ; at = escaped.lastIndex) {
      const end = endOf(plain, chunk, at);
      const mark = chunk[end];
      if (this.#isHalf && (end > at || mark === '"')) throw half();
      if (mark === undefined) return end;
      if (mark === '"') {
        this.#inText = false;
        return end + 1;
      }
      if (mark !== "\\") throw new NotStrictJson("has a control character inside of a text");
      if (end + (chunk[end + 1] === "u" ? 6 : 2) > chunk.length) return this.#keep(chunk, end);
      escaped.lastIndex = end;
      const found = escaped.exec(chunk);
      if (!found) throw new NotStrictJson("has an escape that JSON does not know");
      const unit = Number.parseInt(found[1] ?? "0", 16);
      const isLow = unit >= 0xdc00 && unit <= 0xdfff;
      if (isLow !== this.#isHalf) throw half();
      this.#isHalf = unit >= 0xd800 && unit <= 0xdbff;
    }
  }

  #scalar(chunk: string, at: number): number {
    const mark = String.fromCodePoint(chunk.codePointAt(at) as number);
    this.#demandValue(mark);
    const end = endOf(word, chunk, at);
    if (end === chunk.length) return this.#keep(chunk, at);
    if (end === at) throw unexpected(mark);
    const text = chunk.slice(at, end);
    if (!scalar.test(text)) throw new NotStrictJson(`has ${shortened(text)}, which is no JSON value`);
    this.#valueEnds();
    return end;
  }

  #keep(chunk: string, from: number): number {
    if (chunk.length - from > maxToken) throw new NotStrictJson("has a field name or a number of more than 1 MB");
    this.#rest = chunk.slice(from);
    return chunk.length;
  }
}

/** Returns the offset after the longest match of the pattern at `at`. The match may be empty. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return pattern.lastIndex;
}

function unexpected(mark: string): NotStrictJson {
  return new NotStrictJson(`has ${JSON.stringify(mark)} where JSON has none`);
}

function half(): NotStrictJson {
  return new NotStrictJson("has half a character");
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** Checks that chunks of bytes are UTF-8. A chunk may end inside a character. */
export class Utf8Check {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  /** Checks the next chunk. Returns false for bytes that are certainly no UTF-8. */
  look(chunk: Uint8Array): boolean {
    return this.decode(chunk) !== undefined;
  }

  /** Returns the characters that are complete with this chunk; undefined for bytes that are certainly no UTF-8. */
  decode(chunk: Uint8Array, stream = true): string | undefined {
    try {
      return this.#decoder.decode(chunk, { stream });
    } catch {
      return undefined;
    }
  }

  end(): boolean {
    return this.decode(new Uint8Array(), false) !== undefined;
  }
}
