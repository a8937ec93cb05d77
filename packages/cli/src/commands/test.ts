import { readCount } from "../api/first-items.ts";
import { InvalidInput } from "../errors.ts";
import { command } from "./command.ts";

export const test = command({
  summary: "run the tests of a workflow, or make a test from an execution",
  takes: {
    "<folder|add>": "folder with workflow.json or workflow.ts; or the word add, then an execution",
    "[execution_id]": "with add: the execution that becomes a test",
    "--name <n>": "with add: the name of the test; absent: the end of the execution's id",
    "--folder <path>": "with add: the folder of its workflow; absent: the one here, or below",
    "--loosen": "with add: allow any value at places where a second run gives another value",
    "--update": "write the current results into tests that fail or are stale",
    "--junit <file>": "also write the results as JUnit XML",
    "--watch": "run them again when a file in the folder changes",
    "--samples <n>": "run only the code that models wrote, on the last n recorded inputs",
  },
  json: "print one JSON object; exit 1 if a test failed or is stale",
  async run([path = "", execution], { name, folder, loosen, update, junit, watch, samples, json }) {
    if (path === "add") {
      if (execution === undefined)
        throw new InvalidInput("nova test add needs an execution: nova test add <execution> --name <n>");
      return (await import("../tests/add-test.ts")).addTest({ execution, name, folder, loosen: loosen === true });
    }
    if (execution !== undefined) throw new InvalidInput(`nova test takes one folder - leave out "${execution}"`);
    if (samples !== undefined)
      return (await import("../tests/samples.ts")).sampleFolder(path, readCount("--samples", samples));
    const { testFolder, watchTests } = await import("../tests/command.ts");
    const options = { update: update === true, junit };
    return watch ? watchTests(path, { ...options, json: json === true }) : testFolder(path, options);
  },
});
