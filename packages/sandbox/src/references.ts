import { type BlobRef, type RunRequest, referenceKey, referencesIn } from "@nova/engine";

/** Blobs of the keys that the code names in quotes: it will most likely ask for them. */
export function namedBlobs({ context, code }: RunRequest): BlobRef[] {
  return context.flatMap(({ key, json }) => {
    if (!json.includes('"$blob"')) return [];
    const isNamed = code.includes(JSON.stringify(key)) || code.includes(`'${key}'`);
    return isNamed ? referencesIn(json) : [];
  });
}

/** Keys of all references in the input's own texts: what they name is stored already, as what they say. */
export function inputReferences({ context }: RunRequest): Set<string> {
  return new Set(context.flatMap(({ json }) => referencesIn(json)).map(referenceKey));
}
