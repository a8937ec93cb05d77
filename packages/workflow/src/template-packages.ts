import { createHash } from "node:crypto";

/** What every sandbox has, in E2B as on a laptop: the module that code imports, and its package for pip and for Debian. */
export const promisedPackages = [
  { module: "fitz", pip: "pymupdf", debian: "python3-fitz" },
  { module: "pandas", pip: "pandas", debian: "python3-pandas" },
  { module: "requests", pip: "requests", debian: "python3-requests" },
  { module: "PIL", pip: "pillow", debian: "python3-pil" },
  { module: "psycopg", pip: "psycopg[binary]", debian: "python3-psycopg" },
] as const;

/** Lines for pip: what node code may import anywhere. */
export const templatePackages: readonly string[] = promisedPackages.map(({ pip }) => pip);

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
