import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { Link } from "wouter";
import { IconButton } from "../../parts/button.tsx";
import { DialogButton, FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { readFilters, useRunCount } from "./use-runs.ts";

const words = texts.runs.views;

/** A name that the user has given to a list of runs, and the filters of this list as search text of the address. */
interface SavedView {
  name: string;
  search: string;
}

const storageKey = "nova-views";
const maxViews = 12;
const maxNameLength = 40;

function loadViews(): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isView).slice(0, maxViews) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  const { name, search } = (value ?? {}) as Partial<SavedView>;
  return typeof name === "string" && typeof search === "string";
}

/** Returns the saved views, and a function that replaces them. */
function useViews(): [readonly SavedView[], (next: readonly SavedView[]) => void] {
  const queries = useQueryClient();
  const queryKey = ["saved views"];
  const { data } = useQuery({
    queryKey,
    queryFn: loadViews,
    initialData: loadViews,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const store = (next: readonly SavedView[]) => {
    queries.setQueryData(queryKey, next);
    localStorage.setItem(storageKey, JSON.stringify(next));
  };
  return [data, store];
}

/** Shows a link to each saved view, with the number of runs in this view. */
export function SavedViewLinks(): JSX.Element | null {
  const [views, storeViews] = useViews();
  if (views.length === 0) return null;
  return (
    <ul className="side-pages side-views" aria-label={words.title}>
      {views.map((view) => (
        <li key={view.name} className="row tight">
          <Link href={`/?${view.search}`} className="side-link fill">
            <UntrustedText as="span" className="fill ellipsis" text={view.name} />
            <ViewCount search={view.search} />
          </Link>
          <IconButton
            icon="cross"
            label={words.delete(view.name)}
            onClick={() => storeViews(views.filter(({ name }) => name !== view.name))}
          />
        </li>
      ))}
    </ul>
  );
}

const pauseMs = 15_000;
const maxCounted = 100;

function ViewCount({ search }: { search: string }): JSX.Element {
  const count = useRunCount(readFilters(search), pauseMs, maxCounted);
  return <b className="side-count">{count ?? "–"}</b>;
}

/** A button that saves the filters of the address under a name. */
export function SaveView({ search }: { search: string }): JSX.Element {
  return <DialogButton icon="plus" tone="ghost" label={words.save} dialog={<SaveDialog search={search} />} />;
}

function SaveDialog({ search }: { search: string }) {
  const [views, storeViews] = useViews();
  const [name, setName] = useState("");
  const trimmed = name.trim();
  const isFull = views.length >= maxViews && !views.some((view) => view.name === trimmed);
  return (
    <FormDialog
      title={words.save}
      isIncomplete={trimmed === "" || isFull}
      onSubmit={async () => storeViews([...views.filter((view) => view.name !== trimmed), { name: trimmed, search }])}
    >
      <TextField
        label={words.name}
        hint={words.hint}
        error={isFull ? words.full(maxViews) : undefined}
        maxLength={maxNameLength}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  );
}
