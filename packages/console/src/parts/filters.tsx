import type { JSX, RefObject } from "react";
import { texts } from "../texts.ts";
import { Icon } from "./icon.tsx";
import "./filters.css";

interface ChoiceProps {
  label: string;
  value: string | undefined;
  values: readonly (readonly [value: string, label: string])[];
  /** The label for no choice; default: all values. */
  none?: string;
  onChange(value: string | undefined): void;
}

/** A filter: one of `values`, or no restriction. */
export function FilterSelect({ label, value, values, none = texts.common.all, onChange }: ChoiceProps): JSX.Element {
  const isKnown = value === undefined || values.some(([one]) => one === value);
  const all = isKnown ? values : [[value, value] as const, ...values];
  return (
    <label className="choice" data-chosen={value !== undefined || undefined}>
      <span className="choice-label">{label}</span>
      <select aria-label={label} value={value ?? ""} onChange={(event) => onChange(event.target.value || undefined)}>
        <option value="">{none}</option>
        {all.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
      <Icon name="down" size={12} />
    </label>
  );
}

interface SearchTextProps {
  value: string | undefined;
  label: string;
  onChange(value: string): void;
  input: RefObject<HTMLInputElement | null>;
}

/** The search field of a filter bar. */
export function SearchField({ value, label, onChange, input }: SearchTextProps): JSX.Element {
  return (
    <div className="filter-text">
      <Icon name="search" size={14} />
      <input
        ref={input}
        type="search"
        value={value ?? ""}
        placeholder={label}
        aria-label={label}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
    </div>
  );
}
