import { ApiProblem, type Session } from "@nova/client";
import { useEffect, useMemo, useReducer, useRef, useState } from "react";
import { findMember, formatJson, readMembers, readString } from "../../json/raw.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import {
  createDraft,
  type Draft,
  type Field,
  findProblems,
  isBlank,
  type Problems,
  renderValue,
} from "../../parts/form/form.ts";
import { FormFields } from "../../parts/form/form-fields.tsx";
import { Card } from "../../parts/page.tsx";
import { ErrorNote } from "../../parts/states.tsx";
import { texts } from "../../texts.ts";
import { FindingList } from "../workflow/finding-list.tsx";
import { deriveSlug } from "../workflows/workflow-files.ts";
import { readDefinition, replaceText, type SessionNode } from "./draft.ts";
import {
  addTrigger,
  type Change,
  changeNode,
  changeSettings,
  changeTrigger,
  type KeyedTrigger,
  keyTriggers,
  listTriggers,
  type Trigger,
} from "./draft-doc.ts";
import { type PublicationFinding, usePublicationFindings } from "./publish-changes.tsx";
import { listSchemaFields, placeFindings } from "./schema-fields.ts";
import type { DraftEditing } from "./use-draft.ts";

/** Properties of the forms that are generated from the schema. */
interface SchemaFormProps {
  draft: DraftEditing;
  /** The JSON schema of workflow files. */
  schema: string;
}

/** Fields that have their own editor, or that name files. */
const excludedFromNode = new Set(["id", "type", "code", "codeFile", "promptFile", "prompt", "nodes", "edges"]);
/** The fields of text nodes, which other nodes do not have. */
const ofText = new Set(["system", "llm_config", "output_schema", "into", "max_chars", "on_missing", "input_keys"]);
const ofPrompt = new Set(["model", "ai"]);
const ofAgent = new Set(["tools", "max_steps", "max_concurrency"]);
/** The fields of a node that an agent calls as a tool. */
const ofTool = new Set(["input_schema", "approve"]);

interface KindFormProps extends SchemaFormProps {
  node: SessionNode;
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
      if (excludedFromNode.has(key)) return false;
      if (!isTask) return true;
      if (ofText.has(key)) return executor === "text";
      if (ofAgent.has(key)) return executor === "agent";
      if (ofTool.has(key)) return isToolOfAgent || findMember(definition, key) !== undefined;
      return !ofPrompt.has(key) || executor !== "code";
    })
    .map((field) => ({ ...field, isRequired: false }));
}

const words = texts.build;
const triggerWords = words.triggers;

/** Fields of a workflow that are not settings, or that have their own form. */
const excludedFromSettings = new Set(["$schema", "id", "name", "nodes", "edges", "graph_definition", "triggers"]);

interface SettingsTabProps extends SchemaFormProps {
  session: Session;
}

/** The triggers of a draft, and all other settings of its workflow. */
export function SettingsTab({ session, draft, schema }: SettingsTabProps) {
  const { settings } = session;
  const { data: checked } = usePublicationFindings(session);
  const findings = checked?.findings ?? [];
  const fields = useMemo(() => listSchemaFields(schema).filter(({ key }) => !excludedFromSettings.has(key)), [schema]);
  const { triggers: _, on_failure, ...others } = settings;
  const keyed = useRef<readonly KeyedTrigger[]>([]);
  keyed.current = keyTriggers(listTriggers(settings), keyed.current);
  const hasReceivers = Object.keys(on_failure ?? {}).length > 0;
  return (
    <div className="settings-tab">
      <Card title={triggerWords.title} hint={triggerWords.hint}>
        <div className="card-body stack loose">
          {keyed.current.map(({ key, trigger }, index) => (
            <TriggerForm key={key} trigger={trigger} index={index} draft={draft} schema={schema} findings={findings} />
          ))}
          {keyed.current.length === 0 && <p className="quiet">{triggerWords.none}</p>}
          <fieldset className="line" aria-label={triggerWords.add}>
            {Object.entries(triggerWords.kinds).map(([type, kind]) => (
              <Button
                key={type}
                icon="plus"
                onClick={() => void draft.draw((doc) => addTrigger(doc, createTrigger(type, session)))}
              >
                {kind}
              </Button>
            ))}
          </fieldset>
        </div>
      </Card>
      <Card title={words.settings.title} hint={words.settings.hint}>
        <div className="card-body">
          <SavedForm
            id="settings"
            fields={fields}
            object={JSON.stringify({ ...others, ...(hasReceivers && { on_failure }) })}
            findings={placeFindings(fields, findings, "$").problems}
            save={(changes) => draft.apply((doc) => changeSettings(doc, changes))}
          />
        </div>
      </Card>
    </div>
  );
}

