import {
  checkPython,
  keysSet,
  nodeGlobals,
  type PythonProblem,
  reboundContext,
  setsBranchDecision,
} from "@nova/python";
import { type Finding, finding, type PythonSource, reservedKey } from "@nova/workflow";

const codes = { size: "NOVA607", syntax: "NOVA601", name: "NOVA602", rebound: "NOVA604", lost: "NOVA605" } as const;

/** NOVA601 to 607, and NOVA502 in code: what can be known about the Python of a workflow without running it. */
export async function checkSources(sources: readonly PythonSource[]): Promise<Finding[]> {
  const modules = Object.fromEntries(sources.filter((one) => !one.node).map((one) => [one.file ?? one.path, one.code]));
  return (await Promise.all(sources.map((one) => checkSource(one, modules)))).flat();
}

async function checkSource(source: PythonSource, modules: Record<string, string>): Promise<Finding[]> {
  const { node, code, file, path } = source;
  const options = { builtins: node ? nodeGlobals : [], ...(file !== undefined && { fileName: file }) };
  const problems = await checkPython(code, options);
  const found = problems.map((problem) => findingOf(problem, path, subjectOf(source)));
  if (node && !problems.some(({ kind }) => kind === "size" || kind === "syntax")) {
    const rebound = reboundContext(code, { ...options, lib: modules });
    if (rebound) found.push(findingOf(rebound, path, subjectOf(source)));
    found.push(...reservedKeys(source));
  }
  if (node?.type === "decision" && problems.length === 0 && !setsBranchDecision(code, modules)) {
    const message = `${subjectOf(source)} never decides - set context["branch_decision"] to the condition of an edge`;
    found.push(finding("NOVA603", path, message, file === undefined ? {} : { file }));
  }
  return found;
}

/** What comes of each of them is said in docs/definition.md. */
function reservedKeys(source: PythonSource): Finding[] {
  const { node, code, file, path } = source;
  const keys = keysSet(code, reservedKey).filter(({ key }) => key !== "branch_decision" || node?.type !== "decision");
  return keys.map(({ key, ...place }) => {
    const message = `${subjectOf(source)}: line ${place.line}: the key "${key}" is reserved for NOVA - use another one`;
    const found = key.startsWith("$") ? "NOVA502" : "NOVA606";
    return finding(found, path, message, { ...place, ...(file !== undefined && { file }) });
  });
}

function findingOf({ kind, message, ...place }: PythonProblem, path: string, subject: string): Finding {
  const where = kind === "size" ? "" : `line ${place.line}: `;
  return finding(codes[kind], path, `${subject}: ${where}${message}`, place);
}

export function subjectOf({ node, file }: PythonSource): string {
  return node ? `node "${node.id}"` : `module "${file}"`;
}
