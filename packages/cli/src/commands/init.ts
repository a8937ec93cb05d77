import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
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
    await nameAfter(folder);
    console.log(`${folder} holds a workflow: workflow.json is its graph, nodes/ its Python. Run it:`);
    console.log(styleText("bold", `  nova run ${folder} --set name='"Ada"'`));
    return exitCodes.completed;
  },
};

/** The example is called hello; a workflow is called as its folder. */
async function nameAfter(folder: string): Promise<void> {
  const { slugOf } = await import("@nova/workflow");
  const [name, file] = [basename(resolve(folder)), join(folder, "workflow.json")];
  const id = slugOf(name);
  if (id === "") return;
  const text = await readFile(file, "utf8");
  const named = text.replace('"id": "hello"', () => `"id": ${JSON.stringify(id)}`);
  await writeFile(
    file,
    named.replace('"name": "Hello"', () => `"name": ${JSON.stringify(name)}`),
  );
}

async function makeEmptyFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length === 0) return;
  } catch (cause) {
    throw new InvalidInput(`"${folder}" cannot be made a folder - name another one`, { cause });
  }
  throw new InvalidInput(`"${folder}" is not empty - name a new folder`);
}
