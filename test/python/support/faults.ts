import type { Snippet } from "./corpus.ts";

export type FaultKind =
  | "syntax"
  | "undefined name"
  | "wrong key"
  | "no result"
  | "no branch_decision"
  | "missing import"
  | "unfit value";

/** Matches, for each kind of fault, the codes of the findings that report such a fault. */
export const codesOf: Record<FaultKind, RegExp> = {
  syntax: /^PY101$/,
  "undefined name": /^PY10[23]$/,
  "wrong key": /^PY11[01]$/,
  "no result": /^PY1(20|10)$/,
  "no branch_decision": /^PY1(30|10)$/,
  "missing import": /^PY140$/,
  "unfit value": /^PY15[01]$/,
};

export interface Fault extends Snippet {
  kind: FaultKind;
  how: string;
}

/**
 * Returns copies of a correct snippet. Each copy has one fault. Together, the copies have every kind of fault that can
 * be inserted into this snippet.
 */
export function faultsOf(snippet: Snippet): Fault[] {
  return Object.entries(makers).flatMap(([kind, make]) =>
    make(snippet).map(([how, source]) => ({ ...snippet, source, kind: kind as FaultKind, how })),
  );
}

type Made = [how: string, source: string][];

const makers: Record<FaultKind, (snippet: Snippet) => Made> = {
  syntax: ({ source }) => [
    ...replaced(source, /^(\s*(?:if|for|while|def|class|with|try|else|elif)\b.*):$/m, "$1", "drops a colon"),
    ...replaced(source, /\)$/m, "", "drops a bracket at the end of a line"),
    ...replaced(source, /^(\w+) = /m, "$1 = = ", "writes = twice"),
    ...replaced(source, /\["(\w+)"\]/, '["$1]', "drops a quote"),
  ],
  "undefined name": (snippet) => [...withoutImports(snippet), ...bareKeys(snippet), ...misspeltNames(snippet)],
  "wrong key": wrongKeys,
  "no result": withoutResult,
  "no branch_decision": withoutDecision,
  "missing import": missingImports,
  "unfit value": unfitValues,
};

function replaced(source: string, pattern: RegExp, by: string, how: string): Made {
  const end = source.indexOf("\n") + 1;
  const changed = source.slice(0, end) + source.slice(end).replace(pattern, by);
  return changed === source ? [] : [[how, changed]];
}

