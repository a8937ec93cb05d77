import { DefinitionRejected } from "../failure.ts";

/** One step of a JSONPath. A path of `key` and `index` steps alone is definite: it names one place. */
export type Step =
  | { kind: "key"; key: string }
  | { kind: "index"; index: number }
  | { kind: "union"; steps: Step[] }
  | { kind: "slice"; from: number | undefined; to: number | undefined }
  | { kind: "wildcard" }
  | { kind: "descend" };

export interface ParsedPath {
  text: string;
  /** `$$` reads the context object, `$` the data. */
  root: "data" | "context";
  steps: Step[];
}

const NAME = /[^.[\]()?*,:'"\s$@&|=<>!]+/y;
const QUOTED = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/y;
const INTEGER = /-?\d+/y;

/** @throws DefinitionRejected when the text is not a JSONPath that the interpreter knows. */
export function parsePath(text: string, at: string): ParsedPath {
  const root = text.startsWith("$$") ? "context" : "data";
  if (!text.startsWith("$")) throw new DefinitionRejected(at, `"${text}" is not a JSONPath: it must start with "$"`);
  return { text, root, steps: new PathReader(text, root === "context" ? 2 : 1, at).steps() };
}

class PathReader {
  readonly #text: string;
  readonly #at: string;
  #position: number;

  constructor(text: string, position: number, at: string) {
    this.#text = text;
    this.#position = position;
    this.#at = at;
  }

  steps(): Step[] {
    const steps: Step[] = [];
    while (this.#position < this.#text.length) {
      if (this.#take("..")) {
        steps.push({ kind: "descend" }, this.#peek() === "[" ? this.#bracket() : this.#member());
      } else if (this.#take(".")) steps.push(this.#member());
      else steps.push(this.#bracket());
    }
    return steps;
  }

  #member(): Step {
    if (this.#take("*")) return { kind: "wildcard" };
    const name = this.#match(NAME)?.[0];
    if (name === undefined) throw this.#unexpected();
    if (this.#peek() === "(") {
      throw this.#rejected(`functions such as .${name}() are not supported: use an intrinsic function`);
    }
    return { kind: "key", key: name };
  }

  #bracket(): Step {
    if (!this.#take("[")) throw this.#unexpected();
    if (this.#take("?")) throw this.#rejected("filter expressions [?(...)] are not supported locally");
    const step = this.#take("*") ? { kind: "wildcard" as const } : this.#selection();
    if (!this.#take("]")) throw this.#unexpected();
    return step;
  }

  #selection(): Step {
    const from = this.#match(INTEGER)?.[0];
    if (this.#take(":")) return { kind: "slice", from: toNumber(from), to: toNumber(this.#match(INTEGER)?.[0]) };
    const steps = [from === undefined ? this.#quoted() : { kind: "index" as const, index: Number(from) }];
    while (this.#take(",")) {
      this.#skipSpace();
      const index = this.#match(INTEGER)?.[0];
      steps.push(index === undefined ? this.#quoted() : { kind: "index", index: Number(index) });
    }
    return steps.length === 1 ? (steps[0] as Step) : { kind: "union", steps };
  }

  #quoted(): Step {
    const match = this.#match(QUOTED);
    if (!match) throw this.#unexpected();
    return { kind: "key", key: (match[1] ?? match[2] ?? "").replace(/\\(.)/g, "$1") };
  }

  #skipSpace(): void {
    while (this.#take(" "));
  }

  #peek(): string | undefined {
    return this.#text[this.#position];
  }

  #take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#position)) return false;
    this.#position += token.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.#text);
    if (match) this.#position = pattern.lastIndex;
    return match;
  }

  #unexpected(): DefinitionRejected {
    const found = this.#peek();
    return this.#rejected(`unexpected ${found === undefined ? "end" : `"${found}" at ${this.#position}`}`);
  }

  #rejected(reason: string): DefinitionRejected {
    return new DefinitionRejected(this.#at, `JSONPath "${this.#text}": ${reason}`);
  }
}

function toNumber(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits);
}
