import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, median, rounded, timed } from "../figure.ts";

const cli = join(import.meta.dirname, "../../packages/cli");
const nova = join(cli, "bin/nova.js");
const starter = join(cli, "starter");
const rounds = 5;

/** `nova run` of a small workflow as a process of its own, in a data folder that is empty. */
export const coldRun: Bench = async () => {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const dataDir = await mkdtemp(join(tmpdir(), "nova-bench-"));
    times.push(await timed(() => runOnce(dataDir)));
    await rm(dataDir, { recursive: true });
  }
  const seconds = median(times) / 1000;
  return [
    {
      name: "nova run of a 3-node workflow, cold process, seconds",
      aim: "under 2",
      value: rounded(seconds),
      met: seconds < 2,
      detail: { rounds },
    },
  ];
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