function withoutImports({ source }: Snippet): Made {
  const imports = Array.from(source.matchAll(/^(?:import (\w+)|from [\w.]+ import (\w+))\n/gm));
  return imports.flatMap(([line, module, name], index): Made => {
    const used = module ?? name ?? "";
    const rest = source.replace(line, "");
    const isUsed = new RegExp(`\\b${used}\\b(?!["'])`).test(rest.replace(/^.*(import|#).*$/gm, ""));
    const isGiven = /^(json|base64)$/.test(used) || /noqa|globals\(\)/.test(source);
    return isUsed && !isGiven && index < 2 ? [[`drops the import of ${used}`, rest]] : [];
  });
}

/**
 * Makes the fault of a forgotten context: replaces `context["total"]` by `total`. Makes no fault if the code uses the
 * name `total` elsewhere.
 */
function bareKeys({ source }: Snippet): Made {
  const found = /\bcontext\[(["'])(\w+)\1\](?!\s*([-+*/|]?=(?!=)|,.*=))/.exec(code(source));
  const [whole = "", , key = ""] = found ?? [];
  const isFree = key !== "" && !new RegExp(`(?<!["'\\w])${key}\\b(?!["'])`).test(code(source));
  if (!found || !isFree || builtins.test(key) || /noqa|import \*/.test(source)) return [];
  return [[`reads ${key} as a name`, source.slice(0, found.index) + key + source.slice(found.index + whole.length)]];
}

const builtins = /^(file|type|id|sum|min|max|list|dict|set|format|hash|range|input|all|any|next|sorted|values)$/;

function misspeltNames({ source }: Snippet): Made {
  const names = Array.from(source.matchAll(/^(\w{4,}) = /gm), ([, name = ""]) => name);
  return names.slice(0, 2).flatMap((name): Made => {
    const last = Array.from(source.matchAll(new RegExp(`(?<![\\w."'{])${name}\\b(?!\\s*=|["'\\w])`, "g"))).at(-1);
    if (!last || /noqa|import \*/.test(source)) return [];
    const wrong = `${name.slice(0, -1)}x${name.slice(-1)}`;
    return [[`misspells ${name}`, source.slice(0, last.index) + wrong + source.slice(last.index + name.length)]];
  });
}

function wrongKeys({ source, facts }: Snippet): Made {
  const uses = Array.from(code(source).matchAll(/\bcontext\[(["'])(\w+)\1\](?!\s*[|]?=(?!=)|.*\]\s*=[^=])/g));
  const known = uses.filter(
    ([, , key = ""]) => Object.hasOwn(facts.context ?? {}, key) && isTakenForGranted(source, key),
  );
  return known.slice(0, 3).flatMap(([whole, quote = "", key = ""]): Made => {
    const ways: Made = [
      ["drops a letter", key.length > 3 ? key.slice(0, 1) + key.slice(2) : `${key}_`],
      ["adds a word", `${key}_value`],
      ["swaps letters", swapped(key)],
    ];
    return ways.map(([how, wrong]) => [
      `${how}: ${wrong}`,
      source.replaceAll(whole, `context[${quote}${wrong}${quote}]`),
    ]);
  });
}

/**
 * Returns whether the code reads a key without testing or setting it, and without a try for KeyError. Only then is a
 * misspelt key a fault.
 */
function isTakenForGranted(source: string, key: string): boolean {
  const sets = new RegExp(
    `context\\[["']${key}["']\\](\\[.*\\])?\\s*[-+*/|]?=(?!=)|\\b${key}=|del context|["']${key}["'] (not )?in|get\\(["']${key}`,
  );
  return !sets.test(source) && !/KeyError|noqa|clear\(\)/.test(source);
}

function swapped(key: string): string {
  const at = Math.min(2, key.length - 2);
  const wrong = at < 0 ? `${key}${key}` : key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
  return wrong === key ? `${key}x` : wrong;
}

/** Makes the fault of a missing result: assigns a name instead of a context key, or prints the result without JSON. */
function withoutResult({ source, facts }: Snippet): Made {
  if (facts.nodeType === "decision" || /STAGE: ANALYSIS|lib"|raise RuntimeError\(f"stopped/.test(source)) return [];
  const lines = source
    .replace(/\bcontext\[(["'])(\w+)\1\](?=(\s*,.*)?\s*=(?!=))/g, "found_$2")
    .replace(/print\(json\.dumps\(((?:.|\n)*?)\)\)$/gm, "print($1)");
  if (lines === source || mayStillAnswer(lines)) return [];
  return [["keeps what it found to itself", lines]];
}

const otherWays =
  /context\[[^\]]*\](\[[^\]]*\])*\s*([-+*/|]?=(?!=)|\.(append|extend|pop|sort|update|insert|setdefault))|context\.(pop|update|clear|setdefault|__)|context\s*\|=|\bdel\b|dumps|json\.dump|stdout|globals|exec\(|\b(shuffle|heapq|insort)\b|noqa/;

function mayStillAnswer(source: string): boolean {
  const aliases =
    /^\s*\w+ = context(\[.*\])?$|for \w+(, \w+)? in (enumerate\()?context\[.*\n(\s+.*\n)*?\s+\w+\[.*\] = |\(context[,)]/m;
  return otherWays.test(source) || aliases.test(source);
}

function withoutDecision({ source, facts }: Snippet): Made {
  if (facts.nodeType !== "decision") return [];
  return [
    ["sets another key", source.replaceAll("branch_decision", "decision")],
    ["misspells the key", source.replaceAll("branch_decision", "branch_decison")],
    ...replaced(source, /context\[(["'])branch_decision\1\] = /g, "branch_decision = ", "sets a name"),
  ];
}

function missingImports({ source, facts }: Snippet): Made {
  if (!facts.modules || /find_spec|noqa|sys\.path/.test(source)) return [];
  const [header = "", ...rest] = source.split("\n");
  const body = rest.join("\n");
  const from = body.includes("from __future__")
    ? []
    : ["import tensorflow as tf", "from sklearn.cluster import KMeans", "import reqests"];
  return from.map((line) => [line, `${header}\n${line}\n${body}`]);
}

const unfit: [how: string, imported: string, value: string][] = [
  ["a datetime", "from datetime import datetime", "datetime.now()"],
  ["a date", "import datetime", "datetime.date.today()"],
  ["a Decimal in a list", "from decimal import Decimal", '[Decimal("1.10")]'],
  ["a set", "", '{"a", "b"}'],
  ["an open file", "", 'open("/tmp/x", "w")'],
  ["a DataFrame", "import pandas as pd", 'pd.DataFrame([{"a": 1}])'],
  ["a response", "import requests", 'requests.get("https://example.com")'],
  ["a generator", "", "(n for n in range(3))"],
  ["a match", "import re", 're.search("a", "abc")'],
];

function unfitValues({ source, facts, name }: Snippet): Made {
  if (facts.nodeType === "decision" || /context\.clear|globals\(\)/.test(source)) return [];
  const pick = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % unfit.length;
  const [how, imported, value] = unfit[pick] as (typeof unfit)[number];
  const line = `context["unfit_value"] = ${value}\n`;
  const end = /sys\.exit\(|^raise /m.test(source) ? [] : [`${source}${imported}\n${line}`];
  const isoless = replaced(source, /(context\["\w+"\] = \w+)\.isoformat\(\)$/m, "$1", "forgets isoformat()");
  const rawDecimal = replaced(source, /= str\((total|vat)\)$/m, "= $1", "forgets str()");
  const rawSet = replaced(source, /= sorted\((unique|tags)\)$/m, "= $1", "forgets sorted()");
  return [...end.map((text): [string, string] => [`stores ${how}`, text]), ...isoless, ...rawDecimal, ...rawSet];
}

/** Returns the code below the header, in which comments and long texts are replaced by blanks. */
function code(source: string): string {
  return source.replace(/#.*$|"""[\s\S]*?"""/gm, (text) => text.replace(/[^\n]/g, " "));
}
