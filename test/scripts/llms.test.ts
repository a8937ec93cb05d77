import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { splitPages } from "../../packages/mcp/src/pages.ts";
import { buildLlms, indexFile } from "../../scripts/llms.ts";
import { root } from "../support/imports.ts";

it("llms.txt is up to date with docs/README.md (npm run llms)", () => {
  expect(readFileSync(indexFile, "utf8")).toBe(buildLlms().index);
});

it("llms.txt is at the root of the project, where agents look for it", () => {
  expect(realpathSync(join(root, "llms.txt"))).toBe(indexFile);
});

it("llms-full.txt has every page that llms.txt names, as it is in docs", () => {
  const { index, full } = buildLlms();
  const pages = splitPages(full);
  const named = Array.from(index.matchAll(/^- \[[\w.-]+\]\((docs\/[\w-]+\.md)\)/gm), ([, path]) => path);
  expect(pages.map(({ path }) => path)).toEqual(named);
  expect(named).toEqual(expect.arrayContaining(["docs/definition.md", "docs/python.md", "docs/mcp.md"]));
  for (const { path, text } of pages) expect(text).toBe(readFileSync(join(root, path), "utf8").trim());
});
