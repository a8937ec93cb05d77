import { cp, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { exitCodes } from "../errors.ts";
import { inNewFolder } from "../new-folder.ts";
import { shellWord } from "../output/shell.ts";
import { print, styled } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

const example = fileURLToPath(new URL("../../../examples/hello", import.meta.url));

export const init: CliCommand = {
  declare: (command) =>
    command.summary("make a small workflow to start from, that runs").argument("[folder]", "where to make it", "hello"),

  async run([folder = "hello"]) {
    await inNewFolder(folder, { wayOut: "name a new folder" }, async () => {
      await cp(example, folder, { recursive: true, filter: (path) => !/__pycache__|\.nova/.test(path) });
      await nameAfter(folder);
    });
    print(`${folder} holds a workflow: workflow.json is its graph, nodes/ its Python. Run it:`);
    print(styled("bold", `  nova run ${shellWord(folder)} --set name='"Ada"'`));
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
