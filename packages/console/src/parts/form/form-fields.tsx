import type { JSX } from "react";
import { readString } from "../../json/raw.ts";
import { texts } from "../../texts.ts";
import { Button, FileButton, IconButton, useDrop } from "../button.tsx";
import { Options, Segments } from "../field.tsx";
import { Icon } from "../icon.tsx";
import { formatBytes } from "../time.tsx";
import { UntrustedText } from "../untrusted-text.tsx";
import {
  type AnyDraft,
  type AnyMode,
  createElement,
  type Draft,
  type Field,
  type FieldShape,
  type Problems,
} from "./form.ts";

/** The properties that the editors of all values of a form have in common. */
interface FormProps {
  problems: Problems;
  /** Prefix of the ids of all inputs; unique for each form. */
  id: string;
  /** Whether values without a type may be files. */
  takesFiles?: boolean;
}

interface FormFieldsProps extends FormProps {
  fields: readonly Field[];
  drafts: readonly Draft[];
  onChange(drafts: readonly Draft[]): void;
  /** The path of these fields in the form. */
  place?: string;
}

/** The fields of a form that is generated from a schema. */
export function FormFields({ fields, drafts, onChange, place = "", ...form }: FormFieldsProps): JSX.Element {
  return (
    <div className="stack loose">
      {fields.map((field, index) => (
        <FieldView
          {...form}
          key={field.key}
          field={field}
          draft={drafts[index] as Draft}
          onChange={(draft) => onChange(drafts.with(index, draft))}
          place={`${place}.${index}`}
        />
      ))}
    </div>
  );
}

function FieldView({ field, ...value }: ValueProps & { field: Field }): JSX.Element {
  const { label, description, isRequired, shape } = field;
  const inputId = `${value.id}${value.place}`;
  const problem = value.problems.get(value.place);
  const about = [description && `${inputId}-about`, problem && `${inputId}-trouble`].filter(Boolean).join(" ");
  const isGroup = shape.kind === "object" || shape.kind === "list" || shape.kind === "boolean" || shape.kind === "any";
  const title = (
    <>
      <UntrustedText text={label} />
      {!isRequired && <span className="faint small">{texts.form.optional}</span>}
    </>
  );
  const content = (
    <>
      {description !== undefined && (
        <p id={`${inputId}-about`} className="field-hint">
          <UntrustedText text={description} />
        </p>
      )}
      <ValueView
        {...value}
        shape={shape}
        labelled={{ inputId, label, about: about || undefined, isBad: problem !== undefined, isRequired }}
      />
      <Trouble inputId={inputId} text={problem} />
    </>
  );
  return isGroup ? (
    <fieldset className="field" aria-describedby={about || undefined}>
      <legend>{title}</legend>
      {content}
    </fieldset>
  ) : (
    <div className="field">
      <label htmlFor={inputId}>{title}</label>
      {content}
    </div>
  );
}

type ValueViewProps = ValueProps & { shape: FieldShape; labelled: Labelled };

function ValueView({ shape, labelled, ...value }: ValueViewProps): JSX.Element | null {
  const { draft, onChange } = value;
  if (shape.kind === "list" && draft.kind === "list")
    return <ListInput shape={shape} labelled={labelled} value={value} draft={draft} />;
  if (shape.kind === "object" && draft.kind === "object") {
    return (
      <div className="form-inside">
        <FormFields
          {...value}
          fields={shape.fields}
          drafts={draft.members}
          onChange={(members) => onChange({ kind: "object", members })}
        />
      </div>
    );
  }
  if (draft.kind === "any")
    return <AnyInput draft={draft} labelled={labelled} takesFiles={value.takesFiles} onChange={onChange} />;
  if (draft.kind !== "scalar") return null;
  const setText = (text: string) => onChange({ kind: "scalar", text });
  return <ScalarInput shape={shape} labelled={labelled} text={draft.text} onText={setText} />;
}

interface ListInputProps {
  shape: Extract<FieldShape, { kind: "list" }>;
  draft: Extract<Draft, { kind: "list" }>;
  labelled: Labelled;
  value: Omit<ValueProps, "draft">;
}

function ListInput({ shape, draft: { elements }, labelled, value }: ListInputProps): JSX.Element {
  const change = (next: typeof elements) => value.onChange({ kind: "list", elements: next });
  return (
    <div className="stack start">
      {elements.map(({ id, draft }, index) => {
        const place = `${value.place}[${id}]`;
        const problem = value.problems.get(place);
        const label = texts.form.item(labelled.label, index + 1);
        const inputId = `${value.id}${place}`;
        return (
          <div key={id} className="form-item">
            <div className="fill">
              <ValueView
                {...value}
                shape={shape.element}
                draft={draft}
                place={place}
                labelled={{
                  inputId,
                  label,
                  isRequired: true,
                  isBad: problem !== undefined,
                  about: problem === undefined ? undefined : `${inputId}-trouble`,
                }}
                onChange={(changed) => change(elements.with(index, { id, draft: changed }))}
              />
              <Trouble inputId={inputId} text={problem} />
            </div>
            <IconButton
              icon="cross"
              label={texts.form.remove(label)}
              onClick={() => change(elements.filter((one) => one.id !== id))}
            />
          </div>
        );
      })}
      <Button icon="plus" onClick={() => change([...elements, createElement(shape.element)])}>
        {texts.form.add}
      </Button>
    </div>
  );
}

