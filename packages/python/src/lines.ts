/** A position. Line and column count from 1. Columns count UTF-16 units, as editors do. */
export interface LineColumn {
  line: number;
  column: number;
}

/** Converts between offsets and lines with columns, and finds the lines that silence findings. */
export class Lines {
  readonly #starts = [0];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
    for (const { index, 0: end } of source.matchAll(/\r\n|\r|\n/g)) this.#starts.push(index + end.length);
  }

  placeOf(offset: number): LineColumn {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#starts[low] as number) + 1 };
  }

  offsetOf(line: number, column: number): number {
    return (this.#starts[line - 1] ?? 0) + column - 1;
  }

  /** Returns whether the line has a bare `# noqa`, or one that names this code: `# noqa: PY110`. */
  isSilenced(line: number, code: string): boolean {
    const text = this.#source.slice(this.#starts[line - 1], this.#starts[line]);
    const [found, codes] = /#\s*noqa\b(?::\s*([A-Z0-9, ]+))?/i.exec(text) ?? [];
    const listed = codes?.toUpperCase().split(/[,\s]+/);
    return found !== undefined && (listed === undefined || listed.includes(code));
  }
}

export function firstBy<T>(items: readonly T[], keyOf: (item: T) => unknown): T[] {
  return Array.from(Map.groupBy(items, keyOf).values(), ([first]) => first as T);
}
