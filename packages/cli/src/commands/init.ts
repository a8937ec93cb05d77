import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { shellWord } from "@nova/workflow/shell-word";
import { inNewFolder } from "../new-folder.ts";
import { print, styled } from "../output/terminal.ts";
import { offerAll } from "../packages/offer.ts";
import { command } from "./command.ts";

const starter = fileURLToPath(new URL("../../starter", import.meta.url));
const programStarter = fileURLToPath(new URL("../../starter-typescript", import.meta.url));
const programSettings = fileURLToPath(import.meta.resolve("@nova/workflow/tsconfig.program.json"));

export const init = command({
  summary: "make a small workflow that runs, to start from",
  takes: {
    "[folder]": { says: "where to make it", absent: "hello" },
    "--typescript": "write the graph as a program, workflow.ts, which editors check",
  },
  json: false,

  async run([folder = "hello"], { typescript }) {
    const graph = typescript ? "workflow.ts" : "workflow.json";
    await inNewFolder(folder, { wayOut: "name a new folder" }, async () => {
      await cp(starter, folder, { recursive: true, filter: (path) => !/__pycache__|\.nova/.test(path) });
      if (typescript) await useProgram(folder);
      await nameAfter(folder, graph);
    });
    print(`${folder} has a workflow: ${graph} is its graph, nodes/ its Python. Run it:`);
    print(styled("bold", `  nova run ${shellWord(folder)} --set name='"Ada"'`));
    const sentence = await offerAll();
    if (sentence !== null) print(styled("dim", sentence));
    return undefined;
  },
});

/** Renames the starter workflow from hello to the name of its folder. */
async function nameAfter(folder: string, graph: string): Promise<void> {
  const { slugOf } = await import("@nova/workflow");
  const [name, file] = [basename(resolve(folder)), join(folder, graph)];
  const id = slugOf(name);
  if (id === "") return;
  const text = await readFile(file, "utf8");
  const renamed = text.replace(/(?<=\bid"?: )"hello"/, () => JSON.stringify(id));
  await writeFile(
    file,
    renamed.replace('"Hello"', () => JSON.stringify(name)),
  );
}

/** Replaces the graph by the same graph as a program, with the settings that editors need to find the types. */
async function useProgram(folder: string): Promise<void> {
  await rm(join(folder, "workflow.json"));
  await cp(programStarter, folder, { recursive: true });
  const settings = { extends: programSettings, include: ["**/*.ts"] };
  await writeFile(join(folder, "tsconfig.json"), `${JSON.stringify(settings, null, 2)}\n`);
}