/** The sentence about a problem of an input. The input refers to the sentence by `aria-describedby`. */
export function Trouble({ inputId, text }: { inputId: string; text: string | undefined }): JSX.Element | null {
  if (text === undefined) return null;
  return (
    <p id={`${inputId}-trouble`} className="field-error">
      {text}
    </p>
  );
}

interface AnyInputProps {
  draft: AnyDraft;
  onChange(draft: AnyDraft): void;
  labelled: Labelled;
  takesFiles?: boolean | undefined;
}

/** Edits a value without a declared type: a text, JSON or a file. */
export function AnyInput({ draft, labelled, takesFiles, onChange }: AnyInputProps): JSX.Element {
  const { inputId, label, about, isBad } = labelled;
  const modes: AnyMode[] = takesFiles ? ["text", "json", "file"] : ["text", "json"];
  const take = (file: File | undefined) => onChange({ ...draft, mode: "file", file });
  const { isOver, attributes } = useDrop(([file]) => file && take(file));
  return (
    <div className="form-any stack start" data-over={isOver || undefined} {...(takesFiles && attributes)}>
      <Segments
        label={texts.form.modeOf(label)}
        choices={modes.map((mode) => [mode, texts.form.modes[mode]] as const)}
        value={draft.mode}
        onChange={(mode) => onChange({ ...draft, mode })}
      />
      {draft.mode === "file" ? (
        <FileInput draft={draft} labelled={labelled} take={take} />
      ) : (
        <textarea
          id={inputId}
          className={`input ${draft.mode === "json" ? "mono" : ""}`}
          rows={draft.mode === "json" ? 3 : 1}
          aria-label={label}
          aria-describedby={about}
          aria-invalid={isBad || undefined}
          spellCheck={draft.mode === "text"}
          value={draft.text}
          onChange={(event) => onChange({ ...draft, text: event.target.value })}
        />
      )}
    </div>
  );
}

interface FileInputProps {
  draft: AnyDraft;
  labelled: Labelled;
  take(file: File | undefined): void;
}

function FileInput({ draft: { file }, labelled, take }: FileInputProps): JSX.Element {
  const { inputId, label, about } = labelled;
  if (file) {
    return (
      <div className="form-file row">
        <Icon name="file" />
        <span className="fill ellipsis">
          <UntrustedText text={file.name} />
        </span>
        <span className="quiet">{formatBytes(file.size)}</span>
        <IconButton icon="cross" label={texts.form.remove(file.name)} onClick={() => take(undefined)} />
      </div>
    );
  }
  return (
    <div className="form-file line">
      <Icon name="upload" />
      <span className="quiet">{texts.form.drop}</span>
      <FileButton id={inputId} label={label} about={about} onFiles={([chosen]) => take(chosen)}>
        {texts.form.chooseFile}
      </FileButton>
    </div>
  );
}

interface ScalarInputProps {
  shape: FieldShape;
  labelled: Labelled;
  text: string;
  onText(text: string): void;
}

function ScalarInput({ shape, labelled, text, onText }: ScalarInputProps): JSX.Element | null {
  const { inputId, label, about, isBad, isRequired } = labelled;
  if (shape.kind === "boolean") {
    const choices: [string, string][] = [
      ["true", texts.form.yes],
      ["false", texts.form.no],
    ];
    if (!isRequired) choices.push(["", texts.form.none]);
    return <Segments label={label} choices={choices} isBad={isBad} id={inputId} value={text} onChange={onText} />;
  }
  const given = {
    id: inputId,
    value: text,
    className: "input",
    "aria-label": label,
    "aria-required": isRequired,
    ...(about !== undefined && { "aria-describedby": about }),
    ...(isBad && { "aria-invalid": true }),
    onChange: ({ target }: { target: { value: string } }) => onText(target.value),
  };
  if (shape.kind === "choice") {
    return (
      <select {...given}>
        {(!isRequired || text === "") && <option value="">{isRequired ? texts.form.choose : texts.form.none}</option>}
        <Options values={shape.values.map((value) => [value, readString(value) ?? value] as const)} />
      </select>
    );
  }
  if (shape.kind === "number") {
    return <input {...given} type="text" inputMode={shape.isInteger ? "numeric" : "decimal"} autoComplete="off" />;
  }
  if (shape.kind !== "text") return null;
  if (shape.isLong) return <textarea {...given} rows={3} />;
  return <input {...given} type={shape.input} autoComplete="off" />;
}

/** Properties of the editor of one value. */
interface ValueProps extends FormProps {
  draft: Draft;
  onChange(draft: Draft): void;
  place: string;
}

/** Labels of an input for assistive technology. */
interface Labelled {
  inputId: string;
  label: string;
  about: string | undefined;
  isBad: boolean;
  isRequired: boolean;
}

/** Moves the focus to the first field with a problem, after the problems are shown. */
export function focusFirstBad(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => {
    const bad = form?.querySelector<HTMLElement>("[aria-invalid=true], .field-error");
    const field = bad?.matches("input, textarea, select")
      ? bad
      : bad?.closest(".field")?.querySelector<HTMLElement>("input, textarea, select, button");
    field?.focus();
  });
}
