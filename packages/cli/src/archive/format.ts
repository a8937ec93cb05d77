/**
 * A folder with everything that NOVA has stored, or all of one client: `items.ndjson` (a record a line), `objects/` with
 * the objects by their keys, `objects.ndjson` (what they are), `secrets.json` (of a whole local cloud), and this file,
 * written last: a folder without it is half an export.
 */
export interface Manifest {
  format: 1;
  /** Null: everything. */
  client: string | null;
  /** ISO 8601. */
  at: string;
  items: number;
  objects: number;
  /** Of all items and objects, in their order. Absent where an earlier release wrote it. */
  digest?: string;
  /** Signs client and digest, with the key of the deployment that was exported. Absent where none was at hand. */
  seal?: string;
}

export const files = {
  manifest: "nova-export.json",
  items: "items.ndjson",
  objects: "objects.ndjson",
  secrets: "secrets.json",
} as const;

export interface StoredObject {
  key: string;
  bytes: number;
  sha256: string;
}

/** What may be the key of an object, and so a path below `objects/`. */
export const objectKey = /^(blobs|workflows)(\/(?!\.\.?(\/|$))[\w.-]+)+$/;
