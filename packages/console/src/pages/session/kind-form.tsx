import { useEffect, useMemo, useRef, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { findMember, formatJson, listMembers, Raw, readMembers, readString } from "../../json/raw.ts";
import {
  createDraft,
  type Draft,
  type Field,
  findProblems,
  isBlank,
  parseFields,
  renderValue,
} from "../../parts/form/form.ts";
import { FormFields } from "../../parts/form/form-fields.tsx";
import { ErrorNote } from "../../parts/states.tsx";
import { texts } from "../../texts.ts";
import { readDefinition, type SessionNode } from "./draft.ts";
import { useNodeChange } from "./use-session.ts";

/** Fields that have an editor of their own, or that belong to files. */
const excluded = new Set(["id", "type", "code", "codeFile", "promptFile", "prompt"]);
/** The fields of text nodes, which other nodes do not have. */
const ofText = new Set(["system", "llm_config", "output_schema", "into", "max_chars", "on_missing", "input_keys"]);
const ofPrompt = new Set(["model", "ai"]);
const ofAgent = new Set(["tools", "max_steps", "max_concurrency"]);
/** The fields of an agent's tool, which the JSON of the draft can add to any node. */
const ofTool = new Set(["input_schema", "approve"]);

const pauseMs = 700;

interface KindFormProps {
  session: string;
  node: SessionNode;
  /** The JSON schema of workflow files. */
  schema: string;
  onSaved(): void;
}

/** The form of a node, generated from the schema of its kind. It saves each pause in typing. */
export function KindForm({ session, node, schema, onSaved }: KindFormProps) {
  const nova = useNova();
  const definition = readDefinition(node);
  const fields = useMemo(() => listFields(removeMarkdown(schema), definition), [schema, definition]);
  const [drafts, setDrafts] = useState<readonly Draft[]>(() => readDrafts(fields, definition));
  const [error, setError] = useState<unknown>();
  const version = useRef(node.version);
  version.current = node.version;
  const save = useNodeChange(session, node.node_id, (now) => {
    version.current = now;
  });
  const changes = diffDrafts(fields, drafts, definition);
  const problems = useMemo(() => findProblems(fields, drafts), [fields, drafts]);
  const text = problems.size > 0 || changes.length === 0 ? "" : JSON.stringify(changes);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the typed values starts the pause again
  useEffect(() => {
    if (text === "") return undefined;
    const timer = setTimeout(() => {
      const request = Object.fromEntries(changes.map(([key, json]) => [key, json === null ? null : new Raw(json)]));
      save(nova.sessions.changeNode(session, node.node_id, request, { version: version.current })).then(() => {
        setError(undefined);
        onSaved();
      }, setError);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className="stack loose">
      <FormFields
        fields={fields}
        drafts={drafts}
        onChange={setDrafts}
        problems={problems}
        id={`node-${node.node_id}`}
      />
      <p className="small quiet" role="status">
        {changes.length > 0 && problems.size === 0 ? texts.writer.saving : texts.writer.saved}
      </p>
      <ErrorNote error={error} />
    </div>
  );
}

/** Removes the Markdown of the descriptions, which are written for pages: marks of code, and links. */
function removeMarkdown(schema: string): string {
  return schema.replaceAll(/"description":\s*"(?:[^"\\]|\\.)*"/g, (text) =>
    text.replaceAll("`", "").replaceAll(/\[([^\]]*)\]\(#[^)]*\)/g, "$1"),
  );
}

/** Lists the fields of the kind of a node, with the schema's descriptions. */
function listFields(schema: string, definition: string): readonly Field[] {
  const type = readString(findMember(definition, "type")) ?? "action";
  const executor = readString(findMember(definition, "executor")) ?? "code";
  const kinds = readMembers(findMember(schema, "$defs") ?? "{}");
  const kind = kinds.get(type === "ActionNode" ? "action" : type === "DecisionNode" ? "decision" : type);
  if (kind === undefined) return [];
  const isTask = type === "action" || type === "decision";
  const members = listMembers(kind).map(({ key, text }) => `${JSON.stringify(key)}:${text}`);
  const fields = parseFields(`{${members.join(",")},"$defs":${findMember(schema, "$defs") ?? "{}"}}`);
  return fields
    .filter(({ key }) => {
      if (excluded.has(key) || key === "nodes" || key === "edges") return key === "nodes" && type === "map";
      if (!isTask) return true;
      if (ofText.has(key)) return executor === "text";
      if (ofAgent.has(key)) return executor === "agent";
      if (ofTool.has(key)) return findMember(definition, key) !== undefined;
      return !ofPrompt.has(key) || executor !== "code";
    })
    .map((field) => ({ ...field, isRequired: false }));
}

function readDrafts(fields: readonly Field[], definition: string): readonly Draft[] {
  const members = readMembers(definition);
  return fields.map(({ key, shape }) => createDraft(shape, members.get(key)));
}

/** Lists the changed members; null removes one. */
function diffDrafts(fields: readonly Field[], drafts: readonly Draft[], definition: string): [string, string | null][] {
  const members = readMembers(definition);
  return fields.flatMap(({ key, shape }, index): [string, string | null][] => {
    const draft = drafts[index];
    const before = members.get(key);
    if (!draft) return [];
    const after = isBlank(draft) ? null : renderValue(shape, draft);
    if (after === null) return before === undefined ? [] : [[key, null]];
    return before !== undefined && normalize(before) === normalize(after) ? [] : [[key, after]];
  });
}

function normalize(json: string): string {
  try {
    return formatJson(json);
  } catch {
    return json;
  }
}
