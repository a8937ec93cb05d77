import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Built } from "./build.ts";

/** Programs that make a workflow. */
export const programFile = /\.[cm]?[jt]s$/;

const maxSeconds = 60;

/** Runs a TypeScript or JavaScript file, in a process of its own so that it is read anew each time, and stops it in time. */
export async function built(file: string): Promise<Built> {
  const child = fork(fileURLToPath(new URL("./build.ts", import.meta.url)), [file], {
    // What it prints is for people: standard output is a command's own.
    stdio: ["ignore", 2, 2, "ipc"],
    execArgv: ["--no-warnings"],
  });
  const answer = Promise.withResolvers<Built>();
  const timer = setTimeout(() => {
    answer.resolve({ problem: `it has not ended in ${maxSeconds} seconds` });
    child.kill("SIGKILL");
  }, maxSeconds * 1000);
  child.on("message", (message) => answer.resolve(message as Built));
  child.on("error", ({ message }) => answer.resolve({ problem: `it cannot be run: ${message}` }));
  child.on("exit", () => answer.resolve({ problem: "it ended before it had exported anything" }));
  return answer.promise.finally(() => clearTimeout(timer));
}
