import type { JSX, RefObject } from "react";
import { IconButton } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { statuses } from "../../parts/status.tsx";
import { texts } from "../../texts.ts";
import type { Filters } from "./filters.ts";
import "./filter-bar.css";

interface FilterBarProps {
  filters: Filters;
  change(change: Partial<Record<keyof Filters, string | undefined>>): void;
  /** What may be chosen, besides what is chosen already. */
  known: Record<"workflow" | "client" | "error" | "trigger", readonly string[]>;
  search: RefObject<HTMLInputElement | null>;
}

export function FilterBar({ filters, change, known, search }: FilterBarProps): JSX.Element {
  const { filters: words } = texts.runs;
  const labels = (values: readonly string[]) => values.map((value): [string, string] => [value, value]);
  const choices: [keyof Filters, string, [string, string][]][] = [
    ["status", words.status, statuses.map((status) => [status, texts.status[status]])],
    ["workflow", words.workflow, labels(known.workflow)],
    ["client", words.client, labels(known.client)],
    ["range", words.time, Object.entries(texts.runs.times)],
    ["error", words.error, labels(known.error)],
    ["trigger", words.trigger, labels(known.trigger)],
  ];
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <div className="filter-bar" role="search">
      <div className="filter-text">
        <Icon name="search" size={14} />
        <input
          ref={search}
          type="search"
          value={filters.text ?? ""}
          placeholder={words.search}
          aria-label={words.search}
          onChange={(event) => change({ text: event.target.value })}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        />
      </div>
      {choices.map(([name, label, values]) => (
        <Choice
          key={name}
          label={label}
          value={filters[name]}
          values={values}
          onChange={(to) => change({ [name]: to })}
        />
      ))}
      {isFiltered && (
        <IconButton
          icon="cross"
          label={texts.runs.clear}
          onClick={() => change(Object.fromEntries(Object.keys(filters).map((name) => [name, undefined])))}
        />
      )}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string | undefined;
  values: [value: string, label: string][];
  onChange(value: string | undefined): void;
}

function Choice({ label, value, values, onChange }: ChoiceProps): JSX.Element {
  const isKnown = value === undefined || values.some(([one]) => one === value);
  const all = isKnown ? values : [[value, value] as [string, string], ...values];
  return (
    <label className="choice" data-chosen={value !== undefined || undefined}>
      <span className="choice-label">{label}</span>
      <select aria-label={label} value={value ?? ""} onChange={(event) => onChange(event.target.value || undefined)}>
        <option value="">{texts.runs.filters.all}</option>
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
