import { type Finding, finding } from "../findings/finding.ts";
import { isObject } from "../json/loose.ts";
import { linesOf, NotJson, scanJson } from "../json/scan.ts";

/** What keeps a text from being a context at all: NOVA506. */
export function contextProblem(contextText: string): Finding | undefined {
  let context: unknown;
  try {
    context = JSON.parse(contextText);
  } catch {
    return notJson(contextText);
  }
  if (isObject(context)) return undefined;
  return finding("NOVA506", "$", 'the context is not a JSON object - write { "key": value }');
}

function notJson(text: string): Finding {
  try {
    scanJson(text);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const { line, column } = linesOf(text)(error.offset);
    const message = `the context is not JSON: line ${line}, column ${column}: ${error.message} - write { "key": value }`;
    return finding("NOVA506", "$", message, { line, column });
  }
  return finding("NOVA506", "$", 'the context is not JSON - write { "key": value }');
}
