import { promisedPackages } from "@nova/workflow";
import { dataFolder } from "../cloud.ts";
import { tableLines } from "../output/table.ts";
import { installCommand, installPackages } from "../packages/not-installed.ts";
import { actionOf, command } from "./command.ts";

export const packages = command({
  summary: "install the Python packages that every sandbox has, for runs on this machine",
  takes: {
    "[list|install]": {
      says: "install asks nothing, and leaves the Python of the system as it is",
      absent: "list",
    },
  },
  async run([asked]) {
    if (actionOf("packages", ["list", "install"], asked) === "install") {
      const { folder, python } = await installPackages();
      const json = { python: python.path, version: python.version, folder, missing: [] };
      return { json, text: `all packages are there for ${python.path} (Python ${python.version})` };
    }
    const { packagesFolder, sandboxPython } = await import("@nova/local");
    const { path, version, missing } = await sandboxPython(dataFolder());
    const stateOf = (module: string) => (missing.includes(module) ? "missing" : "there");
    const rows = promisedPackages.map(({ module, pip }) => [pip, module, stateOf(module)]);
    const lines = tableLines(["package", "import", `Python ${version}`], rows);
    return {
      json: { python: path, version, folder: packagesFolder(version), missing },
      text: missing.length > 0 ? [...lines, `${installCommand} brings what is missing`] : lines,
    };
  },
});
