import type { BlobRef, RunRequest } from "@nova/engine";

const pattern = /\{\s*"\$blob"\s*:\s*(\{[^{}]*\})\s*\}/g;

/** Blobs of the keys that the code names in quotes: it will most likely ask for them. */
export function namedBlobs({ context, code }: RunRequest): BlobRef[] {
  return context.flatMap(({ key, json }) => {
    if (!json.includes('"$blob"')) return [];
    const isNamed = code.includes(JSON.stringify(key)) || code.includes(`'${key}'`);
    return isNamed ? referencesIn(json) : [];
  });
}

/** Hashes of everything in the input's own texts: these are stored already. */
export function inputHashes({ context }: RunRequest): Set<string> {
  return new Set(context.flatMap(({ json }) => referencesIn(json)).map(({ sha256 }) => sha256));
}

function referencesIn(json: string): BlobRef[] {
  if (!json.includes('"$blob"')) return [];
  return Array.from(json.matchAll(pattern), (match) => JSON.parse(match[1] as string) as BlobRef);
}
