/** So few are compared faster than they are hashed. */
const fewNames = 8;

/** The names of one object, each once. */
export class Names {
  readonly #few: string[] = [];
  #many: Set<string> | undefined;

  /** False where it is there. */
  add(name: string): boolean {
    if (this.#many) return this.#many.size < this.#many.add(name).size;
    if (this.#few.includes(name)) return false;
    if (this.#few.push(name) > fewNames) this.#many = new Set(this.#few);
    return true;
  }
}
