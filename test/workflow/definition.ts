import { type ParsedWorkflow, parseWorkflow, type Workflow } from "@nova/workflow";

/** A JSON object of a definition, which may be wrong. */
export type Loose = Record<string, unknown>;

export const start = { id: "start", type: "start" };
export const end = { id: "end", type: "end" };

export function action(id: string, fields: Loose = {}): Loose {
  return { id, type: "action", code: "a = 1", ...fields };
}

export function prompt(id: string, fields: Loose = {}): Loose {
  return { id, type: "action", executor: "prompt", prompt: "Sum up the mail.", ...fields };
}

export function decision(id: string, fields: Loose = {}): Loose {
  return { id, type: "decision", code: 'context["branch_decision"] = True', ...fields };
}

export function each(id: string, nodes: unknown[], arrows: string[] = [], fields: Loose = {}): Loose {
  return { id, type: "map", items: "list", nodes, edges: arrows.map(edge), ...fields };
}

export function approval(id: string, fields: Loose = {}): Loose {
  return { id, type: "approval", message: "Pay?", ...fields };
}

export function wait(id: string, fields: Loose = { seconds: 1 }): Loose {
  return { id, type: "wait", ...fields };
}

export function child(id: string, fields: Loose = {}): Loose {
  return { id, type: "workflow", workflow: "billing", ...fields };
}

/** Parses an edge: `"a > b"`, `"d > b: true"` or `"d > a: false, max 3"`. The condition is JSON. */
export function edge(arrow: string): Loose {
  const [, from, to, condition, max] = /^(\S+) > (\S+?)(?:: (.+?))?(?:, max (\d+))?$/.exec(arrow) ?? [];
  return {
    from,
    to,
    ...(condition !== undefined && { condition: JSON.parse(condition) }),
    ...(max !== undefined && { max: Number(max) }),
  };
}

export function graph(nodes: unknown[], arrows: string[]): Loose {
  return { id: "test", nodes, edges: arrows.map(edge) };
}

/** Builds a workflow with the nodes in a row between start and end. */
export function row(...nodes: Loose[]): Loose {
  const all = [start, ...nodes, end];
  return graph(
    all,
    all.slice(1).map((node, index) => `${all[index]?.id} > ${node.id}`),
  );
}

export function parse(definition: unknown, files: Record<string, string> = {}): ParsedWorkflow {
  return parseWorkflow({ text: JSON.stringify(definition), fileName: "workflow.json", folder: "folder", files });
}

/** Returns the findings of a definition as `["NOVA206 $.edges[0].to", ...]`, in the parser's order. */
export function codesOf(definition: unknown, files: Record<string, string> = {}): string[] {
  return parse(definition, files).findings.map(({ code, path }) => `${code} ${path}`);
}

export function mustParse(definition: unknown, files: Record<string, string> = {}): Workflow {
  const { workflow, findings } = parse(definition, files);
  if (!workflow) throw new TypeError(`the definition has findings: ${findings.map((one) => one.message).join("; ")}`);
  return workflow;
}
