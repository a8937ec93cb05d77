import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nova } from "../dev.ts";
import { atMost, type BenchApart, type Figure, median, NoRival, rounded, timed } from "../figure.ts";
import { langGraph } from "../rivals.ts";

const starter = join(import.meta.dirname, "../../packages/templates/hello");
const rounds = 5;

/**
 * Measures the time from the start of `nova run` in an empty data folder to the result of 3 nodes. Compares it with 3
 * steps of LangGraph.
 */
export const coldRun: BenchApart = async () => {
  const rival = await langGraph().catch((error) => {
    if (error instanceof NoRival) return undefined;
    throw error;
  });
  const [times, rivals] = [[] as number[], [] as number[]];
  for (let round = 0; round < rounds; round++) {
    const dataDir = await mkdtemp(join(tmpdir(), "nova-bench-"));
    times.push(await timed(() => runOnce(dataDir)));
    await rm(dataDir, { recursive: true });
    if (rival) rivals.push(await timed(() => rival(3, { times: 1 })));
  }
  const detail: Figure["detail"] = { rounds };
  if (rival) detail.langgraph_seconds = rounded(median(rivals) / 1000);
  return [atMost(1.5, "nova run of a 3-node workflow, cold process", median(times) / 1000, detail, " seconds")];
};

async function runOnce(dataDir: string): Promise<void> {
  const env = { ...process.env, NOVA_DATA_DIR: dataDir };
  const child = spawn(process.execPath, [nova, "run", starter, "--json"], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new RangeError(`nova run of the workflow to start from ended with exit code ${code}`);
}
