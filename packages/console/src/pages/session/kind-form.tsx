import { useMemo } from "react";
import { findMember, readString } from "../../json/raw.ts";
import type { Field } from "../../parts/form/form.ts";
import { readDefinition, replaceText, type SessionNode } from "./draft.ts";
import { type Change, changeNode } from "./draft-doc.ts";
import type { PublicationFinding } from "./publish-changes.tsx";
import { SavedForm } from "./saved-form.tsx";
import { listSchemaFields, placeFindings } from "./schema-fields.ts";
import type { DraftEditing } from "./use-draft.ts";

/** Fields that have an editor of their own, or that belong to files. */
const excluded = new Set(["id", "type", "code", "codeFile", "promptFile", "prompt", "nodes", "edges"]);
/** The fields of text nodes, which other nodes do not have. */
const ofText = new Set(["system", "llm_config", "output_schema", "into", "max_chars", "on_missing", "input_keys"]);
const ofPrompt = new Set(["model", "ai"]);
const ofAgent = new Set(["tools", "max_steps", "max_concurrency"]);
/** The fields of a node that an agent calls as a tool. */
const ofTool = new Set(["input_schema", "approve"]);

interface KindFormProps {
  node: SessionNode;
  draft: DraftEditing;
  /** The JSON schema of workflow files. */
  schema: string;
  /** Whether an agent of the draft calls the node as a tool. */
  isTool: boolean;
  findings: readonly PublicationFinding[];
}

/** The form of a node, generated from the schema of its kind. */
export function KindForm({ node, draft, schema, isTool, findings }: KindFormProps) {
  const definition = readDefinition(node);
  const fields = useMemo(() => listFields(schema, definition, isTool), [schema, definition, isTool]);
  const own = findings.filter((one) => one.node === node.node_id);
  const [root = ""] = /^.*\.nodes\[\d+\]/.exec(own[0]?.path ?? "") ?? [];
  const complete = (changes: readonly Change[]) => {
    const executor = changes.find(([key]) => key === "executor");
    if (!executor) return changes;
    return [...changes, ...replaceText(definition, readString(executor[1] ?? undefined) ?? "code")];
  };
  return (
    <SavedForm
      id={`node-${node.node_id}`}
      fields={fields}
      object={definition}
      findings={placeFindings(fields, own, root).problems}
      complete={complete}
      save={(changes) => draft.apply((doc) => changeNode(doc, node.node_id, changes))}
    />
  );
}

/** Lists the fields of the kind of a node, with the schema's descriptions. */
function listFields(schema: string, definition: string, isToolOfAgent: boolean): readonly Field[] {
  const type = readString(findMember(definition, "type")) ?? "action";
  const executor = readString(findMember(definition, "executor")) ?? "code";
  const kind = type === "ActionNode" ? "action" : type === "DecisionNode" ? "decision" : type;
  const isTask = kind === "action" || kind === "decision";
  return listSchemaFields(schema, kind)
    .filter(({ key }) => {
      if (excluded.has(key)) return false;
      if (!isTask) return true;
      if (ofText.has(key)) return executor === "text";
      if (ofAgent.has(key)) return executor === "agent";
      if (ofTool.has(key)) return isToolOfAgent || findMember(definition, key) !== undefined;
      return !ofPrompt.has(key) || executor !== "code";
    })
    .map((field) => ({ ...field, isRequired: false }));
}
