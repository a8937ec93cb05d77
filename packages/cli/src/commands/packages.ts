import { promisedPackages } from "@nova/workflow";
import { dataFolder } from "../cloud.ts";
import { tableLines } from "../output/table.ts";
import { installCommand, installPackages } from "../packages/not-installed.ts";
import { actionOf, command } from "./command.ts";

export const packages = command({
  summary: "install the Python packages of every sandbox, for runs on this machine",
  takes: {
    "[list|install]": {
      says: "install does not ask, and does not change the system's Python",
      absent: "list",
    },
  },
  async run([asked]) {
    if (actionOf("packages", ["list", "install"], asked) === "install") {
      const { folder, python } = await installPackages();
      const json = { python: python.path, version: python.version, folder, missing: [] };
      return { json, text: `all packages are installed for ${python.path} (Python ${python.version})` };
    }
    const { packagesFolder, sandboxPython } = await import("@nova/local");
    const { path, version, missing } = await sandboxPython(dataFolder());
    const stateOf = (module: string) => (missing.includes(module) ? "missing" : "installed");
    const rows = promisedPackages.map(({ module, pip }) => [pip, module, stateOf(module)]);
    const lines = tableLines(["package", "import", `Python ${version}`], rows);
    return {
      json: { python: path, version, folder: packagesFolder(version), missing },
      text: missing.length > 0 ? [...lines, `${installCommand} installs the missing ones`] : lines,
    };
  },
});
