import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { awsAt, shell } from "./environment.ts";
import type { Processes } from "./processes.ts";

/** A resource of the stacks that moto cannot create. `npm run truth` therefore does not check the resource. */
export interface Gap {
  stack: string;
  id: string;
  type: string;
  reason: string;
}

export interface Moto {
  url: string;
  gaps(): Promise<Gap[]>;
  /** Runs a script of the folder moto/ against this moto, and returns its output. */
  script(name: string, ...args: string[]): Promise<string>;
}

interface Options {
  python: string;
  port: number;
  /** The port of the proxy. State machines and rules send their AWS requests to it. */
  proxyPort: number;
  folder: string;
}

const scripts = fileURLToPath(new URL("moto/", import.meta.url));

export async function startMoto(processes: Processes, { python, port, proxyPort, folder }: Options): Promise<Moto> {
  const url = `http://127.0.0.1:${port}`;
  const gapsFile = join(folder, "gaps.ndjson");
  const env = { ...shell(), ...awsAt(url), TRUTH_PROXY_PORT: String(proxyPort), TRUTH_GAPS_FILE: gapsFile };
  const server = processes.stay("moto", [python, join(scripts, "serve.py"), String(port)], { cwd: folder, env });
  while (!(await answers(url))) {
    if (server.exitCode !== null) throw new Error(`moto ended with ${server.exitCode}: see moto.log in ${folder}`);
    await setTimeout(200);
  }
  return {
    url,
    async gaps() {
      const lines = (await readFile(gapsFile, "utf8")).split("\n").filter(Boolean);
      return lines.map((line) => JSON.parse(line) as Gap);
    },
    script: (name, ...args) => processes.output([python, join(scripts, name), ...args], { cwd: folder, env }),
  };
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/moto-api/`).then(
    ({ ok }) => ok,
    () => false,
  );
}
