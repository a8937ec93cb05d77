import type { Schemas, Task, WholeTask } from "@nova/client";
import { useMutation } from "@tanstack/react-query";
import { type MouseEvent, useMemo, useRef, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { useReload } from "../../api/queries.ts";
import { asRaw, listMembers, Raw } from "../../json/raw.ts";
import { Field, TextField } from "../../parts/field.tsx";
import {
  allowsMoreKeys,
  createDrafts,
  type Draft,
  type Field as FormField,
  findProblems,
  type Problems,
  parseFields,
  renderMembers,
} from "../../parts/form/form.ts";
import { FormFields, focusFirstBad } from "../../parts/form/form-fields.tsx";
import { ErrorNote } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { refusalId } from "./voting-view.tsx";

const words = texts.tasks;

const nameStorageKey = "nova-answers-as";
const noProblems: Problems = new Map();

/** The input of one form. Several choices may share one form, and then also share the input. */
interface FormState {
  fields: readonly FormField[];
  drafts: readonly Draft[];
  hasRoom: boolean;
  comment: string;
}

interface AnswerFormProps {
  task: WholeTask;
  onAnswer?(answered: Schemas["AnsweredTask"]): void;
}

/**
 * The form that answers a task. If the form of a choice is visible, a press on the choice sends the answer. Otherwise a
 * press on the choice shows its form.
 */
export function AnswerForm({ task, onAnswer }: AnswerFormProps) {
  const nova = useNova();
  const reload = useReload();
  const [choice, setChoice] = useState<string>();
  const [by, setBy] = useState(() => localStorage.getItem(nameStorageKey) ?? "");
  const [isChecked, setChecked] = useState(false);
  const [sheets, setSheets] = useState<ReadonlyMap<string, FormState>>(new Map());
  const form = useRef<HTMLFormElement>(null);
  const visibleForm = chooseForm(task, choice);
  const isRefused = typeof task.voting?.refusal === "string";
  const sheet = useMemo(() => sheets.get(visibleForm ?? "") ?? createFormState(visibleForm), [sheets, visibleForm]);
  const problems = useMemo(() => findProblems(sheet.fields, sheet.drafts), [sheet]);
  const fill = (changes: Partial<FormState>) =>
    setSheets(new Map(sheets).set(visibleForm ?? "", { ...sheet, ...changes }));
  const answer = useMutation({
    mutationFn(newChoice: string) {
      const data = addComment(renderMembers(sheet.fields, sheet.drafts), sheet.comment);
      return nova.tasks.answer(task.task_id, {
        choice: newChoice,
        ...(data && { data }),
        ...(by !== "" && !task.approvers && { by }),
      });
    },
    async onSuccess(answered) {
      onAnswer?.(answered);
      if (by === "") localStorage.removeItem(nameStorageKey);
      else localStorage.setItem(nameStorageKey, by);
      await reload(["/tasks"]);
    },
    // If another user answered first, the page shows that answer.
    onSettled: () => reload(["task", task.task_id]),
  });
  const choose = (event: MouseEvent, newChoice: string) => {
    const isOther = chooseForm(task, newChoice) !== visibleForm;
    setChoice(newChoice);
    answer.reset();
    if (isOther) return setChecked(false);
    // Ignores the second press of a double click, because the first press has changed the content under the pointer.
    if (event.detail > 1) return;
    setChecked(true);
    if (problems.size > 0) return focusFirstBad(form.current);
    answer.mutate(newChoice);
  };
  return (
    <form ref={form} onSubmit={(event) => event.preventDefault()} aria-label={words.form}>
      {visibleForm !== noForm && (
        <div className="stack loose">
          <FormFields
            fields={sheet.fields}
            drafts={sheet.drafts}
            id={`${task.task_id}-`}
            problems={isChecked ? problems : noProblems}
            onChange={(drafts) => fill({ drafts })}
          />
          {sheet.hasRoom && (
            <Field label={markOptional(words.comment)}>
              {(ids) => (
                <textarea
                  {...ids}
                  className="input"
                  rows={2}
                  value={sheet.comment}
                  onChange={(event) => fill({ comment: event.target.value })}
                />
              )}
            </Field>
          )}
          {!task.approvers && (
            <TextField
              label={markOptional(words.by)}
              hint={words.byHint}
              autoComplete="name"
              maxLength={200}
              value={by}
              onChange={setBy}
            />
          )}
        </div>
      )}
      <div className="task-bar stack">
        {isChecked && problems.size > 0 && <p className="field-error">{words.fix(problems.size)}</p>}
        <ErrorNote error={answer.error} />
        <fieldset
          className="task-choices row"
          aria-label={words.choices}
          aria-describedby={isRefused ? refusalId : undefined}
          disabled={answer.isPending || answer.isSuccess || isRefused}
        >
          {task.choices.map((one) => (
            <button
              key={one}
              type="button"
              className={`button task-choice ${one === choice || task.choices.length === 1 ? "button-main" : ""}`}
              aria-pressed={one === choice}
              onClick={(event) => choose(event, one)}
            >
              <UntrustedText
                text={formatChoice(one, choice, visibleForm !== noForm && task.forms !== null, answer.isPending)}
              />
            </button>
          ))}
        </fieldset>
      </div>
    </form>
  );
}

/** Stands for the absence of a form, before the user has made a choice. */
const noForm = "choose first";

/** Returns the visible form: the form of the choice, or the form that all choices share. */
function chooseForm(task: Task, choice: string | undefined): string | undefined {
  return choice === undefined && task.forms !== null ? noForm : findForm(task, choice);
}

function formatChoice(one: string, choice: string | undefined, isTwoSteps: boolean, isPending: boolean): string {
  if (one !== choice) return one;
  if (isPending) return words.sending;
  return isTwoSteps ? words.send(one) : one;
}

function createFormState(form: string | undefined): FormState {
  if (form === noForm) return { fields: [], drafts: [], hasRoom: false, comment: "" };
  const fields = form === undefined ? [] : parseFields(form);
  const hasRoom = (form === undefined || allowsMoreKeys(form)) && !fields.some(({ key }) => key === "comment");
  return { fields, drafts: createDrafts(fields), hasRoom, comment: "" };
}

function markOptional(label: string) {
  return (
    <>
      {label}
      <span className="faint small">{texts.form.optional}</span>
    </>
  );
}

/** Builds the data of an answer from the members of its form. A comment is added as the member `comment`. */
function addComment(members: readonly string[], comment: string): Raw | undefined {
  const all = comment === "" ? members : [...members, `"comment":${JSON.stringify(comment)}`];
  return all.length === 0 ? undefined : new Raw(`{${all.join(",")}}`);
}

/** Returns the form of a choice as JSON text. Choices without their own form share the task's form. */
function findForm({ form, forms }: Task, choice: string | undefined): string | undefined {
  const choiceForm =
    forms && choice !== undefined ? listMembers(asRaw(forms).text).find(({ key }) => key === choice) : undefined;
  return choiceForm?.text ?? (form ? asRaw(form).text : undefined);
}
