import { readFileSync } from "node:fs";

/** Marks the start of a page in llms-full.txt. */
export const pageMark = (path: string) => `<!-- ${path} -->`;

export interface Page {
  path: string;
  title: string;
  text: string;
}

let pages: Map<string, Page> | undefined;

/** Returns the pages of the documentation by their names: `definition` for docs/definition.md. */
export function readPages(): ReadonlyMap<string, Page> {
  pages ??= new Map(splitPages(llmsFull()).map((page) => [page.path.replace(/^docs\/|\.md$/g, ""), page]));
  return pages;
}

export function llmsFull(): string {
  return readFileSync(new URL("../llms-full.txt", import.meta.url), "utf8");
}

export function llmsIndex(): string {
  return readFileSync(new URL("../llms.txt", import.meta.url), "utf8");
}

/** Splits llms-full.txt into its pages. */
export function splitPages(whole: string): Page[] {
  const parts = whole.split(/^<!-- (docs\/[\w-]+\.md) -->\n/m).slice(1);
  return parts.flatMap((path, index) => {
    const text = parts[index + 1];
    if (index % 2 === 1 || text === undefined) return [];
    return [{ path, title: /^# (.+)$/m.exec(text)?.[1] ?? path, text: text.trim() }];
  });
}
