/** What stores of versions answer: ids behind another one, in order, each once. */
export async function* idsBehind(names: Iterable<{ workflowId: string }>, after = ""): AsyncGenerator<string> {
  const ids = Array.from(names, ({ workflowId }) => workflowId);
  yield* [...new Set(ids)].filter((id) => id > after).sort();
}
