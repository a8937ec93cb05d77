import { jsonEndFinder } from "./json-in-text.ts";

/** Tag names for thoughts, with or without a namespace. `▁` is the space in DeepSeek's tokens. */
const gap = "[_▁ -]?";
const name = `(?:[\\w-]+:)?(?:ant)?(?:think|thinking|thoughts?|reasoning|reflection|deliberation|scratch${gap}pad|cot|(?:inner|internal)${gap}(?:monologue|thoughts?)|chain${gap}of${gap}thoughts?)(?:${gap}(?:process|block|content|text|trace|steps?))?`;
const begin = `(?:(?:begin|start)${gap}(?:of${gap})?)?`;
const end = `(?:\\\\?/\\s*|end${gap}(?:of${gap})?)`;

/**
 * Brackets of tags: plain, full-width or escaped for HTML, `[THINK]` of Mistral, `<|...|>` of Cohere, DeepSeek and
 * others, and `◁think▷` of Kimi.
 */
const tagBrackets = [
  ["<\\s*", "(?:\\s[^<>]*)?/?>"],
  ["＜\\s*", "(?:\\s[^＜＞]*)?[/／]?＞"],
  ["&lt;\\s*", "(?:\\s[^<>&]*)?/?&gt;"],
  ["\\[\\s*", "\\s*\\](?!\\()"],
  ["<\\s*[|｜]\\s*", "\\s*[|｜]\\s*>"],
  ["◁\\s*", "\\s*▷"],
] as const;

/** Excludes code such as `rows[thought]`. */
const notInCode = "(?<!\\w(?=\\[))";

/** Channels of gpt-oss and Gemma. All channels except the final one are thoughts. */
const openingChannel = "<\\|channel\\|?>\\s*(?:analysis|commentary|thoughts?|thinking)\\b";
const closingChannel = "<\\|channel\\|?>\\s*final\\b[^<]*(?:<\\|message\\|?>)?|<channel\\|>";

/** Some models write `</|think|>` for `<|/think|>`. */
const closingToken = `<\\s*/\\s*[|｜]\\s*${name}\\s*[|｜]\\s*>`;

const opening = [...tagBrackets.map(([left, right]) => notInCode + left + begin + name + right), openingChannel].join(
  "|",
);
const closing = [...tagBrackets.map(([left, right]) => left + end + name + right), closingToken, closingChannel].join(
  "|",
);

/**
 * Group 1 is the end of thoughts, group 2 their start. Other matches start JSON or code, which may mention such marks.
 */
const signs = new RegExp(`(${closing})|(${opening})|[{[]|\`{1,6}`, "giu");
const closings = new RegExp(closing, "giu");
const thoughtFence = new RegExp(`^\`{3,}[ \\t]*${name}[ \\t]*\\r?\\n`, "iu");

/** Channels of gpt-oss without its special tokens. */
const bareChannels = /^\s*analysis(?=[A-Z])[\s\S]*?assistantfinal/;
const lastTokens = /(?:<\|(?:return|end)\|>\s*)+$/;

/**
 * Removes marked thoughts from an answer. A closing mark without an opening one ends thoughts that started with the
 * answer. Thoughts without a closing mark extend to the end. Marks inside JSON or code, and marks that are quoted
 * alone, are kept.
 */
export function withoutThoughts(answer: string): string {
  const text = answer.replace(bareChannels, "");
  const endOfJson = jsonEndFinder(text);
  let [kept, from, hasMarks] = ["", 0, text !== answer];
  /** Removes the text between two positions. */
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

/**
 * Finds the end of code between backticks; -1 if it is not closed. Only code between three or more backticks spans
 * lines.
 */
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
