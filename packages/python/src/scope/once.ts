/**
 * Caches the answer of `find` for each question. A question that depends on itself, or is nested more than `deepest`
 * levels, has no answer.
 */
export function once<Question, Answer>(
  find: (question: Question) => Answer | undefined,
  deepest = Number.POSITIVE_INFINITY,
): (question: Question) => Answer | undefined {
  const known = new Map<Question, Answer | undefined>();
  let depth = 0;
  return (question) => {
    if (known.has(question) || depth > deepest) return known.get(question);
    known.set(question, undefined);
    depth++;
    const answer = find(question);
    depth--;
    known.set(question, answer);
    return answer;
  };
}
