import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { connectServer } from "../api/ask.ts";
import { dataFolder } from "../cloud.ts";
import { exitCodes } from "../errors.ts";
import { nearestPath } from "../files.ts";
import { styled } from "../output/terminal.ts";
import { installCommand } from "../packages.ts";
import { command } from "./command.ts";

/** The result of one check. `fix` says how to correct a failure. */
interface Check {
  name: string;
  ok: boolean;
  fix: string | null;
}

/** Makes one check. Throws an error if the check fails; the message says what is wrong and how to correct it. */
type Examine = () => Promise<void>;

/** Checks whose failure prevents runs. The others are only needed for some workflows. */
const needed: Record<string, Examine> = {
  node: async () => {
    const major = Number(process.versions.node.split(".")[0]);
    if (major < 24)
      throw new RangeError(`Node ${process.versions.node} is too old - use Node 24, which npm ci installs`);
  },
  python: async () => {
    const { sandboxPython } = await import("@nova/local");
    await sandboxPython(dataFolder());
  },
  "data folder": async () => {
    const near = nearestPath(resolve(dataFolder()));
    const made = await mkdtemp(join(near, ".nova-doctor-")).catch(({ code }: NodeJS.ErrnoException) => {
      throw new RangeError(`"${near}" cannot be written (${code}) - set NOVA_DATA_DIR to a folder of yours`);
    });
    await rm(made, { recursive: true });
  },
  server: async () => {
    const server = await connectServer();
    if (server) await server.workflows.list().next();
  },
};

const optional: Record<string, Examine> = {
  walls: async () => {
    await promisify(execFile)("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).catch(() => {
      throw new RangeError(
        "bubblewrap does not work here, so code is not isolated - install it: apt install bubblewrap",
      );
    });
  },
  packages: async () => {
    const { sandboxPython } = await import("@nova/local");
    const { missing } = await sandboxPython(dataFolder());
    if (missing.length > 0) throw new RangeError(`${missing.join(", ")} are missing - ${installCommand} installs them`);
  },
  model: async () => {
    if (process.env.OPENAI_API_KEY || process.env.OPENAI_BASE_URL) return;
    throw new RangeError("no model is configured - set OPENAI_API_KEY, if a workflow has prompt or text nodes");
  },
};

async function examine([name, check]: [string, Examine]): Promise<Check> {
  try {
    await check();
    return { name, ok: true, fix: null };
  } catch (error) {
    return { name, ok: false, fix: error instanceof Error ? error.message : String(error) };
  }
}

export const doctor = command({
  summary: "check what NOVA needs on this machine, and say how to mend what is missing",
  json: "print {checks: [{name, ok, fix}]}; exit 1 if no workflow can run",
  async run() {
    const checks = await Promise.all(Object.entries({ ...needed, ...optional }).map(examine));
    const isHealthy = checks.every(({ name, ok }) => ok || !(name in needed));
    const mark = ({ name, ok }: Check) =>
      ok ? styled("green", "ok    ") : styled(name in needed ? "red" : "yellow", "fix   ");
    return {
      json: { checks },
      text: checks.map((check) => `${mark(check)} ${check.name}${check.fix === null ? "" : `: ${check.fix}`}`),
      code: isHealthy ? exitCodes.completed : exitCodes.failed,
    };
  },
});
