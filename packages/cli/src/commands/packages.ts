import { promisedPackages } from "@nova/workflow";
import { dataFolder } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { print } from "../output/terminal.ts";
import { installCommand, installPackages } from "../packages/not-installed.ts";
import type { CliCommand } from "./command.ts";

export const packages: CliCommand = {
  declare: (command) =>
    command
      .summary("install the Python packages that every sandbox has, for runs on this machine")
      .argument("[list|install]", "install asks nothing, and leaves the Python of the system as it is", "list")
      .option("--json", "print one JSON object"),

  async run([action = "list"], { json }) {
    if (action === "install") {
      const { folder, python } = await installPackages();
      const answer = { python: python.path, version: python.version, folder, missing: [] };
      print(
        json ? JSON.stringify(answer) : `all packages are there for ${python.path} (Python ${python.version})`,
        json,
      );
      return exitCodes.completed;
    }
    if (action !== "list") throw new InvalidInput(`nova packages cannot "${action}" - it can list and install`);
    const { packagesFolder, sandboxPython } = await import("@nova/local");
    const { path, version, missing } = await sandboxPython(dataFolder());
    if (json) print(JSON.stringify({ python: path, version, folder: packagesFolder(version), missing }), true);
    else {
      const rows = promisedPackages.map(({ module, pip }) => [
        pip,
        module,
        missing.includes(module) ? "missing" : "there",
      ]);
      print(tableLines(["package", "import", `Python ${version}`], rows).join("\n"));
      if (missing.length > 0) print(`${installCommand} brings what is missing`);
    }
    return exitCodes.completed;
  },
};
