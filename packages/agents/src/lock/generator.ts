import hashes from "./guide-hashes.json" with { type: "json" };

/** The pipeline's part of the ingredients of a generation. */
export interface Generator {
  /** Raised when prompts, checks or agents change so much that other code would be written. */
  version: string;
  /** Settings of requests to the code generator's model. */
  settings: string;
  /** SHA-256 of a guide's text; undefined if the guide no longer exists. */
  guideHash(name: string): string | undefined;
}

/**
 * Packages of every sandbox template. The ingredients name packages instead of a template id, because ids differ
 * between a laptop and an account, and locked code must run in both. A test compares this list with the template's own.
 */
export const baseTemplate = "pillow, psycopg[binary], pymupdf, pandas, requests";

/**
 * SHA-256 of every guide's text. A separate file holds the hashes, because frozen deployments compare guides but do not
 * contain them. A test compares the hashes with the guides.
 */
export const guideHashes: Readonly<Record<string, string>> = hashes;

/**
 * The current pipeline. Raise `version` when agents, prompts or checks change so much that code should be written
 * again. Every lock file is then stale, and every frozen deployment stops. Requests use the model's default settings.
 */
export const currentGenerator: Generator = {
  version: "1",
  settings: "default",
  guideHash: (name) => (Object.hasOwn(guideHashes, name) ? guideHashes[name] : undefined),
};