/** Creates a trigger with only the fields that its kind needs. */
function createTrigger(type: string, { name, client_slug }: Session): Trigger {
  const address = deriveSlug(name) || "workflow";
  const own: Record<string, object> = {
    schedule: { cron: "0 9 * * ? *" },
    mail: { address },
    imap: { client: client_slug },
    webhook: { id: address },
    event: { pattern: { source: [address] } },
  };
  return { type, ...own[type] };
}

interface TriggerFormProps extends SchemaFormProps {
  trigger: Trigger;
  index: number;
  findings: readonly PublicationFinding[];
}

function TriggerForm({ trigger, index, draft, schema, findings }: TriggerFormProps) {
  const type = String(trigger.type);
  const kind = triggerWords.kinds[type as keyof typeof triggerWords.kinds] ?? triggerWords.unknown;
  const fields = useMemo(
    () => listSchemaFields(schema, `${type}_trigger`).filter(({ key }) => key !== "type"),
    [schema, type],
  );
  const { problems, others } = placeFindings(fields, findings, `$.triggers[${index}]`);
  const title = triggerWords.one(kind, index + 1);
  return (
    <section className="draft-trigger stack" aria-label={title}>
      <header className="row between">
        <h3>{title}</h3>
        <IconButton
          icon="bin"
          label={triggerWords.remove(kind, index + 1)}
          onClick={() => void draft.draw((doc) => changeTrigger(doc, trigger, index))}
        />
      </header>
      <FindingList className="tight small" findings={others} />
      <SavedForm
        id={`trigger-${index}`}
        fields={fields}
        object={JSON.stringify(trigger)}
        findings={problems}
        save={(changes) => draft.apply((doc) => changeTrigger(doc, trigger, index, changes))}
      />
    </section>
  );
}

const pauseMs = 700;

interface SavedFormProps {
  /** Prefix of the ids of all inputs; unique for each form. */
  id: string;
  fields: readonly Field[];
  /** The object that the form edits, as JSON text. */
  object: string;
  /** Messages by the path of their field in the form. */
  findings: Problems;
  /** Returns the user's changes, together with further changes that these make necessary. */
  complete?(changes: readonly Change[]): readonly Change[];
  save(changes: readonly Change[]): Promise<unknown>;
}

/** A form that saves its values when the user pauses typing. */
function SavedForm({ id, fields, object, findings, complete = (changes) => changes, save }: SavedFormProps) {
  const { drafts, setDrafts, problems, hasInvalid, edited, noteSent } = useFieldDrafts(fields, object);
  const [error, setError] = useState<unknown>();
  const changes = edited.length === 0 ? edited : complete(edited);
  const text = changes.length === 0 ? "" : JSON.stringify(changes);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the typed values or of the object starts the pause again
  useEffect(() => {
    if (text === "") return undefined;
    const timer = setTimeout(() => {
      noteSent(changes);
      save(changes).then(() => setError(undefined), setError);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [text, object]);
  const pending = useRef({ changes, save });
  pending.current = { changes, save };
  // Also saves the values if the user leaves the form before the pause ends.
  useEffect(
    () => () => {
      const { changes, save } = pending.current;
      if (changes.length > 0) save(changes).catch(setError);
    },
    [],
  );
  const refused = error instanceof ApiProblem ? error.findings : [];
  const [root = ""] = /^\$(\.\w+\[\d+\])?/.exec(refused[0]?.path ?? "") ?? [];
  const refusals = placeFindings(fields, refused, root).problems;
  return (
    <div className="stack loose">
      <FormFields
        fields={fields}
        drafts={drafts}
        onChange={setDrafts}
        problems={new Map([...findings, ...refusals, ...problems])}
        id={id}
      />
      <p className="small quiet" role="status">
        {hasInvalid || (error !== undefined && changes.length > 0)
          ? texts.writer.invalid
          : changes.length > 0
            ? texts.writer.saving
            : texts.common.saved}
      </p>
      <ErrorNote error={error} />
    </div>
  );
}

interface FieldDraft {
  draft: Draft;
  isEdited: boolean;
  /** The values of the field that this draft has received or sent, newest last. Any other value comes from another user. */
  known: Set<string | undefined>;
}

/** Keeps the drafts of the fields by key. An undo, or a change by another user, replaces the draft of its field. */
function useFieldDrafts(fields: readonly Field[], object: string) {
  const own = useRef(new Map<string, FieldDraft>());
  const [, render] = useReducer((count: number) => count + 1, 0);
  const members = useMemo(() => readMembers(object), [object]);
  const findDraft = ({ key, shape }: Field): FieldDraft => {
    const json = members.get(key);
    const now = json && normalize(json);
    const before = own.current.get(key);
    // When the newest sent value has arrived, forgets the earlier values. If one of these arrives later, it comes from
    // an undo.
    if (before && Array.from(before.known).at(-1) === now) before.known = new Set([now]);
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
    for (const [key, json] of changes) {
      const known = own.current.get(key)?.known;
      const sent = json === null ? undefined : normalize(json);
      known?.delete(sent);
      known?.add(sent);
    }
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
