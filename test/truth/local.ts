import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../support/imports.ts";
import { shell } from "./environment.ts";
import { type Place, placeAt } from "./place.ts";
import type { Processes } from "./processes.ts";

const nova = [process.execPath, "node_modules/.bin/nova"];

/** Starts `nova local` and returns the variables that it prints, such as the address of E2B. */
export async function startSandboxes(processes: Processes, dataDir: string): Promise<Record<string, string>> {
  const child = processes.stay("sandboxes", [...nova, "local"], inFolder(dataDir));
  const variables: Record<string, string> = {};
  await lineOf(child, "nova local", (line) => {
    const [, name = "", value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
    variables[name] = value;
    return name === "E2B_API_KEY";
  });
  return variables;
}

/** Starts NOVA on this machine with its REST API, for the comparison with the deployed one. */
export async function startLocal(processes: Processes, dataDir: string, empty: string): Promise<Place> {
  const command = [...nova, "dev", "--json", "--port", "0", "--smtp-port", "0", empty];
  const child = processes.stay("local", command, inFolder(dataDir));
  const greeting = JSON.parse(await lineOf(child, "nova dev", (line) => line.includes("api_key")));
  const { endpoints } = JSON.parse(await readFile(join(dataDir, "owner.json"), "utf8"));
  const keys = JSON.parse(await readFile(join(dataDir, "keys.json"), "utf8"));
  const { accessKeyId, secretAccessKey } = keys;
  const states = { endpoint: endpoints.states, accessKeyId, secretAccessKey };
  return placeAt("local", { url: greeting.url, apiKey: greeting.api_key, states }, processes);
}

function inFolder(dataDir: string) {
  return { cwd: root, env: { ...shell(), NOVA_DATA_DIR: dataDir, NOVA_FROZEN: "true" } };
}

/** Resolves with the first output line that `isIt` accepts. */
function lineOf(child: ChildProcess, name: string, isIt: (line: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code}: see its log`)));
    if (child.stdout) createInterface({ input: child.stdout }).on("line", (line) => isIt(line) && resolve(line));
  });
}
