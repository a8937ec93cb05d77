import words from "./reserved-words.json" with { type: "json" };

/** Amazon DynamoDB Developer Guide, "Reserved words in DynamoDB". */
const reserved = new Set(words);

/** In any case; only a placeholder can name such an attribute. */
export function isReserved(name: string): boolean {
  return reserved.has(name.toUpperCase());
}
