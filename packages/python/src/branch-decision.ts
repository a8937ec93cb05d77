/**
 * Whether the code of a decision can set `branch_decision`. False only where it is certain: nothing says the name, the
 * context is only used with keys that stand there in plain letters, and nothing prints a result or runs made-up code.
 */
export function setsBranchDecision(source: string, lib: Record<string, string> = {}): boolean {
  const code = withoutComments(source);
  if (code.includes("branch_decision")) return true;
  const elsewhere = Object.values(lib).some((module) => /branch_decision|dump/.test(module));
  return elsewhere || escapes.test(code) || usesContextFreely(code);
}

/** Ways to a result, or to the context, that a reader of the text cannot follow. */
export const escapes =
  /dump|\b(exec|eval|compile|globals|locals|vars|getattr|import_module|__import__|__main__|_getframe|inspect)\b|import\s*\*/;

/** `context["key"]`, `context.get("key")`, `"key" in context`: the key is known. */
const plainUse = /\bcontext\s*(\[\s*(["'])[^"'\\{]*\2\s*\]|\.get\()|\b(in)\s+context\b(?!\s*[.[(])/g;

function usesContextFreely(code: string): boolean {
  return /\bcontext\b/.test(code.replace(plainUse, ""));
}

/** Without whole lines of comment; a `#` behind code may be inside of a text, so it stays. */
function withoutComments(source: string): string {
  return source.replace(/^[ \t]*#.*$/gm, "");
}
