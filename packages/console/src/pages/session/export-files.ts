import type { Session } from "@nova/client";
import { findMember, formatJson, listMembers, readString } from "../../json/raw.ts";
import { type Doc, renderWorkflow } from "./draft-doc.ts";

interface Exported extends Pick<Doc, "nodes" | "edges">, Pick<Session, "name" | "settings" | "files"> {
  /** The initial context as JSON text. */
  context: string;
}

interface ExportFile {
  path: string;
  text: string;
}

const fileOf = {
  code: { member: "codeFile", path: (id: string) => `nodes/${id}.py` },
  prompt: { member: "promptFile", path: (id: string) => `prompts/${id}.md` },
} as const;

/** Lists the files of a draft as `nova init` lays them out: the graph, and the code and prompts beside it. */
export function listExportFiles({ nodes, edges, name, settings, files, context }: Exported): ExportFile[] {
  const texts: ExportFile[] = [];
  const written = nodes.map(({ id, text }) => ({ id, text: moveTexts(id, text, texts) }));
  return [
    { path: "workflow.json", text: `${renderWorkflow({ nodes: written, edges }, name, settings)}\n` },
    { path: "input.json", text: `${formatJson(context)}\n` },
    ...texts,
    ...Object.entries(files).map(([path, text]) => ({ path, text })),
  ];
}

/** Replaces the code and the prompt of a node by names of files, which are added to `texts`. */
function moveTexts(id: string, definition: string, texts: ExportFile[]): string {
  const members = listMembers(definition).map(({ key, text }) => {
    const file = key === "code" || key === "prompt" ? fileOf[key] : undefined;
    const content = file && readString(findMember(definition, key));
    if (!file || content === undefined) return `${JSON.stringify(key)}:${text}`;
    const path = file.path(id);
    texts.push({ path, text: content.endsWith("\n") ? content : `${content}\n` });
    return `${JSON.stringify(file.member)}:${JSON.stringify(path)}`;
  });
  return `{${members.join(",")}}`;
}
