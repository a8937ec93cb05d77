/**
 * Texts by name, the ones that were asked for last; together at most so long. What one costs does not grow with their
 * number.
 */
export class PageCache {
  readonly #texts = new Map<string, string>();
  readonly #longest: number;
  #length = 0;

  constructor(longest: number) {
    this.#longest = longest;
  }

  get(name: string): string | undefined {
    const text = this.#texts.get(name);
    if (text !== undefined) this.set(name, text);
    return text;
  }

  set(name: string, text: string): void {
    this.#forget(name);
    this.#texts.set(name, text);
    this.#length += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#length <= this.#longest) break;
      this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    this.#length -= this.#texts.get(name)?.length ?? 0;
    this.#texts.delete(name);
  }
}
