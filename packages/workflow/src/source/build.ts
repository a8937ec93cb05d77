import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/** The result of a program: the JSON that it exports, or the problem with its position (from 1) in the file. */
export type Built = { text: string } | { problem: string; line?: number; column?: number };

/** Runs as a process: `node build.ts <file>` sends its parent what the file exports, with the builder beside it. */
const builder = new URL("../builder.ts", import.meta.url).href;
registerHooks({
  resolve: (name, context, next) =>
    name === "@nova/workflow" ? { url: builder, shortCircuit: true } : next(name, context),
});

const example = "`export default defineWorkflow({...})`";
const [, , file = ""] = process.argv;
const url = pathToFileURL(file).href;
// Ends the process even if the file left handles open.
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

/** The first position inside the file. The messages of syntax errors name its path. */
function placeIn(stack: string): { line?: number; column?: number } {
  const after = stack.split(url)[1] ?? stack.split(file)[1];
  const [, line, column = "1"] = after?.match(/^:(\d+)(?::(\d+))?/) ?? [];
  return line === undefined ? {} : { line: Number(line), column: Number(column) };
}
