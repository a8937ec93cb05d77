import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

export const root = normalize(join(import.meta.dirname, "../.."));

export interface SourceFile {
  /** Path relative to the project's root. */
  path: string;
  lines: number;
  text: string;
  /** The specifiers of imported modules, as the file has them. */
  specifiers: string[];
  /** The project's files that this file imports by relative path, or starts as a thread or a process. */
  files: string[];
  /**
   * The paths in strings of this file that name files or folders of the project. A path in a string is relative to the
   * file, or starts at the root (`packages/...`).
   */
  places: string[];
}

/** Returns every TypeScript file in these folders and files, with its imports (types included). */
export function sourceFiles(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) => {
    if (folder.endsWith(".ts")) return [readSource(folder)];
    return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !/node_modules|\/dist/.test(name) && !name.endsWith(".d.ts"))
      .map((name) => readSource(join(folder, name)));
  });
}

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s(?:[^;"']*?\sfrom\s)?["']([^"']+)["']|import(?:\.meta\.resolve)?\(\s*["']([^"']+)["']\s*\)/g;

/** Matches `new URL("./worker.ts", import.meta.url)`. */
const startedPattern = /new URL\(\s*"(\.[^"]*\.tsx?)",\s*import\.meta\.url/g;

/**
 * Matches relative paths: `".."`, `"../../x"` and `${import.meta.dirname}/../x`. In a template, a match ends before the
 * next inserted value.
 */
const relativePattern = /(?:["'`]\/?|import\.meta\.dirname\}\/)(\.{1,2}(?:\/[^"'`\s$]*)?)(?=["'`$])/g;

/** Matches `join(import.meta.dirname, "..", "..", "x")`. */
const joinedPattern = /import\.meta\.dirname((?:,\s*["'`][^"'`$]*["'`])+)/g;

const rootedPattern = /["'`](?:\.\/)?((?:packages|functions|stacks)\/[^"'`\s$]+)/g;

/** Finds all modules, files and paths that the text of a source file names. */
export function readText(path: string, text: string): SourceFile {
  const here = (place: string) => relative(root, join(root, dirname(path), place));
  const specifiers = Array.from(text.matchAll(importPattern), (match) => (match[1] ?? match[2]) as string);
  const started = Array.from(text.matchAll(startedPattern), (match) => match[1] as string);
  const code = text.replaceAll(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, "");
  const joined = Array.from(code.matchAll(joinedPattern), ([, parts = ""]) => {
    return join(...Array.from(parts.matchAll(/["'`]([^"'`]*)["'`]/g), (match) => match[1] as string));
  });
  return {
    path,
    text,
    lines: text.split("\n").length,
    specifiers,
    files: [...specifiers.filter((specifier) => specifier.startsWith(".")), ...started].map(here),
    places: [
      ...[...Array.from(code.matchAll(relativePattern), (match) => match[1] as string), ...joined].map(here),
      ...Array.from(code.matchAll(rootedPattern), (match) => normalize(match[1] as string)),
    ],
  };
}

function readSource(path: string): SourceFile {
  return readText(path, readFileSync(join(root, path), "utf8"));
}

/** Returns the folder of the package to which a path belongs: `packages/<name>`, `functions` or `stacks`. */
export function packageFolder(path: string): string {
  const [first = "", second = ""] = path.split("/");
  if (first === "sst.config.ts") return "stacks";
  return first === "packages" ? `${first}/${second}` : first;
}

/**
 * Finds pairs of folders of one package whose files import each other, and returns the imports in both directions.
 * Files in nested folders count, too.
 */
export function mutualFolders(files: SourceFile[]): { folders: [string, string]; imports: string[] }[] {
  const arrows = new Map<string, string[]>();
  for (const { path, files: targets } of files) {
    for (const target of targets) {
      const pair = siblings(path, target);
      if (!pair) continue;
      const key = pair.join(" > ");
      arrows.set(key, [...(arrows.get(key) ?? []), `${path} -> ${target}`]);
    }
  }
  return Array.from(arrows.keys(), (key) => key.split(" > ") as [string, string])
    .filter(([from, to]) => from < to && arrows.has(`${to} > ${from}`))
    .map(([from, to]) => {
      const imports = [...(arrows.get(`${from} > ${to}`) ?? []), ...(arrows.get(`${to} > ${from}`) ?? [])];
      return { folders: [from, to], imports };
    });
}

/**
 * Returns two neighbouring folders in one package: one contains the first file, and the other contains the second file.
 * Undefined if the two folders are not neighbours, because one file is in the same folder as the other, or in a folder
 * above it.
 */
function siblings(a: string, b: string): [string, string] | undefined {
  if (packageFolder(a) !== packageFolder(b)) return undefined;
  const [one, other] = [a.split("/"), b.split("/")];
  const shared = one.findIndex((name, index) => name !== other[index]);
  if (shared < 0 || shared >= one.length - 1 || shared >= other.length - 1) return undefined;
  return [one.slice(0, shared + 1).join("/"), other.slice(0, shared + 1).join("/")];
}

const exportedFunction =
  /^export (?:async )?function\*? (\w+)|^export const (\w+)(?:: [^=]+)? = (?:async )?(?:<[^>]*>)?\([^)]*\)[^=;]* =>/gm;

/** Lists each function name that more than one file of a package exports, as `engine outcomeOf: <paths>`. */
export function sharedFunctionNames(files: SourceFile[]): string[] {
  const pathsByName = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    for (const [, declared, assigned] of text.matchAll(exportedFunction)) {
      const key = `${packageFolder(path).replace("packages/", "")} ${declared ?? assigned}`;
      pathsByName.set(key, (pathsByName.get(key) ?? new Set()).add(path));
    }
  }
  return Array.from(pathsByName, ([key, paths]) => ({ key, paths: [...paths] }))
    .filter(({ paths }) => paths.length > 1)
    .map(({ key, paths }) => `${key}: ${paths.join(", ")}`);
}

/** Returns the first import cycle as a list of paths that ends with its first path. */
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
