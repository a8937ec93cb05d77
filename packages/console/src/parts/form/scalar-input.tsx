import type { JSX } from "react";
import { kindOf } from "../../json/raw.ts";
import { texts } from "../../texts.ts";
import { Segments } from "../segments.tsx";
import type { Labelled } from "./props.ts";
import type { Shape } from "./schema.ts";

interface ScalarInputProps {
  shape: Shape;
  labelled: Labelled;
  text: string;
  onText(text: string): void;
}

export function ScalarInput({ shape, labelled, text, onText }: ScalarInputProps): JSX.Element | null {
  const { inputId, label, about, isBad, isRequired } = labelled;
  if (shape.kind === "boolean") {
    const choices: [string, string][] = [
      ["true", texts.form.yes],
      ["false", texts.form.no],
    ];
    if (!isRequired) choices.push(["", texts.form.none]);
    return <Segments {...{ label, choices, isBad }} id={inputId} value={text} onChange={onText} />;
  }
  const given = {
    ...{ id: inputId, value: text, className: "form-input", "aria-label": label, "aria-required": isRequired },
    ...(about !== undefined && { "aria-describedby": about }),
    ...(isBad && { "aria-invalid": true }),
    onChange: ({ target }: { target: { value: string } }) => onText(target.value),
  };
  if (shape.kind === "choice") {
    const choices = shape.values.map((value): [string, string] => [value, shown(value)]);
    return (
      <select {...given}>
        {(!isRequired || text === "") && <option value="">{isRequired ? texts.form.choose : texts.form.none}</option>}
        {choices.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
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

function shown(json: string): string {
  return kindOf(json) === "text" ? JSON.parse(json) : json;
}
