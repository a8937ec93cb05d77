import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";

/**
 * Finds sentences that readers do not understand at first reading, in comments, docs, test titles and texts.
 *
 *     node scripts/prose.ts [paths]
 *
 * Prints each unclear sentence with its file, line and rule, and exits with 1 if there is one.
 */

export type Kind = "comment" | "docs" | "title" | "text";

export interface Sentence {
  path: string;
  line: number;
  kind: Kind;
  text: string;
}

export interface Finding extends Sentence {
  rule: string;
  instead: string;
}

interface Rule {
  name: string;
  pattern: RegExp;
  instead: string;
  kinds?: Kind[];
}

export const rules: Rule[] = [
  {
    name: "no subject",
    pattern:
      /^(What|Of|Who|Whoever|Whatever|Those|The same|As|Such|None|Nothing|Nobody|Somebody|That|One that|Where)\b/,
    instead: "start with the subject, or with a verb that says what the function does",
    kinds: ["comment", "text"],
  },
  {
    name: "unnamed actor",
    pattern: /\b(nobody|somebody|everybody|anybody|whoever|whatever|whomever)\b/i,
    instead: "name the actor: the delivery, the Lambda, the sweeper, the caller, the operator",
  },
  {
    name: "behind",
    pattern:
      /\bbehind\b(?! (a |the )?(proxy|proxies|wall|walls|load balancer|NAT|firewall|header|panel|dialog|curtain))/i,
    instead: "write `after` for time and order",
  },
  {
    name: "archaic word",
    pattern:
      /\b(anew|thereof|therein|herein|hereby|besides|hitherto|henceforth|likewise|inside of|outside of|there is no other|and be it|nor)\b/i,
    instead: "use the everyday word: again, also, inside, outside, and not",
  },
  {
    name: "come to",
    pattern: /\b(comes|came|come) to\b(?! (a|an) (stop|halt))/i,
    instead: "write `results in`, `returns` or `reaches`",
  },
  { name: "go on", pattern: /\b(goes|went|go) on\b/i, instead: "write `continues`" },
  {
    name: "be told",
    pattern: /\b(is|are|was|were|be) told\b|\btells of\b/i,
    instead: "write `reports` or `says`, with the actor as the subject",
  },
  {
    name: "release",
    pattern: /\b(earlier|former|previous) releases?\b|\bthis release\b/i,
    instead: "delete it: there was no release yet",
  },
];

/** Sentences that may break a rule, each with the reason. At most 20. */
export const exceptions: { path: string; text: string; reason: string }[] = [
  {
    path: "packages/examples/invoice/invoices/LICENSE.md",
    text: "hereby granted",
    reason: "the licence of the invoices, word for word",
  },
  {
    path: "packages/agents/src/knowledge/shelf/guides.md",
    text: "HTML besides text",
    reason: "a guide for models, whose words are part of the keys of pinned code",
  },
  {
    path: "test/sandbox/python/test_executions.py",
    text: "left-behind",
    reason: "a mark that the code of the test searches for",
  },
];

const code = new Set([".ts", ".tsx", ".mjs"]);

/** Returns every sentence of a file that a person reads, with the line on which it starts. */
export function readSentences(path: string, text: string): Sentence[] {
  const found: Sentence[] = [];
  const add = (kind: Kind, index: number, sentence: string) => {
    if (sentence !== "") found.push({ path, kind, line: text.slice(0, index).split("\n").length, text: sentence });
  };
  const extension = extname(path);
  if (extension === ".md") addDocs(text, add);
  if (extension === ".py") {
    for (const match of text.matchAll(/"""([\s\S]*?)"""|(?:^|\s)#[ ]?([^\n!]*)/gm)) {
      add("comment", match.index, joinLines(match[1] ?? match[2] ?? ""));
    }
  }
  if (code.has(extension)) {
    for (const match of text.matchAll(/(?<!\S)\/\*\*?([\s\S]*?)\*\/|(?<![:"'`])\/\/[ ]?([^\n]*)/g)) {
      const sentence = joinLines(match[1]?.replace(/^[ \t]*\*+/gm, "") ?? match[2] ?? "");
      if (!/^(biome-|@ts-|<reference)/.test(sentence)) add("comment", match.index, sentence);
    }
    const titles = /\b(?:it|test|describe)(?:\.each\([^)]*\)|\.skipIf\([^)]*\)|\.[a-z]+)?\(\s*(["'`])(.+?)\1/g;
    for (const match of text.matchAll(titles)) add("title", match.index, match[2] ?? "");
    const texts = /\b(?:describe|description|help|summary|title|hint)\b["']?\s*[:(]\s*(["'`])(.{12,}?)\1/g;
    for (const match of text.matchAll(texts)) add("text", match.index, match[2] ?? "");
  }
  return found;
}

/** Adds the lines of a document without code blocks, code spans and Markdown marks. */
function addDocs(text: string, add: (kind: Kind, index: number, sentence: string) => void): void {
  let isCode = false;
  let index = 0;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    else if (!isCode) add("docs", index, line.replace(/^[ |*\-#>]+|[ |*\-#>]+$/g, "").replace(/`[^`]*`/g, "`x`"));
    index += line.length + 1;
  }
}

function joinLines(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(" ");
}

/** Returns a finding for each rule that a sentence breaks. */
export function checkSentence(sentence: Sentence): Finding[] {
  return rules
    .filter(({ kinds }) => kinds === undefined || kinds.includes(sentence.kind))
    .filter(({ pattern }) => pattern.test(sentence.text))
    .map(({ name, instead }) => ({ ...sentence, rule: name, instead }));
}

/** Returns a finding for each line of code that spreads an object literal only to put several keys on one line. */
export function findSpreads(path: string, text: string): Finding[] {
  return text.split("\n").flatMap((line, index) =>
    /^\s*\.\.\.\{ [a-zA-Z_]+/.test(line)
      ? [
          {
            path,
            line: index + 1,
            kind: "text" as const,
            text: line.trim(),
            rule: "spread",
            instead: "write the keys one by one",
          },
        ]
      : [],
  );
}

function isExcepted({ path, text }: Finding): boolean {
  return exceptions.some((exception) => exception.path === path && text.includes(exception.text));
}

/**
 * Returns the findings in the given paths. Checks the files that git tracks or does not ignore. Leaves out
 * `exceptions`.
 */
export function checkFiles(paths: string[]): Finding[] {
  const patterns = paths.length > 0 ? paths : ["*.ts", "*.tsx", "*.mjs", "*.py", "*.md"];
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "--", ...patterns], {
    encoding: "utf8",
  });
  return listed
    .split("\n")
    .filter((path) => path !== "" && existsSync(path) && !path.endsWith(".d.ts") && !path.includes("/fixtures/"))
    .flatMap((path) => {
      const text = readFileSync(path, "utf8");
      const spreads = /^(packages|functions|stacks)\//.test(path) ? findSpreads(path, text) : [];
      return [...readSentences(path, text).flatMap(checkSentence), ...spreads];
    })
    .filter((finding) => !isExcepted(finding));
}

if (import.meta.main) {
  const findings = checkFiles(process.argv.slice(2));
  for (const { path, line, rule, text, instead } of findings) {
    process.stdout.write(`${path}:${line}: ${rule}: ${text.slice(0, 150)}\n  ${instead}\n`);
  }
  process.stdout.write(`${findings.length} unclear sentences\n`);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
