import type { JSX, ReactNode, RefObject } from "react";
import { texts } from "../texts.ts";
import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";
import "./filters.css";

interface FilterBarProps {
  isFiltered?: boolean;
  onClear?(): void;
  children: ReactNode;
}

/** The filters of a page, with a button that clears them. */
export function FilterBar({ isFiltered = false, onClear, children }: FilterBarProps): JSX.Element {
  return (
    <div className="filter-bar" role="search">
      {children}
      {isFiltered && <IconButton icon="cross" label={texts.runs.clear} onClick={onClear} />}
    </div>
  );
}

/** Returns choices whose labels equal their values. */
export function toChoices(values: readonly string[]): [value: string, label: string][] {
  return values.map((value) => [value, value]);
}

interface FilterSelectProps {
  label: string;
  value: string | undefined;
  values: readonly (readonly [value: string, label: string])[];
  /** The label for no choice; default: all values. */
  none?: string;
  onChange(value: string | undefined): void;
}

/** A filter: one of `values`, or no restriction. */
export function FilterSelect({
  label,
  value,
  values,
  none = texts.common.all,
  onChange,
}: FilterSelectProps): JSX.Element {
  const isKnown = value === undefined || values.some(([choice]) => choice === value);
  const all = isKnown ? values : [[value, value] as const, ...values];
  return (
    <label className="choice" data-chosen={value !== undefined || undefined}>
      <span className="choice-label">{label}</span>
      <select aria-label={label} value={value ?? ""} onChange={(event) => onChange(event.target.value || undefined)}>
        <option value="">{none}</option>
        {all.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
      <Icon name="down" size={12} />
    </label>
  );
}

interface SearchFieldProps {
  value: string | undefined;
  label: string;
  onChange(value: string): void;
  input: RefObject<HTMLInputElement | null>;
}

/** The search field of a filter bar. */
export function SearchField({ value, label, onChange, input }: SearchFieldProps): JSX.Element {
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
