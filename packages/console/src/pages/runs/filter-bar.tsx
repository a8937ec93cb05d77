import type { JSX, RefObject } from "react";
import { IconButton } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { SearchText } from "../../parts/search-text.tsx";
import { statuses } from "../../parts/status.tsx";
import { texts } from "../../texts.ts";
import type { Filters } from "./filters.ts";

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
      <SearchText
        input={search}
        value={filters.text}
        label={words.search}
        onChange={(text) => change({ text: text || undefined })}
      />
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
