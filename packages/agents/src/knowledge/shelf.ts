import { readFileSync } from "node:fs";

/**
 * The folder of guides and shipped docstrings. Guides and docstrings are files and not modules, so that only bundles of
 * Lambdas that write code contain them. A bundler copies the folder next to the bundle.
 */
const shelf = new URL("./shelf/", import.meta.url);

export function readFromShelf(path: string): string {
  return readFileSync(new URL(path, shelf), "utf8");
}

/** The folder that this module reads. A bundler copies it from `from`, in this package, to `to`, relative to the bundle. */
export const carried = { readBy: "src/knowledge/shelf.ts", from: "src/knowledge/shelf", to: "shelf" };
