import { checkPython, nodeGlobals, type PythonProblem, reboundContext, setsBranchDecision } from "@nova/python";
import { type Finding, finding, type PythonSource } from "@nova/workflow";

const codes = { syntax: "NOVA601", name: "NOVA602", rebound: "NOVA604", lost: "NOVA605" } as const;

/** NOVA601 to 605: what can be known about the Python of a workflow without running it. */
export async function checkSources(sources: readonly PythonSource[]): Promise<Finding[]> {
  const modules = Object.fromEntries(sources.filter((one) => !one.node).map((one) => [one.file ?? one.path, one.code]));
  return (await Promise.all(sources.map((one) => checkSource(one, modules)))).flat();
}

async function checkSource(source: PythonSource, modules: Record<string, string>): Promise<Finding[]> {
  const { node, code, file, path } = source;
  const options = { builtins: node ? nodeGlobals : [], ...(file !== undefined && { fileName: file }) };
  const problems = await checkPython(code, options);
  const isValid = !problems.some(({ kind }) => kind === "syntax");
  const rebound = node && isValid ? await reboundContext(code, { ...options, lib: modules }) : undefined;
  const all = rebound ? [...problems, rebound] : problems;
  const found = all.map((problem) => findingOf(problem, path, subjectOf(source)));
  if (node?.type === "decision" && problems.length === 0 && !setsBranchDecision(code, modules)) {
    const message = `${subjectOf(source)} never decides - set context["branch_decision"] to the condition of an edge`;
    found.push(finding("NOVA603", path, message, file === undefined ? {} : { file }));
  }
  return found;
}

function findingOf({ kind, message, ...place }: PythonProblem, path: string, subject: string): Finding {
  return finding(codes[kind], path, `${subject}: line ${place.line}: ${message}`, place);
}

function subjectOf({ node, file }: PythonSource): string {
  return node ? `node "${node.id}"` : `module "${file}"`;
}
