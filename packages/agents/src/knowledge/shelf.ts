import { readFileSync } from "node:fs";

/**
 * The guides and the shipped docstrings: files, so that a Lambda that writes no code does not carry them in its bundle.
 * Who bundles this module copies the folder `shelf/` beside the bundle.
 */
const shelf = new URL("./shelf/", import.meta.url);

export function readFromShelf(path: string): string {
  return readFileSync(new URL(path, shelf), "utf8");
}
