import { LRUCache } from "lru-cache";
import { invalid } from "../errors.ts";
import type { AttributeValue } from "../values/attribute-value.ts";
import type { Placeholders } from "./placeholders.ts";
import words from "./reserved-words.json" with { type: "json" };
import type { Path } from "./syntax.ts";

const pattern = /\s*(?:([A-Za-z][A-Za-z0-9_]*)|([#:][A-Za-z0-9_]+)|(<>|<=|>=|[=<>(),.[+-])|(\S)|$)/y;

interface Token {
  kind: "word" | "placeholder" | "sign" | "strange" | "end";
  text: string;
}

/**
 * Words that cannot name an attribute in an expression, except through a placeholder (Amazon DynamoDB Developer Guide,
 * "Reserved words in DynamoDB").
 */
const reserved = new Set(words);

/** DynamoDB's limit for the length of an expression. */
const longestBytes = 4096;

/** The tokens of one expression, with the parser's position. Reading a placeholder returns its value. */
export class Tokens {
  /** All paths of the expression that have been parsed so far. */
  readonly paths: Path[] = [];
  readonly #tokens: readonly Token[];
  readonly #placeholders: Placeholders;
  #at = 0;

  constructor(text: string, placeholders: Placeholders) {
    if (text === "") throw invalid("The expression can not be empty;");
    const bytes = Buffer.byteLength(text);
    if (bytes > longestBytes) {
      throw invalid(`Expression size has exceeded the maximum allowed size; expression size: ${bytes}`);
    }
    this.#tokens = tokensOf(text);
    this.#placeholders = placeholders;
  }

  get next(): Token {
    return this.#tokens[this.#at] as Token;
  }

  take(): Token {
    return this.#tokens[this.#at++] as Token;
  }

  takesSign(sign: string): boolean {
    const found = this.next.kind === "sign" && this.next.text === sign;
    if (found) this.#at++;
    return found;
  }

  /** Takes the next token if it is the keyword `word`, in upper or lower case. Returns whether it was this keyword. */
  takesWord(word: string): boolean {
    const found = this.next.kind === "word" && this.next.text.toUpperCase() === word;
    if (found) this.#at++;
    return found;
  }

  /** Returns whether the next tokens are a name and an opening parenthesis. */
  isCall(): boolean {
    return this.next.kind === "word" && this.#tokens[this.#at + 1]?.text === "(";
  }

  expectSign(sign: string): void {
    if (!this.takesSign(sign)) throw this.wrong();
  }

  expectEnd(): void {
    if (this.next.kind !== "end") throw this.wrong();
  }

  /**
   * Takes one part of a path: an attribute's name that is not reserved, or a placeholder such as `#name`. Returns the
   * attribute's name.
   */
  takeName(): string {
    const { kind, text } = this.next;
    if (kind !== "word" && !(kind === "placeholder" && text.startsWith("#"))) throw this.wrong();
    if (kind === "word" && reserved.has(text.toUpperCase())) {
      throw invalid(`Attribute name is a reserved keyword; reserved keyword: ${text}`);
    }
    this.#at++;
    return kind === "word" ? text : this.#placeholders.name(text);
  }

  /** Takes a placeholder such as `:value` and returns its value; undefined if the next token is no such placeholder. */
  takeValue(): { kind: "value"; value: AttributeValue } | undefined {
    if (!this.next.text.startsWith(":")) return undefined;
    return { kind: "value", value: this.#placeholders.value(this.take().text) };
  }

  wrong(): Error {
    const { kind, text } = this.next;
    const near = this.#tokens.slice(Math.max(0, this.#at - 1), this.#at + 2).map((token) => token.text);
    const token = kind === "end" ? "<EOF>" : text;
    return invalid(`Syntax error; token: "${token}", near: "${near.join(" ").trim()}"`);
  }
}

const kinds = ["word", "placeholder", "sign", "strange"] as const;

/** Caches the tokens of expressions, because most requests repeat an expression with other values. */
const known = new LRUCache<string, readonly Token[]>({ max: 500 });

function tokensOf(text: string): readonly Token[] {
  const tokens = known.get(text) ?? readTokens(text);
  known.set(text, tokens);
  return tokens;
}

function readTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  pattern.lastIndex = 0;
  while (true) {
    const match = pattern.exec(text) as RegExpExecArray;
    const group = match.findIndex((found, i) => i > 0 && found !== undefined);
    const kind = kinds[group - 1];
    if (kind === undefined) return [...tokens, { kind: "end", text: "" }];
    tokens.push({ kind, text: match[group] as string });
  }
}
