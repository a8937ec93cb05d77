import type { JSX } from "react";
import { texts } from "../../texts.ts";
import { Button, IconButton } from "../button.tsx";
import { Foreign } from "../foreign.tsx";
import { AnyInput } from "./any-input.tsx";
import { type Draft, newElement } from "./draft.ts";
import type { Problems } from "./problems.ts";
import type { Labelled, ValueProps } from "./props.ts";
import { ScalarInput } from "./scalar-input.tsx";
import type { Field, Shape } from "./schema.ts";
import "./form.css";

interface FormFieldsProps {
  fields: readonly Field[];
  drafts: readonly Draft[];
  onChange(drafts: readonly Draft[]): void;
  problems: Problems;
  /** Begins the ids of the inputs; a form has one of its own. */
  id: string;
  /** Where these fields are within the form. */
  place?: string;
  /** Whether files can be sent. */
  takesFiles?: boolean;
}

/** The fields of a form that was made from a schema. */
export function FormFields({
  fields,
  drafts,
  onChange,
  problems,
  id,
  place = "",
  takesFiles = false,
}: FormFieldsProps): JSX.Element {
  return (
    <div className="form-fields">
      {fields.map((field, index) => (
        <FieldView
          key={field.key}
          field={field}
          draft={drafts[index] as Draft}
          onChange={(draft) => onChange(drafts.with(index, draft))}
          {...{ problems, id, takesFiles }}
          place={`${place}.${index}`}
        />
      ))}
    </div>
  );
}

export function FieldView({ field, ...value }: ValueProps & { field: Field }): JSX.Element {
  const { label, description, isRequired, shape } = field;
  const inputId = `${value.id}${value.place}`;
  const trouble = value.problems.get(value.place);
  const about = [description && `${inputId}-about`, trouble && `${inputId}-trouble`].filter(Boolean).join(" ");
  const isGroup = shape.kind === "object" || shape.kind === "list" || shape.kind === "boolean" || shape.kind === "any";
  const title = (
    <>
      <Foreign text={label} />
      {!isRequired && <span className="form-optional">{texts.form.optional}</span>}
    </>
  );
  const rest = (
    <>
      {description !== undefined && (
        <p id={`${inputId}-about`} className="form-about">
          <Foreign text={description} />
        </p>
      )}
      <ValueView
        {...value}
        shape={shape}
        labelled={{ inputId, label, about: about || undefined, isBad: trouble !== undefined, isRequired }}
      />
      {trouble !== undefined && (
        <p id={`${inputId}-trouble`} className="form-trouble">
          {trouble}
        </p>
      )}
    </>
  );
  if (isGroup) {
    return (
      <fieldset className="form-field" aria-describedby={about || undefined}>
        <legend className="form-label">{title}</legend>
        {rest}
      </fieldset>
    );
  }
  return (
    <div className="form-field">
      <label className="form-label" htmlFor={inputId}>
        {title}
      </label>
      {rest}
    </div>
  );
}

function ValueView({
  shape,
  labelled,
  ...value
}: ValueProps & { shape: Shape; labelled: Labelled }): JSX.Element | null {
  const { draft } = value;
  if (shape.kind === "list" && draft.kind === "list") return <ListInput {...{ shape, labelled, value, draft }} />;
  if (shape.kind === "object" && draft.kind === "object") {
    return (
      <div className="form-inside">
        <FormFields
          {...value}
          fields={shape.fields}
          drafts={draft.members}
          onChange={(members) => value.onChange({ kind: "object", members })}
        />
      </div>
    );
  }
  if (draft.kind === "any")
    return <AnyInput {...{ draft, labelled }} takesFiles={value.takesFiles} onChange={value.onChange} />;
  if (draft.kind === "scalar") {
    return (
      <ScalarInput
        {...{ shape, labelled }}
        text={draft.text}
        onText={(text) => value.onChange({ kind: "scalar", text })}
      />
    );
  }
  return null;
}

interface ListInputProps {
  shape: Extract<Shape, { kind: "list" }>;
  draft: Extract<Draft, { kind: "list" }>;
  labelled: Labelled;
  value: Omit<ValueProps, "draft">;
}

function ListInput({ shape, draft: { elements }, labelled, value }: ListInputProps): JSX.Element {
  const change = (next: typeof elements) => value.onChange({ kind: "list", elements: next });
  return (
    <div className="form-list">
      {elements.map(({ id, draft }, index) => {
        const place = `${value.place}[${id}]`;
        const trouble = value.problems.get(place);
        const label = texts.form.item(labelled.label, index + 1);
        const inputId = `${value.id}${place}`;
        return (
          <div key={id} className="form-item">
            <div className="form-item-value">
              <ValueView
                {...value}
                shape={shape.element}
                draft={draft}
                place={place}
                labelled={{
                  ...{ inputId, label, isRequired: true, isBad: trouble !== undefined },
                  about: trouble === undefined ? undefined : `${inputId}-trouble`,
                }}
                onChange={(changed) => change(elements.with(index, { id, draft: changed }))}
              />
              {trouble !== undefined && (
                <p id={`${inputId}-trouble`} className="form-trouble">
                  {trouble}
                </p>
              )}
            </div>
            <IconButton
              icon="cross"
              label={texts.form.remove(label)}
              onClick={() => change(elements.filter((one) => one.id !== id))}
            />
          </div>
        );
      })}
      <Button icon="plus" onClick={() => change([...elements, newElement(shape.element)])}>
        {texts.form.add}
      </Button>
    </div>
  );
}
