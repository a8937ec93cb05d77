import { DefinitionRejected } from "../failure.ts";
import type { Json } from "../json.ts";
import { intrinsics } from "./functions.ts";

export interface Call {
  /** As written, for messages. */
  text: string;
  name: string;
  arguments: Argument[];
}

export type Argument = { kind: "literal"; value: Json } | { kind: "path"; path: string } | { kind: "call"; call: Call };

const NAME = /States\.\w+/y;
const STRING = /'((?:[^'\\]|\\.)*)'/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const PATH = /\$\$?(?:\[(?:'(?:[^'\\]|\\.)*'|[^\]])*\]|[^,()[\]\s])*/y;

/** @throws DefinitionRejected for a syntax error or a function that does not exist. */
export function parseIntrinsic(text: string, at: string): Call {
  const reader = new IntrinsicReader(text, at);
  const call = reader.call();
  reader.expectEnd();
  return call;
}

class IntrinsicReader {
  readonly #text: string;
  readonly #at: string;
  #position = 0;

  constructor(text: string, at: string) {
    this.#text = text;
    this.#at = at;
  }

  call(): Call {
    const start = this.#position;
    const name = this.#match(NAME)?.[0];
    if (name === undefined) throw this.#rejected("a function name such as States.Format is expected");
    if (!Object.hasOwn(intrinsics, name)) throw this.#rejected(`${name} is not an intrinsic function`);
    this.#expect("(");
    const list: Argument[] = [];
    if (!this.#take(")")) {
      do list.push(this.#argument());
      while (this.#take(","));
      this.#expect(")");
    }
    return { text: this.#text.slice(start, this.#position), name, arguments: list };
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#position < this.#text.length) throw this.#rejected(`unexpected text at ${this.#position}`);
  }

  #argument(): Argument {
    this.#skipSpace();
    const string = this.#match(STRING);
    if (string) return { kind: "literal", value: unescapeLiteral(string[1] as string) };
    const path = this.#match(PATH);
    if (path) return { kind: "path", path: path[0] };
    const constant = this.#match(WORD) ?? this.#match(NUMBER);
    if (constant) return { kind: "literal", value: JSON.parse(constant[0]) };
    return { kind: "call", call: this.call() };
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw this.#rejected(`"${token}" is expected at ${this.#position}`);
  }

  #take(token: string): boolean {
    this.#skipSpace();
    if (!this.#text.startsWith(token, this.#position)) return false;
    this.#position += token.length;
    return true;
  }

  #skipSpace(): void {
    while (this.#text[this.#position] === " ") this.#position++;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.#text);
    if (match) this.#position = pattern.lastIndex;
    return match;
  }

  #rejected(reason: string): DefinitionRejected {
    return new DefinitionRejected(this.#at, `Intrinsic function "${this.#text}": ${reason}`);
  }
}

/** `\{` and `\}` stay as they are: only `States.Format` gives braces a meaning, and it unescapes them itself. */
function unescapeLiteral(text: string): string {
  return text.replace(/\\([^{}])/g, "$1");
}
