import {
  type CodeKeys,
  checkPython,
  createModuleFinder,
  findAssignedKeys,
  findNearKey,
  findReboundContext,
  nodeGlobals,
  type PythonProblem,
  readCodeKeys,
  setsBranchDecision,
} from "@nova/python";
import {
  defined,
  type Finding,
  type FindingCode,
  finding,
  type ParsedWorkflow,
  type PythonSource,
  reservedKey,
  templatePackages,
  type Workflow,
} from "@nova/workflow";

const codes = { size: "NOVA607", syntax: "NOVA601", name: "NOVA602", rebound: "NOVA604" } as const;

/** NOVA601 to 607, and NOVA502 in code: findings in the Python of a workflow that need no run. */
export async function checkSources(sources: readonly PythonSource[]): Promise<Finding[]> {
  const modules = Object.fromEntries(sources.filter((one) => !one.node).map((one) => [one.file ?? one.path, one.code]));
  return (await Promise.all(sources.map((one) => checkSource(one, modules)))).flat();
}

async function checkSource(source: PythonSource, modules: Record<string, string>): Promise<Finding[]> {
  const { node, code, file, path } = source;
  const problems = await checkPython(code, node ? nodeGlobals : []);
  const found = problems.map((problem) => findingOf(problem, source));
  if (node && !problems.some(({ kind }) => kind === "size" || kind === "syntax")) {
    const rebound = findReboundContext(code);
    if (rebound) found.push(findingOf(rebound, source));
    found.push(...reservedKeys(source));
  }
  if (node?.type === "decision" && problems.length === 0 && !setsBranchDecision(code, modules)) {
    const message = `${subjectOf(source)} never decides - set context["branch_decision"] to the condition of an edge`;
    found.push(finding("NOVA603", path, message, defined({ file })));
  }
  return found;
}

/** Reports code that sets reserved keys. docs/definition.md describes each key. */
function reservedKeys(source: PythonSource): Finding[] {
  const { node, code } = source;
  const keys = findAssignedKeys(code, reservedKey).filter(
    ({ key }) => key !== "branch_decision" || node?.type !== "decision",
  );
  return keys.map(({ key, ...place }) => {
    const message = `the key "${key}" is reserved for NOVA - use another one`;
    return foundAt(source, key.startsWith("$") ? "NOVA502" : "NOVA606", message, place);
  });
}

function foundAt(source: PythonSource, code: FindingCode, message: string, place: { line: number; column: number }) {
  const { path, file } = source;
  const sentence = `${subjectOf(source)}: line ${place.line}: ${message}`;
  return finding(code, path, sentence, { ...place, ...defined({ file }) });
}

function findingOf({ kind, message, ...place }: PythonProblem, source: PythonSource): Finding {
  if (kind !== "size") return foundAt(source, codes[kind], message, place);
  const { path, file } = source;
  return finding(codes.size, path, `${subjectOf(source)}: ${message}`, { ...place, ...defined({ file }) });
}

export function subjectOf({ node, file }: PythonSource): string {
  return node ? `node "${node.id}"` : `module "${file}"`;
}

/** NOVA608: imports without a provider. */
export function checkImports({ requirements, lib }: Workflow, sources: readonly PythonSource[]): Finding[] {
  const foreignIn = createModuleFinder({ requirements: [...templatePackages, ...requirements], lib });
  return sources.flatMap((source) =>
    foreignIn(source.code).map(({ module, wayOut, ...place }) =>
      foundAt(source, "NOVA608", `nothing provides the module "${module}" - ${wayOut}`, place),
    ),
  );
}

/** The limit of analysed code per workflow, in characters: the analysis takes a few milliseconds per KB. */
const maxCharacters = 60_000;

/** NOVA508: keys that no earlier node sets. */
export function checkKnownKeys({ workflow, keyFindings }: ParsedWorkflow): Finding[] {
  // A module of lib/ may print a result of its own.
  if (Object.values(workflow?.lib ?? {}).some((source) => /dump|__main__|inspect/.test(source))) return [];
  let left = maxCharacters;
  const read = new Map<string, CodeKeys | null>();
  const keysOf = (code: string) => {
    const known = read.get(code);
    if (known !== undefined) return known;
    left -= code.length;
    const found = left < 0 ? null : readCodeKeys(code);
    read.set(code, found);
    return found;
  };
  return keyFindings({ readCodeKeys: keysOf, findNearKey });
}
