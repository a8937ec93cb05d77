import { linesOf } from "../json/scan.ts";

/** What a reader of the text can say for certain about the keys that a piece of Python sets and reads. */
export interface ContextUse {
  /** Keys that `context["key"] = ...` sets in some runs. */
  writes: ReadonlySet<string>;
  /** Keys that are set in every run of the code that succeeds. */
  alwaysWrites: ReadonlySet<string>;
  /** Whether it reads the key, or may: it hands `context` on, computes keys, or does what no reader can follow. */
  reads(key: string): boolean;
  /** Keys that it takes away, or may. */
  deletes: ReadonlySet<string>;
  /** Where the key is first set. */
  placeOf(key: string): { line: number; column: number };
}

const assignment = /^([ \t]*)context\[[ \t]*(["'])([^"'\\{]+)\2[ \t]*\][ \t]*=(?!=)/gm;

/** `context["key"]`, `context.get("key")`, `in context`: all that leaves no doubt about the key. */
const plainUse =
  /\bcontext[ \t]*(\[[ \t]*(["'])[^"'\\{]+\2[ \t]*\]|\.get\([ \t]*(["'])[^"'\\{]+\3[ \t]*[,)])|\bin[ \t]+context\b(?![ \t]*[.[(])/g;

const deletion = /\b(?:del[ \t]+context[ \t]*\[|context\.pop\()[ \t]*(["'])([^"'\\{]+)\1/g;

/** Code in which a line may be text, may not be reached, or may be made while it runs. */
const unclear = /"""|'''|\\\n|\b(exit|exec|eval|globals|locals|vars)\b/;

/** What a decision sets is read, and removed, by the run itself. */
const readByNova = "branch_decision";

export function contextUse(source: string): ContextUse {
  const code = source.replaceAll("\r\n", "\n").replace(/^[ \t]*#.*$/gm, "");
  const all = [...code.matchAll(assignment)].map(({ index, 1: indent = "", 3: key = "" }) => ({ index, indent, key }));
  const found = all.filter((write) => write.key !== readByNova);
  const rest = code.replace(assignment, "");
  const readsAll = unclear.test(code) || /\bcontext\b/.test(rest.replace(plainUse, ""));
  return {
    writes: new Set(found.map((write) => write.key)),
    alwaysWrites: new Set(found.filter((write) => write.indent === "").map((write) => write.key)),
    reads: (key) => readsAll || rest.includes(`"${key}"`) || rest.includes(`'${key}'`),
    deletes: new Set([...code.matchAll(deletion)].map(([, , key = ""]) => key)),
    placeOf: (key) => {
      const first = found.find((write) => write.key === key);
      return linesOf(code)(first ? first.index + first.indent.length : 0);
    },
  };
}
