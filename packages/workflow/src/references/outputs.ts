/** What nodes have brought, by node and key, in the order in which they ran; `outputs` of Python code is the same. */
export class Outputs {
  readonly #byNode: ReadonlyMap<string, ReadonlyMap<string, unknown>>;

  constructor(outputs: Readonly<Record<string, Readonly<Record<string, unknown>>>>) {
    const entries = Object.entries(outputs);
    this.#byNode = new Map(entries.map(([node, results]) => [node, new Map(Object.entries(results))]));
  }

  /** All that a node has brought, or one key of it; undefined where there is nothing. */
  get(node: string): Record<string, unknown> | undefined;
  get(node: string, key: string): unknown;
  get(node: string, key?: string): unknown {
    const results = this.#byNode.get(node);
    return key === undefined ? results && Object.fromEntries(results) : results?.get(key);
  }

  /** The value of the first node that has the key. */
  getByKey(key: string): unknown {
    return this.#byNode
      .values()
      .find((results) => results.has(key))
      ?.get(key);
  }

  /** Everything by key: of several nodes that have one, the last. */
  getFlattened(): Record<string, unknown> {
    return Object.fromEntries([...this.#byNode.values()].flatMap((results) => [...results]));
  }

  /** The same by `node:key`: nothing is lost. */
  getAllData(): Record<string, unknown> {
    const all = [...this.#byNode].flatMap(([node, results]) =>
      Array.from(results, ([key, value]) => [`${node}:${key}`, value] as const),
    );
    return Object.fromEntries(all);
  }
}
