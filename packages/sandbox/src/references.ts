import { type BlobRef, type RunRequest, referenceKey, referencesIn } from "@nova/engine";

/** Blobs of the context keys that the code contains in quotes, which it will most likely read. */
export function namedBlobs({ context, code }: RunRequest): BlobRef[] {
  return context.flatMap(({ key, json }) => {
    if (!json.includes('"$blob"')) return [];
    const isNamed = code.includes(JSON.stringify(key)) || code.includes(`'${key}'`);
    return isNamed ? referencesIn(json) : [];
  });
}

/** Keys of all references in the input. Their blobs are stored already. */
export function inputReferences({ context }: RunRequest): Set<string> {
  return new Set(context.flatMap(({ json }) => referencesIn(json)).map(referenceKey));
}
