import { type JSX, type ReactNode, useCallback, useMemo, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { texts } from "../texts.ts";
import { IconButton } from "./button.tsx";
import { Options } from "./field.tsx";
import { Icon } from "./icon.tsx";
import { useKeys } from "./keyboard.tsx";
import { changeParams, type Named, readParams } from "./params.ts";

type Filters<Name extends string> = { readonly [One in Name]?: string | undefined };

interface FilterBarProps<Name extends string> {
  /** The filters in the address. */
  filters: Filters<Name>;
  change(filters: Filters<Name>): void;
  choices?: readonly FilterChoice<Name>[];
  /** The filters that allow several values, which the address joins with commas. */
  several?: readonly Name[];
  /** The filters that the button "Clear" clears. Absent: there is no such button. */
  clears?: readonly Name[];
  /** Content before the choices. */
  children?: ReactNode;
  /** Content after the choices. */
  end?: ReactNode;
}

/** A filter with its label, its choices, and the label that means that the user has chosen none of them. */
type FilterChoice<Name> = readonly [name: Name, label: string, values: Choices, none?: string];

type Choices = readonly (readonly [value: string, label: string])[];

/** The filters of a page. */
export function FilterBar<Name extends string>(props: FilterBarProps<Name>): JSX.Element {
  const { filters, change, choices = [], several = [], clears = [], children, end } = props;
  const isFiltered = clears.some((name) => filters[name] !== undefined);
  return (
    <div className="filter-bar bar" role="search">
      {children}
      {choices.map(([name, label, values, none]) => {
        const given = { label, value: filters[name], values };
        const onChange = (value: string | undefined) => change({ [name]: value } as Filters<Name>);
        return several.includes(name) ? (
          <FilterBoxes key={name} {...given} onChange={onChange} />
        ) : (
          <FilterSelect key={name} {...given} none={none} onChange={onChange} />
        );
      })}
      {isFiltered && <IconButton icon="cross" label={texts.runs.clear} onClick={() => change(clearFilters(clears))} />}
      {end}
    </div>
  );
}

export function clearFilters<Name extends string>(names: readonly Name[]): Filters<Name> {
  return Object.fromEntries(names.map((name) => [name, undefined])) as Filters<Name>;
}

/** Returns choices whose labels equal their values. */
export function toChoices(values: readonly string[]): [value: string, label: string][] {
  return values.map((value) => [value, value]);
}

interface FilterSelectProps {
  label: string;
  value: string | undefined;
  values: Choices;
  /** The label for no choice; default: all values. */
  none?: string | undefined;
  onChange(value: string | undefined): void;
}

/** A filter: one of `values`, or no restriction. */
export function FilterSelect(props: FilterSelectProps): JSX.Element {
  const { label, value, values, none = texts.common.all, onChange } = props;
  const isKnown = value === undefined || values.some(([choice]) => choice === value);
  const all = isKnown ? values : [[value, value] as const, ...values];
  return (
    <label className="choice" data-chosen={value !== undefined || undefined}>
      <span>{label}</span>
      <select aria-label={label} value={value ?? ""} onChange={(event) => onChange(event.target.value || undefined)}>
        <option value="">{none}</option>
        <Options values={all} />
      </select>
      <Icon name="down" size={12} />
    </label>
  );
}

/** A filter with a box for each of `values`. Without a checked box, there is no restriction. */
function FilterBoxes({ label, value, values, onChange }: Omit<FilterSelectProps, "none">): JSX.Element {
  const box = useRef<HTMLDetailsElement>(null);
  const chosen = new Set(value?.split(","));
  const close = () => box.current?.removeAttribute("open");
  const names = values.flatMap(([one, text]) => (chosen.has(one) ? text : []));
  const [place, setPlace] = useState({ left: 0, top: 0 });
  return (
    <details
      ref={box}
      className="choice-boxes"
      onToggle={({ currentTarget }) => {
        const { left, bottom } = currentTarget.getBoundingClientRect();
        setPlace({ left: Math.max(0, left), top: bottom });
      }}
      onBlur={({ relatedTarget }) => !box.current?.contains(relatedTarget) && close()}
      onKeyDown={({ key }) => key === "Escape" && close()}
    >
      <summary className="choice" data-chosen={value !== undefined || undefined}>
        <span>{label}</span>
        {names.length > 0 && names.join(", ")}
        <Icon name="down" size={12} />
      </summary>
      {/* It can have the focus. Otherwise a press on a label would move the focus out, and close the list. */}
      <fieldset className="card stack tight" aria-label={label} style={place} tabIndex={-1}>
        {values.map(([one, text]) => (
          <label key={one} className="row check">
            <input
              type="checkbox"
              checked={chosen.has(one)}
              onChange={() => {
                const next = chosen.symmetricDifference(new Set([one]));
                onChange(values.flatMap(([name]) => (next.has(name) ? name : [])).join(",") || undefined);
              }}
            />
            {text}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

interface SearchFieldProps {
  value: string | undefined;
  label: string;
  onChange(value: string): void;
}

/** The search field of a filter bar. The key `/` moves the focus to it. */
export function SearchField({ value, label, onChange }: SearchFieldProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  useKeys({ "/": { label: texts.runs.keys.filter, run: () => input.current?.focus() } });
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

/**
 * Returns search parameters of the address and a function that changes them. A change replaces the entry in the
 * history, because a filter is no navigation step.
 */
export function useAddress<const Name extends string>(
  names: readonly Name[],
): [Named<Name>, (change: Partial<Record<Name, string | undefined>>) => void] {
  const [params, setParams] = useSearchParams();
  const key = names.join(" ");
  const values = useMemo(() => readParams(params, key.split(" ") as Name[]), [params, key]);
  const change = useCallback(
    (changes: Partial<Record<Name, string | undefined>>) => {
      setParams((before) => changeParams(before, changes), { replace: true });
    },
    [setParams],
  );
  return [values, change];
}
