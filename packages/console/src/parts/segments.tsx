import { type JSX, useId } from "react";
import "./segments.css";

interface SegmentsProps<Value extends string> {
  label: string;
  choices: readonly (readonly [value: Value, name: string])[];
  value: Value;
  onChange(value: Value): void;
  /** Of the first one. */
  id?: string;
  isBad?: boolean;
}

/** A few choices beside each other, one of which is chosen. */
export function Segments<Value extends string>({
  label,
  choices,
  value,
  onChange,
  id,
  isBad = false,
}: SegmentsProps<Value>): JSX.Element {
  const name = useId();
  return (
    <div className="segments" role="radiogroup" aria-label={label} aria-invalid={isBad || undefined}>
      {choices.map(([one, text], index) => (
        <label key={one} className="segment" data-chosen={one === value || undefined}>
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
