import { jsonEndFinder } from "./json-in-text.ts";

/** Names of what a model thinks before it answers, with a namespace or without; `▁` is the blank of DeepSeek's tokens. */
const gap = "[_▁ -]?";
const name = `(?:[\\w-]+:)?(?:ant)?(?:think|thinking|thoughts?|reasoning|reflection|deliberation|scratch${gap}pad|cot|(?:inner|internal)${gap}(?:monologue|thoughts?)|chain${gap}of${gap}thoughts?)(?:${gap}(?:process|block|content|text|trace|steps?))?`;
const begin = `(?:(?:begin|start)${gap}(?:of${gap})?)?`;
const end = `(?:\\\\?/\\s*|end${gap}(?:of${gap})?)`;

/**
 * Tags, also with wide brackets or escaped for HTML, `[THINK]` of Mistral, `<|...|>` of Cohere, DeepSeek and others, and
 * `◁think▷` of Kimi.
 */
const tagBrackets = [
  ["<\\s*", "(?:\\s[^<>]*)?/?>"],
  ["＜\\s*", "(?:\\s[^＜＞]*)?[/／]?＞"],
  ["&lt;\\s*", "(?:\\s[^<>&]*)?/?&gt;"],
  ["\\[\\s*", "\\s*\\](?!\\()"],
  ["<\\s*[|｜]\\s*", "\\s*[|｜]\\s*>"],
  ["◁\\s*", "\\s*▷"],
] as const;

/** `rows[thought]` is code. */
const notInCode = "(?<!\\w(?=\\[))";

/** Channels of gpt-oss and Gemma: all but the final one are thoughts. */
const openingChannel = "<\\|channel\\|?>\\s*(?:analysis|commentary|thoughts?|thinking)\\b";
const closingChannel = "<\\|channel\\|?>\\s*final\\b[^<]*(?:<\\|message\\|?>)?|<channel\\|>";

/** `</|think|>`, which some models write for `<|/think|>`. */
const closingToken = `<\\s*/\\s*[|｜]\\s*${name}\\s*[|｜]\\s*>`;

const opening = [...tagBrackets.map(([left, right]) => notInCode + left + begin + name + right), openingChannel].join(
  "|",
);
const closing = [...tagBrackets.map(([left, right]) => left + end + name + right), closingToken, closingChannel].join(
  "|",
);

/** Group 1: the end of thoughts; group 2: their beginning; else JSON or code may begin, which may mention one. */
const signs = new RegExp(`(${closing})|(${opening})|[{[]|\`{1,6}`, "giu");
const closings = new RegExp(closing, "giu");
const thoughtFence = new RegExp(`^\`{3,}[ \\t]*${name}[ \\t]*\\r?\\n`, "iu");

/** gpt-oss without its special tokens. */
const bareChannels = /^\s*analysis(?=[A-Z])[\s\S]*?assistantfinal/;
const lastTokens = /(?:<\|(?:return|end)\|>\s*)+$/;

/**
 * An answer without all that is marked as thinking. Marks that no opening one precedes end thoughts that begin with the
 * answer, and thoughts that nothing ends last until its end. JSON and code of the answer may mention a mark, and so may
 * a quotation of nothing else.
 */
export function withoutThoughts(answer: string): string {
  const text = answer.replace(bareChannels, "");
  const endOfJson = jsonEndFinder(text);
  let [kept, from, hasMarks] = ["", 0, text !== answer];
  /** Leaves out what lies between the two places. */
  const cut = (start: number, end: number) => {
    [kept, from, hasMarks] = [kept + text.slice(from, start), end, true];
    signs.lastIndex = end;
  };
  signs.lastIndex = 0;
  for (let found = signs.exec(text); found; found = signs.exec(text)) {
    const { index: at, 0: sign, 1: closes, 2: opens } = found;
    const after = at + sign.length;
    if (closes === undefined && opens === undefined) {
      const end = sign.startsWith("`") ? endOfCode(text, at, sign) : endOfJson(at);
      if (thoughtFence.test(text.slice(at, at + 80))) cut(at, end < 0 ? text.length : end);
      else signs.lastIndex = Math.max(end, after);
    } else if (!isQuoted(text, at, sign)) {
      if (closes !== undefined) [kept, from] = ["", at];
      cut(at, closes !== undefined || sign.endsWith("/>") ? after : endOfThoughts(text, after));
    }
  }
  return hasMarks ? (kept + text.slice(from)).replace(lastTokens, "").trim() : answer;
}

function endOfThoughts(text: string, from: number): number {
  closings.lastIndex = from;
  for (let found = closings.exec(text); found; found = closings.exec(text))
    if (!isQuoted(text, found.index, found[0])) return closings.lastIndex;
  return text.length;
}

/** The end of code between backticks, which spans lines only between three or more; -1 where nothing closes it. */
function endOfCode(text: string, at: number, ticks: string): number {
  const start = at + ticks.length;
  const end = text.indexOf(ticks, start);
  if (end < 0 || (ticks.length < 3 && text.slice(start, end).includes("\n"))) return -1;
  return end + ticks.length;
}

function isQuoted(text: string, at: number, sign: string): boolean {
  const before = text[at - 1] ?? "";
  return `"'\``.includes(before) && before !== "" && text[at + sign.length] === before;
}
