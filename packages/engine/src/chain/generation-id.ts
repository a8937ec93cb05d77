/** The fields that distinguish the generations of a node. */
export type Identified = { key: string; codeHash: string };

/**
 * Id of a generation among those of a node, as heads and turns name it. The key alone is not enough: code that failed and
 * the code that replaced it were written for the same thing.
 */
export function generationId({ key, codeHash }: Identified): string {
  return `${key}.${codeHash.slice(0, 16)}`;
}
