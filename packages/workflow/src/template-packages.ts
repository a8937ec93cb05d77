import { createHash } from "node:crypto";

/**
 * The packages of every sandbox. `below` is the first version that is excluded: pymupdf 2 takes 80 MB more in every
 * process.
 */
export const promisedPackages = [
  { module: "fitz", pip: "pymupdf", below: 2, debian: "python3-fitz" },
  { module: "pandas", pip: "pandas", below: 4, debian: "python3-pandas" },
  { module: "requests", pip: "requests", below: 3, debian: "python3-requests" },
  { module: "PIL", pip: "pillow", below: 14, debian: "python3-pil" },
  { module: "psycopg", pip: "psycopg[binary]", below: 4, debian: "python3-psycopg" },
] as const;

export const templatePackages: readonly string[] = promisedPackages.map(({ pip }) => pip);

export function pipLine({ pip, below }: Pick<(typeof promisedPackages)[number], "pip" | "below">): string {
  return `${pip}<${below}`;
}

/** Returns the lines for pip of a sandbox template. A requirement replaces the promised package of the same name. */
export function templateLines(requirements: readonly string[]): string[] {
  const named = new Set(requirements.map(packageName));
  return [...promisedPackages.filter(({ pip }) => !named.has(packageName(pip))).map(pipLine), ...requirements];
}

/** Normalises a name as PyPI does. */
function packageName(line: string): string {
  const [name = ""] = /^[a-z\d._-]+/.exec(line.trim().toLowerCase()) ?? [];
  return name.replace(/[._-]+/g, "-");
}

/** The modules that the packages provide. numpy is installed with pandas. */
const modules = [...promisedPackages.map(({ module }) => module), "pymupdf", "numpy"];
/** Modules of the standard library that are large. A process from which sandboxes are forked is faster without them. */
const largeModules = [
  ...["asyncio", "concurrent", "email", "ftplib", "html", "http", "imaplib", "poplib", "pprint", "smtplib", "sqlite3"],
  ...["ssl", "urllib.request", "urllib +import\\b[^#\\n]{0,100}\\brequest", "xml", "xmlrpc", "zipfile"],
];
const anyPackage = new RegExp(`\\b(?:${modules.join("|")})\\b`);
const anyLargeImport = new RegExp(`^[ \\t]*(?:import|from)\\b[^#\\n]*\\b(?:${largeModules.join("|")})\\b`, "m");

/** Returns whether code seems to import packages of the template or large modules of the standard library. */
export function namesLargeModules(code: string): boolean {
  return anyPackage.test(code) || anyLargeImport.test(code);
}

/**
 * Returns the name of the sandbox template with these requirements. The same requirements, in any order, give the same
 * name.
 */
export function templateName(requirements: readonly string[]): string {
  const lines = requirements.map((line) => line.trim()).sort();
  return `nova-${createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 12)}`;
}
