import { currentGenerator } from "@nova/agents";
import { type ExitCode, exitCodes } from "../../errors.ts";
import { print } from "../../output/terminal.ts";
import { readLockFolder } from "../folder.ts";
import { checkLines } from "../lines.ts";
import { lockStates } from "../states.ts";

/** Says of every prompt node whether its code is locked, and what has changed since. Asks nothing but the folder. */
export async function checkFolder({ path, json }: { path: string; json: boolean }): Promise<ExitCode> {
  const states = lockStates(await readLockFolder(path), currentGenerator);
  const valid = states.every(({ state }) => state === "locked");
  const nodes = states.map(({ node, state, changes }) => ({ node, state, changed: changes }));
  print(json ? JSON.stringify({ valid, nodes }) : checkLines(states, path).join("\n"), json);
  return valid ? exitCodes.completed : exitCodes.failed;
}
