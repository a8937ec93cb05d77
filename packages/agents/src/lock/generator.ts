import hashes from "./guide-hashes.json" with { type: "json" };

/** What a generation depends on besides the workflow: the pipeline as it is today. */
export interface Generator {
  /** Changes when prompts, checks or agents change so that other code would be written. */
  version: string;
  /** What every request to the model that writes code asks for, besides its id. */
  settings: string;
  /** SHA-256 of a guide's text; undefined where there is no such guide any more. */
  guideHash(name: string): string | undefined;
}

/**
 * What every sandbox has, whatever it is called where it runs: ids of templates differ between a laptop and an account,
 * and code that was locked here is to run there. A test compares it with the template's own list.
 */
export const baseTemplate = "pillow, psycopg[binary], pymupdf, pandas, requests";

/**
 * SHA-256 of the text of every guide. In a file of its own, and not read from the shelf: what is frozen asks which guides have
 * changed since, and may be deployed without them. A test compares it with the shelf.
 */
export const guideHashes: Readonly<Record<string, string>> = hashes;

/**
 * This release's. Raise `version` when agents, prompts or checks change so much that code should be written again: every
 * lock file is stale then, and every frozen deployment stops. Requests ask for nothing but the model's own defaults.
 */
export const currentGenerator: Generator = {
  version: "1",
  settings: "default",
  guideHash: (name) => (Object.hasOwn(guideHashes, name) ? guideHashes[name] : undefined),
};
