/** Of the angle between two vectors, -1 to 1; 0 where they cannot be compared: other lengths are other models' vectors. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return 0;
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (const [place, value] of a.entries()) {
    const other = b[place] as number;
    dot += value * other;
    squaresA += value * value;
    squaresB += other * other;
  }
  const lengths = Math.sqrt(squaresA * squaresB);
  return lengths === 0 ? 0 : dot / lengths;
}
