/** The fields that distinguish the generations of a node. */
export type Identified = { key: string; codeHash: string };

/**
 * Returns the id of a generation of a node, as heads and turns store it. The key alone is not enough: code that failed
 * and its replacement have the same key.
 */
export function generationId({ key, codeHash }: Identified): string {
  return `${key}.${codeHash.slice(0, 16)}`;
}
