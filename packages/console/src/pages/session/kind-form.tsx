import { ApiProblem } from "@nova/client";
import { useEffect, useMemo, useReducer, useRef, useState } from "react";
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
import { readDefinition, replaceText, type SessionNode } from "./draft.ts";
import { useNodeChange } from "./use-session.ts";

/** Fields that have an editor of their own, or that belong to files. */
const excluded = new Set(["id", "type", "code", "codeFile", "promptFile", "prompt"]);
/** The fields of text nodes, which other nodes do not have. */
const ofText = new Set(["system", "llm_config", "output_schema", "into", "max_chars", "on_missing", "input_keys"]);
const ofPrompt = new Set(["model", "ai"]);
const ofAgent = new Set(["tools", "max_steps", "max_concurrency"]);
/** The fields of a node that an agent calls as a tool. */
const ofTool = new Set(["input_schema", "approve"]);

const pauseMs = 700;

interface KindFormProps {
  session: string;
  node: SessionNode;
  /** The JSON schema of workflow files. */
  schema: string;
  /** Whether an agent of the draft calls the node as a tool. */
  isTool: boolean;
  onSaved(): void;
}

/** The form of a node, generated from the schema of its kind. It saves each pause in typing. */
export function KindForm({ session, node, schema, isTool, onSaved }: KindFormProps) {
  const nova = useNova();
  const definition = readDefinition(node);
  const fields = useMemo(() => listFields(removeMarkdown(schema), definition, isTool), [schema, definition, isTool]);
  const { drafts, setDrafts, problems, hasInvalid, edited, noteSent } = useFieldDrafts(fields, definition);
  const [error, setError] = useState<unknown>();
  const version = useRef(node.version);
  version.current = node.version;
  const save = useNodeChange(session, node.node_id, (now) => {
    version.current = now;
  });
  const executor = edited.find(([key]) => key === "executor");
  const changes = executor
    ? [...edited, ...replaceText(definition, readString(executor[1] ?? undefined) ?? "code")]
    : edited;
  const text = changes.length === 0 ? "" : JSON.stringify(changes);
  // A refused request is sent again with the next version of the node.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the typed values or of the node starts the pause again
  useEffect(() => {
    if (text === "") return undefined;
    const timer = setTimeout(() => {
      noteSent(changes);
      const request = Object.fromEntries(changes.map(([key, json]) => [key, json === null ? null : new Raw(json)]));
      save(nova.sessions.changeNode(session, node.node_id, request, { version: version.current })).then(() => {
        setError(undefined);
        onSaved();
      }, setError);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [text, node.version]);
  return (
    <div className="stack loose">
      <FormFields
        fields={fields}
        drafts={drafts}
        onChange={setDrafts}
        problems={new Map([...locateFindings(fields, error), ...problems])}
        id={`node-${node.node_id}`}
      />
      <p className="small quiet" role="status">
        {hasInvalid || (error !== undefined && changes.length > 0)
          ? texts.writer.invalid
          : changes.length > 0
            ? texts.writer.saving
            : texts.writer.saved}
      </p>
      <ErrorNote error={error} />
    </div>
  );
}

/** Returns the findings with which the server refused a change, by the place of their field. */
function locateFindings(fields: readonly Field[], error: unknown): [place: string, sentence: string][] {
  const findings = error instanceof ApiProblem ? error.findings : [];
  return findings.flatMap(({ path, message }): [string, string][] => {
    const [, key] = /^\$\.nodes\[\d+\]\.(\w+)/.exec(path) ?? [];
    const at = fields.findIndex((field) => field.key === key);
    return at < 0 ? [] : [[`.${at}`, message]];
  });
}

/** Removes the Markdown of the descriptions, which are written for pages: marks of code, and links. */
function removeMarkdown(schema: string): string {
  return schema.replaceAll(/"description":\s*"(?:[^"\\]|\\.)*"/g, (text) =>
    text.replaceAll("`", "").replaceAll(/\[([^\]]*)\]\(#[^)]*\)/g, "$1"),
  );
}

/** Lists the fields of the kind of a node, with the schema's descriptions. */
function listFields(schema: string, definition: string, isToolOfAgent: boolean): readonly Field[] {
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
      if (ofTool.has(key)) return isToolOfAgent || findMember(definition, key) !== undefined;
      return !ofPrompt.has(key) || executor !== "code";
    })
    .map((field) => ({ ...withoutInitial(field), isRequired: false }));
}

/** Removes the defaults of members: an absent member stays absent, and its description names the default. */
function withoutInitial(field: Field): Field {
  const { shape } = field;
  const inner = shape.kind === "object" ? { ...shape, fields: shape.fields.map(withoutInitial) } : shape;
  return { ...field, shape: inner, initial: undefined };
}

/** A changed member of the definition as JSON; null removes it. */
type Change = [key: string, json: string | null];

interface FieldDraft {
  draft: Draft;
  isEdited: boolean;
  /** The values of the definition that this draft has seen or sent. Another value is a change of another user. */
  known: Set<string | undefined>;
}

/** Keeps the drafts of the fields by key. A field shows the change of another user in place of its draft. */
function useFieldDrafts(fields: readonly Field[], definition: string) {
  const own = useRef(new Map<string, FieldDraft>());
  const [, render] = useReducer((count: number) => count + 1, 0);
  const members = useMemo(() => readMembers(definition), [definition]);
  const findDraft = ({ key, shape }: Field): FieldDraft => {
    const json = members.get(key);
    const now = json && normalize(json);
    const before = own.current.get(key);
    if (before?.known.has(now)) return before;
    const created = { draft: createDraft(shape, json), isEdited: false, known: new Set([now]) };
    own.current.set(key, created);
    return created;
  };
  const drafts = fields.map((field) => findDraft(field).draft);
  const setDrafts = (next: readonly Draft[]) => {
    for (const [index, field] of fields.entries()) {
      const [before, draft] = [findDraft(field), next[index]];
      if (draft && draft !== before.draft) own.current.set(field.key, { ...before, draft, isEdited: true });
    }
    render();
  };
  const problems = findProblems(fields, drafts);
  const isInvalid = (at: number) => Array.from(problems.keys()).some((place) => new RegExp(`^\\.${at}\\b`).test(place));
  const hasInvalid = fields.some((field, at) => findDraft(field).isEdited && isInvalid(at));
  const edited = fields.flatMap((field, at): Change[] => {
    const { key, shape } = field;
    const { draft, isEdited } = findDraft(field);
    const before = members.get(key);
    if (!isEdited || isInvalid(at)) return [];
    const after = isBlank(draft) ? null : renderValue(shape, draft);
    if (after === null) return before === undefined ? [] : [[key, null]];
    return before !== undefined && normalize(before) === normalize(after) ? [] : [[key, after]];
  });
  const noteSent = (changes: readonly Change[]) => {
    for (const [key, json] of changes) own.current.get(key)?.known.add(json === null ? undefined : normalize(json));
  };
  return { drafts, setDrafts, problems, hasInvalid, edited, noteSent };
}

function normalize(json: string): string {
  try {
    return formatJson(json);
  } catch {
    return json;
  }
}
