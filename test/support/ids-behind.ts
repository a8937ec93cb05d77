/** Yields the workflow ids that sort after `after`, each once and in order, as version stores do. */
export async function* idsBehind(names: Iterable<{ workflowId: string }>, after = ""): AsyncGenerator<string> {
  const ids = Array.from(names, ({ workflowId }) => workflowId);
  yield* [...new Set(ids)].filter((id) => id > after).sort();
}
