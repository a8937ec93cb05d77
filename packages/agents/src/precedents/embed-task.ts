/** `Models.embed`: null where no embedding model is set. */
export type Embed = (texts: string[]) => Promise<number[][]> | null;

/** Embedding models read some 8,000 tokens. */
const longestTask = 8_000;

/**
 * The embedding of a task's text, short enough to lie beside its code; null where there is none. Examples are a help, not
 * a need: a server that cannot embed must not keep a node from being written.
 */
export async function embedTask(prompt: string, embed: Embed): Promise<number[] | null> {
  const vectors = await embed([prompt.slice(0, longestTask)])?.catch(() => null);
  // Four digits keep the order of cosines and make 1,536 numbers 10 KB.
  return vectors?.[0]?.map((value) => Math.round(value * 10_000) / 10_000) ?? null;
}
