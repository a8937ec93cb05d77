import { type InputHTMLAttributes, type JSX, type ReactNode, type TextareaHTMLAttributes, useId } from "react";

interface Around {
  label: ReactNode;
  hint?: ReactNode;
  /** The error of the value. */
  error?: ReactNode;
}

interface Ids {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

/** A labelled control with a hint or an error. `children` gets attributes, and must spread them over the control. */
export function Field({ label, hint, error, children }: Around & { children(ids: Ids): ReactNode }): JSX.Element {
  const id = useId();
  const note = error ?? hint;
  const ids = {
    id,
    ...(note !== undefined && { "aria-describedby": `${id}-note` }),
    ...(error !== undefined && { "aria-invalid": true as const }),
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(ids)}
      {note !== undefined && (
        <p id={`${id}-note`} className={error === undefined ? "field-hint" : "field-error"}>
          {note}
        </p>
      )}
    </div>
  );
}

type Given<Attributes> = Omit<Attributes, "id" | "className" | "value" | "onChange"> & {
  value: string;
  onChange(value: string): void;
};

type TextFieldProps = Around & Given<InputHTMLAttributes<HTMLInputElement>>;

export function TextField({ label, hint, error, onChange, ...given }: TextFieldProps): JSX.Element {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <input
          autoComplete="off"
          spellCheck={false}
          {...given}
          {...ids}
          className="input"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

type TextAreaProps = Around & Given<TextareaHTMLAttributes<HTMLTextAreaElement>>;

export function TextArea({ label, hint, error, onChange, ...given }: TextAreaProps): JSX.Element {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <textarea
          spellCheck={false}
          {...given}
          {...ids}
          className="input input-area"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

interface SelectFieldProps extends Around {
  value: string;
  values: readonly (readonly [value: string, label: string])[];
  disabled?: boolean;
  onChange(value: string): void;
}

export function SelectField({ label, hint, error, value, values, disabled, onChange }: SelectFieldProps): JSX.Element {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <select
          {...ids}
          className="input"
          value={value}
          disabled={disabled}
          onChange={(event) => onChange(event.target.value)}
        >
          <Options values={values} />
        </select>
      )}
    </Field>
  );
}

/** The choices of a `select` element. */
export function Options({ values }: Pick<SelectFieldProps, "values">): JSX.Element[] {
  return values.map(([value, label]) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));
}

interface SegmentsProps<Value extends string> {
  label: string;
  choices: readonly (readonly [value: Value, name: string])[];
  value: Value;
  onChange(value: Value): void;
  /** The id of the first choice. */
  id?: string;
  isBad?: boolean;
}

/** A row of choices, one of which is selected. */
export function Segments<Value extends string>(props: SegmentsProps<Value>): JSX.Element {
  const { label, choices, value, onChange, id, isBad = false } = props;
  const name = useId();
  return (
    <div className="segments" role="radiogroup" aria-label={label} aria-invalid={isBad || undefined}>
      {choices.map(([one, text], index) => (
        <label key={one} data-chosen={one === value || undefined}>
          <input
            type="radio"
            id={index === 0 ? id : undefined}
            name={name}
            checked={one === value}
            onChange={() => onChange(one)}
          />
          {text}
        </label>
      ))}
    </div>
  );
}
