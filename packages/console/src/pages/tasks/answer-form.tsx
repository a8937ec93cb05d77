import type { Task } from "@nova/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type JSX, type MouseEvent, useMemo, useRef, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { createDrafts, type Draft, renderMembers } from "../../parts/form/draft.ts";
import { FormFields } from "../../parts/form/form-fields.tsx";
import { findProblems, type Problems } from "../../parts/form/problems.ts";
import { allowsMoreKeys, type Field, parseFields } from "../../parts/form/schema.ts";
import { ErrorNote } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { addComment, findForm } from "./use-task.ts";

const words = texts.tasks;
/** The storage key of the last name that was used in this browser. */
const nameStorageKey = "nova-answers-as";
const noProblems: Problems = new Map();

/** The input of one form. Choices that share a form share its input. */
interface FormState {
  fields: readonly Field[];
  drafts: readonly Draft[];
  hasRoom: boolean;
  comment: string;
}

/**
 * The form that answers a task. Pressing a choice sends the answer if its form is visible, and shows its form
 * otherwise.
 */
export function AnswerForm({ task }: { task: Task }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [choice, setChoice] = useState<string>();
  const [by, setBy] = useState(() => localStorage.getItem(nameStorageKey) ?? "");
  const [isChecked, setChecked] = useState(false);
  const [sheets, setSheets] = useState<ReadonlyMap<string, FormState>>(new Map());
  const form = useRef<HTMLFormElement>(null);
  const visibleForm = chooseForm(task, choice);
  const sheet = useMemo(() => sheets.get(visibleForm ?? "") ?? createFormState(visibleForm), [sheets, visibleForm]);
  const problems = useMemo(() => findProblems(sheet.fields, sheet.drafts), [sheet]);
  const fill = (changes: Partial<FormState>) =>
    setSheets(new Map(sheets).set(visibleForm ?? "", { ...sheet, ...changes }));
  const answer = useMutation({
    mutationFn(newChoice: string) {
      const data = addComment(renderMembers(sheet.fields, sheet.drafts), sheet.comment);
      return nova.tasks.answer(task.task_id, { choice: newChoice, ...(data && { data }), ...(by !== "" && { by }) });
    },
    async onSuccess() {
      if (by === "") localStorage.removeItem(nameStorageKey);
      else localStorage.setItem(nameStorageKey, by);
      await queries.invalidateQueries({ queryKey: ["tasks"] });
    },
    // If another user answered first, the page shows that answer.
    onSettled: () => queries.invalidateQueries({ queryKey: ["task", task.task_id] }),
  });
  const choose = (event: MouseEvent, newChoice: string) => {
    const isOther = chooseForm(task, newChoice) !== visibleForm;
    setChoice(newChoice);
    answer.reset();
    if (isOther) return setChecked(false);
    // The second press of a double click was aimed at the previous content.
    if (event.detail > 1) return;
    setChecked(true);
    if (problems.size > 0) return focusFirstBad(form.current);
    answer.mutate(newChoice);
  };
  return (
    <form ref={form} className="task-answer" onSubmit={(event) => event.preventDefault()} aria-label={words.form}>
      {visibleForm !== noForm && (
        <div className="task-part task-form">
          <FormFields
            fields={sheet.fields}
            drafts={sheet.drafts}
            id={`${task.task_id}-`}
            problems={isChecked ? problems : noProblems}
            onChange={(drafts) => fill({ drafts })}
          />
          {sheet.hasRoom && <Comment text={sheet.comment} onText={(comment) => fill({ comment })} />}
          <By name={by} onName={setBy} />
        </div>
      )}
      <div className="task-bar">
        {isChecked && problems.size > 0 && <p className="form-trouble">{words.fix(problems.size)}</p>}
        <ErrorNote error={answer.error} />
        <fieldset className="task-choices" aria-label={words.choices} disabled={answer.isPending || answer.isSuccess}>
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

/** Stands for the state before a choice, in which no form is visible. */
const noForm = "choose first";

/** Returns the visible form: the one of the choice, or the one that all choices share. */
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

function focusFirstBad(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => {
    const bad = form?.querySelector<HTMLElement>("[aria-invalid=true], .form-trouble");
    const field = bad?.matches("input, textarea, select")
      ? bad
      : bad?.closest(".form-field")?.querySelector<HTMLElement>("input, textarea, select, button");
    field?.focus();
  });
}

function Comment({ text, onText }: { text: string; onText(text: string): void }): JSX.Element {
  return (
    <div className="form-field task-extra">
      <label className="form-label" htmlFor="task-comment">
        {words.comment}
        <span className="form-optional">{texts.form.optional}</span>
      </label>
      <textarea
        id="task-comment"
        className="form-input"
        rows={2}
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
    </div>
  );
}

function By({ name, onName }: { name: string; onName(name: string): void }): JSX.Element {
  return (
    <div className="form-field task-extra">
      <label className="form-label" htmlFor="task-by">
        {words.by}
        <span className="form-optional">{texts.form.optional}</span>
      </label>
      <input
        id="task-by"
        className="form-input"
        type="text"
        autoComplete="name"
        maxLength={200}
        aria-describedby="task-by-about"
        value={name}
        onChange={(event) => onName(event.target.value)}
      />
      <p id="task-by-about" className="form-about">
        {words.byHint}
      </p>
    </div>
  );
}
