import { deepestNesting, measureOf, parsedOrNot } from "@nova/engine";
import { type ExactValue, isRawNumber, parseExact, sorted } from "@nova/workflow";
import { z } from "zod";

export type ReadResult<T> = { valid: true; value: T } | ReadFailure;

/**
 * `isUnclear` is true if the answer is empty or ambiguous, so that the caller asks the model again. Without
 * `isUnclear`, the answer does not fit its schema.
 */
export type ReadFailure = { valid: false; problem: string; isUnclear?: true };

/** Parses an answer without thoughts, and checks it against its schema. */
export function readAnswer<T>(answer: string, schema: z.ZodType<T>): ReadResult<T> {
  const read = readObject(answer);
  if (!read.valid) return read;
  const result = schema.safeParse(JSON.parse(read.value));
  return result.success
    ? { valid: true, value: result.data }
    : { valid: false, problem: result.error.issues.map(describeIssue).join("; ") };
}

function describeIssue({ message, path }: z.core.$ZodIssue): string {
  return path.length > 0 ? `${message} at ${z.core.toDotPath(path)}` : message;
}

/** Reads a text answer as a JSON string. */
export function readText(answer: string): ReadResult<string> {
  return isEmpty(answer) ? empty : { valid: true, value: JSON.stringify(answer.toWellFormed()) };
}

/**
 * Returns the JSON text of the object in an answer, with the numbers as the model wrote them. Prose, code fences and
 * lists may surround it. Repetitions of the same object count once; several different objects are ambiguous.
 */
export function readObject(answer: string): ReadResult<string> {
  if (isEmpty(answer)) return empty;
  const values = jsonValuesIn(answer);
  if (values.some((json) => measureOf(json).depth > deepestNesting))
    return { valid: false, problem: `its JSON is nested deeper than ${deepestNesting} levels` };
  const objects = values.flatMap((json) => objectsIn(parseExact(json)));
  const byMeaning = new Map(objects.map((object) => [JSON.stringify(sorted(object)), JSON.stringify(object)]));
  const [object, ...others] = byMeaning.values();
  if (object === undefined) return { valid: false, problem: "there is no JSON object in it" };
  if (others.length === 0) return { valid: true, value: object.toWellFormed() };
  const problem = `it is ambiguous: it has ${others.length + 1} different JSON objects, and one is wanted`;
  return { valid: false, problem, isUnclear: true };
}

/** Finds the objects in a value, inside lists too. */
function objectsIn(value: ExactValue): ExactValue[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return typeof value === "object" && value !== null && !isRawNumber(value) ? [value] : [];
}

const empty: ReadFailure = { valid: false, problem: "it is empty", isUnclear: true };

function isEmpty(answer: string): boolean {
  return answer.trim() === "";
}

/** Limits the characters that are read in a text with many starts of JSON, as a multiple of the text's length. */
const maxReadings = 30;

const outsideStrings = /[\s,:\d+\-.eEtrufalsn]/;

/**
 * Returns a function from a position to the end of the JSON object or list that starts there; -1 if none starts there.
 * All calls of this function together take limited time.
 */
export function jsonEndFinder(text: string): (start: number) => number {
  const unclosed = new Set<number>();
  let left = maxReadings * text.length;
  return (start) => {
    if ((text[start] !== "{" && text[start] !== "[") || unclosed.has(start) || left <= 0) return -1;
    const open: number[] = [];
    let at = start;
    for (; at < text.length; at++) {
      const sign = text[at] as string;
      if (sign === '"') at = closingQuote(text, at);
      else if (sign === "{" || sign === "[") open.push(at);
      else if (sign === "}" || sign === "]") {
        if (text[open.pop() as number] !== (sign === "}" ? "{" : "[")) break;
        if (open.length === 0) {
          left -= at - start + 1;
          return parsedOrNot(text.slice(start, at + 1)) === undefined ? -1 : at + 1;
        }
      } else if (!outsideStrings.test(sign)) break;
    }
    left -= at - start;
    for (const position of open) unclosed.add(position);
    return -1;
  };
}

function closingQuote(text: string, opening: number): number {
  let at = opening + 1;
  for (; at < text.length && text[at] !== '"'; at++) if (text[at] === "\\") at++;
  return at;
}

/** Finds the outermost JSON objects and lists in a text, in order. */
export function jsonValuesIn(text: string): string[] {
  const endOf = jsonEndFinder(text);
  const values: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const end = endOf(at);
    if (end < 0) continue;
    values.push(text.slice(at, end));
    at = end - 1;
  }
  return values;
}

/**
 * Matches an optional separator between two words in the name of a tag for thoughts. `▁` is the space in DeepSeek's
 * tokens.
 */
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

/** Matches no position inside code such as `rows[thought]`. */
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
 * Group 1 matches a mark that ends thoughts, group 2 a mark that starts them. Any other match starts JSON or code, in
 * which such marks are kept.
 */
const signs = new RegExp(`(${closing})|(${opening})|[{[]|\`{1,6}`, "giu");
const closings = new RegExp(closing, "giu");
const thoughtFence = new RegExp(`^\`{3,}[ \\t]*${name}[ \\t]*\\r?\\n`, "iu");

/** Channels of gpt-oss without its special tokens. */
const bareChannels = /^\s*analysis(?=[A-Z])[\s\S]*?assistantfinal/;
const lastTokens = /(?:<\|(?:return|end)\|>\s*)+$/;

/**
 * Removes marked thoughts from an answer. Thoughts that end with a mark but have no mark at their start began with the
 * answer. Thoughts without a mark at their end extend to the end of the answer. Keeps marks inside JSON or code, and
 * marks that are quoted alone.
 */
export function withoutThoughts(answer: string): string {
  const text = answer.replace(bareChannels, "");
  const endOfJson = jsonEndFinder(text);
  let [kept, from, hasMarks] = ["", 0, text !== answer];
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

/** Finds the end of code between backticks; -1 if it is not closed. Only three or more backticks span lines. */
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
