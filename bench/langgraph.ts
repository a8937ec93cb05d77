import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const script = join(import.meta.dirname, "langgraph_chain.py");
const packages = ["langgraph", "langgraph-checkpoint-sqlite"];

/** LangGraph as a rival, installed once into the data folder; `why` where it cannot be had. `run` answers milliseconds. */
export async function langGraph(
  dataDir: string,
): Promise<
  { run: (steps: number, valueBytes?: number) => Promise<number>; why?: never } | { run?: never; why: string }
> {
  const site = join(dataDir, "bench", "langgraph");
  try {
    if (!existsSync(join(site, "langgraph")))
      await run("python3", ["-m", "pip", "install", "--quiet", "--target", site, ...packages]);
  } catch {
    return { why: `pip could not install ${packages.join(" and ")}` };
  }
  return {
    async run(steps, valueBytes = 0) {
      const env = { ...process.env, PYTHONPATH: site };
      const { stdout } = await run("python3", [script, String(steps), String(valueBytes)], { env });
      return Number(stdout.trim().split("\n").at(-1));
    },
  };
}
