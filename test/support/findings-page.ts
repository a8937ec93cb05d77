import { readFileSync } from "node:fs";

export interface Explained {
  severity: "error" | "warning";
  bad: string;
  good: string;
}

const section =
  /^### (\w+): [^\n]+?(?<warning> \(warning\))?\n\n[^#][^\n]*\n\n```\w*\n# wrong\n(?<bad>.*?)\n# right\n(?<good>.*?)\n```$/gms;

/** Returns the codes of findings that a page of docs/ explains, with their explanations, in the order of the page. */
export function explainedIn(page: string): [code: string, explained: Explained][] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
  return Array.from(text.matchAll(section), ({ 1: code = "", groups = {} }) => {
    const { warning, bad = "", good = "" } = groups;
    return [code, { severity: warning ? "warning" : "error", bad, good }];
  });
}

/** Returns the severity of every code that the page explains. */
export function severitiesIn(page: string): Record<string, string> {
  return Object.fromEntries(explainedIn(page).map(([code, { severity }]) => [code, severity]));
}
