import { foreignModules } from "@nova/python";
import { type Finding, finding, type PythonSource, templatePackages, type Workflow } from "@nova/workflow";
import { subjectOf } from "./python.ts";

/** NOVA608: imports that nothing provides. */
export function checkImports({ requirements, lib }: Workflow, sources: readonly PythonSource[]): Finding[] {
  const foreignIn = foreignModules({ requirements: [...templatePackages, ...requirements], lib });
  return sources.flatMap((source) =>
    foreignIn(source.code).map(({ module, wayOut, ...place }) => {
      const message = `${subjectOf(source)}: line ${place.line}: nothing provides the module "${module}" - ${wayOut}`;
      return finding("NOVA608", source.path, message, { ...place, ...(source.file && { file: source.file }) });
    }),
  );
}
