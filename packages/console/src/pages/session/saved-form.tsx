import { ApiProblem } from "@nova/client";
import { useEffect, useMemo, useReducer, useRef, useState } from "react";
import { formatJson, readMembers } from "../../json/raw.ts";
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
import { ErrorNote } from "../../parts/states.tsx";
import { texts } from "../../texts.ts";
import type { Change } from "./draft-doc.ts";
import { placeFindings } from "./schema-fields.ts";

const pauseMs = 700;

interface SavedFormProps {
  /** Prefix of the ids of all inputs; unique for each form. */
  id: string;
  fields: readonly Field[];
  /** The object that the form edits, as JSON text. */
  object: string;
  /** Messages by the place of their field. */
  findings: Problems;
  /** Adds changes that follow from the changes of the user. */
  complete?(changes: readonly Change[]): readonly Change[];
  save(changes: readonly Change[]): Promise<unknown>;
}

/** A form that saves its values when the user pauses typing. */
export function SavedForm({ id, fields, object, findings, complete = (changes) => changes, save }: SavedFormProps) {
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
    // Forgets earlier values once the newest sent value has arrived, because a return to one of them is an undo.
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
