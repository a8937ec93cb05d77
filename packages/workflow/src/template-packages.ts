import { createHash } from "node:crypto";

/**
 * What every sandbox has, in E2B as on a laptop: the module that code imports, its package for pip and for Debian, and the
 * first major version that it is not. pymupdf 2 brings a runtime for neural networks: 80 MB in every process.
 */
export const promisedPackages = [
  { module: "fitz", pip: "pymupdf", below: 2, debian: "python3-fitz" },
  { module: "pandas", pip: "pandas", below: 4, debian: "python3-pandas" },
  { module: "requests", pip: "requests", below: 3, debian: "python3-requests" },
  { module: "PIL", pip: "pillow", below: 14, debian: "python3-pil" },
  { module: "psycopg", pip: "psycopg[binary]", below: 4, debian: "python3-psycopg" },
] as const;

/** Packages for pip: what node code may import anywhere. */
export const templatePackages: readonly string[] = promisedPackages.map(({ pip }) => pip);

/** The line by which pip installs a promised package. */
export function pipLine({ pip, below }: Pick<(typeof promisedPackages)[number], "pip" | "below">): string {
  return `${pip}<${below}`;
}

/** Lines for pip of a template: a requirement takes the place of the promised package that it names. */
export function templateLines(requirements: readonly string[]): string[] {
  const named = new Set(requirements.map(packageName));
  return [...promisedPackages.filter(({ pip }) => !named.has(packageName(pip))).map(pipLine), ...requirements];
}

/** As PyPI compares names. */
function packageName(line: string): string {
  const [name = ""] = /^[a-z\d._-]+/.exec(line.trim().toLowerCase()) ?? [];
  return name.replace(/[._-]+/g, "-");
}

/** Modules by which code gets at them; numpy comes with pandas. */
const modules = [...promisedPackages.map(({ module }) => module), "pymupdf", "numpy"];
const anyModule = new RegExp(`\\b(?:${modules.join("|")})\\b`);

/** Whether code may import one of the promised packages: its text names one. */
export function namesPackages(code: string): boolean {
  return anyModule.test(code);
}

/** Name of the sandbox template that has these pip lines; the same lines are the same template. */
export function templateName(requirements: readonly string[]): string {
  const lines = requirements.map((line) => line.trim()).sort();
  return `nova-${createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 12)}`;
}
