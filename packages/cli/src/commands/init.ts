import { cp, mkdir, readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import { exitCodes, InvalidInput } from "../errors.ts";
import type { CliCommand } from "./command.ts";

const example = fileURLToPath(new URL("../../../examples/hello", import.meta.url));

export const init: CliCommand = {
  declare: (command) =>
    command.summary("make a small workflow to start from, that runs").argument("[folder]", "where to make it", "hello"),

  async run([folder = "hello"]) {
    await makeEmptyFolder(folder);
    await cp(example, folder, { recursive: true, filter: (path) => !/__pycache__|\.nova/.test(path) });
    console.log(`${folder} holds a workflow: workflow.json is its graph, nodes/ its Python. Run it:`);
    console.log(styleText("bold", `  nova run ${folder} --set name='"Ada"'`));
    return exitCodes.completed;
  },
};

async function makeEmptyFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length === 0) return;
  } catch (cause) {
    throw new InvalidInput(`"${folder}" cannot be made a folder - name another one`, { cause });
  }
  throw new InvalidInput(`"${folder}" is not empty - name a new folder`);
}
