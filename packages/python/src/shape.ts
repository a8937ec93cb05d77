/** What is known of a value of the context without reading it. Sizes: characters of a string, bytes, items, keys. */
export interface ValueShape {
  type: "null" | "boolean" | "integer" | "number" | "string" | "bytes" | "list" | "object";
  size?: number;
  /** Of a list: its first item, where there is one. */
  item?: ValueShape;
  /** Of an object: its members, as far as they are known; absent where nothing is (a large value). */
  members?: Readonly<Record<string, ValueShape>>;
}

/** The top-level keys of a context. */
export type ContextShape = Readonly<Record<string, ValueShape>>;
