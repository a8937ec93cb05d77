import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/**
 * The result of a program: the workflow that it exports, as JSON, or the problem with its position in the file (from
 * 1).
 */
export type Built = { text: string } | { problem: string; line?: number; column?: number };

/**
 * The builder for programs that import it as `@nova/workflow`. This module runs as a process: `node build.ts <file>`
 * sends its parent the workflow that the file exports.
 */
const builder = new URL("../builder.ts", import.meta.url).href;
registerHooks({
  resolve: (name, context, next) =>
    name === "@nova/workflow" ? { url: builder, shortCircuit: true } : next(name, context),
});

const example = "`export default defineWorkflow({...})`";
const [, , file = ""] = process.argv;
const url = pathToFileURL(file).href;
// Ends the process, because the program may have left handles open.
process.send?.(await built(), () => process.exit());

async function built(): Promise<Built> {
  try {
    const { default: workflow } = await import(url);
    const json = JSON.stringify(await workflow, null, 2);
    return json?.startsWith("{") ? { text: `${json}\n` } : { problem: `it has no ${example}` };
  } catch (error) {
    if (!(error instanceof Error)) return { problem: `it throws ${String(error)}` };
    const [problem = ""] = error.message.split("\n");
    return { problem, ...placeIn(error.stack ?? "") };
  }
}

/**
 * Returns the first position inside the program's file that a stack names. A syntax error names only the path of the
 * file.
 */
function placeIn(stack: string): { line?: number; column?: number } {
  const after = stack.split(url)[1] ?? stack.split(file)[1];
  const [, line, column = "1"] = after?.match(/^:(\d+)(?::(\d+))?/) ?? [];
  return line === undefined ? {} : { line: Number(line), column: Number(column) };
}
