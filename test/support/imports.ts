import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

export const root = normalize(join(import.meta.dirname, "../.."));

export interface SourceFile {
  /** Relative to the project's root. */
  path: string;
  lines: number;
  text: string;
  /** Module specifiers as written. */
  specifiers: string[];
  /** Files of the project that it imports by relative path. */
  files: string[];
}

/** Every TypeScript file below these folders, and those named, with what it imports (types included). */
export function sourceFiles(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) => {
    if (folder.endsWith(".ts")) return [readSource(folder)];
    return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.includes("node_modules") && !name.endsWith(".d.ts"))
      .map((name) => readSource(join(folder, name)));
  });
}

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s(?:[^;"']*?\sfrom\s)?["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)/g;

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), "utf8");
  const specifiers = Array.from(text.matchAll(importPattern), (match) => (match[1] ?? match[2]) as string);
  const files = specifiers
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => relative(root, join(root, dirname(path), specifier)));
  return { path, text, lines: text.split("\n").length, specifiers, files };
}

/** The first cycle among these files, as a path that ends where it began. */
export function findCycle(files: SourceFile[]): string[] | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    done.add(path);
    for (const next of byPath.get(path)?.files ?? []) {
      const cycle = visit(next, [...trail, path]);
      if (cycle) return cycle;
    }
    return undefined;
  };
  for (const { path } of files) {
    const cycle = visit(path, []);
    if (cycle) return cycle;
  }
  return undefined;
}
