/** A workflow as its JSON has it. */
interface Definition {
  nodes: { id: string; type: string }[];
  edges: object[];
}

/** The program that makes a workflow: of a definition without maps, which have nodes of their own. */
export function programOf({ nodes, edges, ...rest }: Definition): string {
  const kinds = [...new Set(nodes.map(({ type }) => type))];
  const fields = Object.entries(rest).map(([name, value]) => `${name}: ${literal(value)},`);
  const made = nodes.map(({ id, type, ...node }) => {
    const given = Object.keys(node).length === 0 ? "" : literal(node);
    return `  ${id}: ${type}(${given}),`;
  });
  return [
    `import { ${[...kinds, "defineWorkflow"].sort().join(", ")} } from "@nova/workflow";`,
    "",
    "export default defineWorkflow({",
    ...indented([
      ...fields,
      "nodes: {",
      ...made,
      "},",
      "edges: [",
      ...edges.map((edge) => `  ${literal(edge)},`),
      "],",
    ]),
    "});",
    "",
  ].join("\n");
}

/** As somebody would write it, in one line. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => {
    const name = /^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key);
    return `${name}: ${literal(member)}`;
  });
  return `{ ${members.join(", ")} }`;
}

function indented(lines: string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
