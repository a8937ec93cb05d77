import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/** What became of a program: the JSON that it exports, or why there is none, with the place (from 1) in its file. */
export type Built = { text: string } | { problem: string; line?: number; column?: number };

/**
 * A process of its own: `node build.ts <file>` tells its parent the JSON of what the file exports by default.
 * `@nova/workflow` is the builder beside this file, whatever is installed where the file lies.
 */
const builder = new URL("../builder.ts", import.meta.url).href;
registerHooks({
  resolve: (name, context, next) =>
    name === "@nova/workflow" ? { url: builder, shortCircuit: true } : next(name, context),
});

const example = "`export default defineWorkflow({...})`";
const [, , file = ""] = process.argv;
const url = pathToFileURL(file).href;
// Whatever the file has left open ends here.
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

/** The first place in the file itself; syntax errors name its path. */
function placeIn(stack: string): { line?: number; column?: number } {
  const behind = stack.split(url)[1] ?? stack.split(file)[1];
  const [, line, column = "1"] = behind?.match(/^:(\d+)(?::(\d+))?/) ?? [];
  return line === undefined ? {} : { line: Number(line), column: Number(column) };
}
