import { resolve } from "node:path";
import { parseArgs, styleText } from "node:util";
import { dataFolder } from "@nova/cli";
import { openLocalCloud } from "@nova/local";
import { chooseBenches, takeFigures } from "./bench.ts";
import type { Figure } from "./figure.ts";
import { openInstantModel } from "./instant-model.ts";

/**
 * Runs all benches (`npm run bench`) or the named ones (`npm run bench cold-run memory`). With `--json` it prints one
 * JSON object (`npm run -s bench -- --json`). Returns true if every figure meets its aim.
 */
async function main(argv: string[]): Promise<boolean> {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { json: { type: "boolean", default: false } },
  });
  const chosen = chooseBenches(positionals);
  await using stack = new AsyncDisposableStack();
  const model = await openInstantModel();
  stack.defer(() => model.close());
  Object.assign(process.env, model.environment, { NOVA_FROZEN: "false" });
  const warn = (sentence: string) => console.error(`bench: ${sentence}`);
  const open = async () => {
    const cloud = await openLocalCloud({ dataDir: resolve(dataFolder(), "bench"), warn });
    stack.defer(() => cloud.close());
    return cloud;
  };
  const figures = await takeFigures(open, chosen, (figure) => {
    if (!values.json) console.log(lineOf(figure));
  });
  if (values.json) console.log(JSON.stringify({ figures }));
  return figures.every(({ met }) => met !== false);
}

function lineOf({ name, aim, value, met, detail }: Figure): string {
  const mark = met === null ? styleText("yellow", "-") : met ? styleText("green", "✓") : styleText("red", "✗");
  if (detail.skipped) return `${mark} ${styleText(["bold", "red"], `NOT TAKEN: ${detail.skipped}`)} - ${name}`;
  const parts = Object.entries(detail).map(([key, one]) => `${key} ${one}`);
  const shown = styleText("bold", String(value));
  return `${mark} ${name}: ${shown} (aim: ${aim}) ${styleText("dim", parts.join(", "))}`;
}

// When this process ends, the servers and processes that it has started end too.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(2));
try {
  process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 2;
}
