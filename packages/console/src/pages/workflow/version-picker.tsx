import { useInfiniteQuery } from "@tanstack/react-query";
import type { JSX } from "react";
import { useNova } from "../../api/nova.ts";
import { Choice } from "../../parts/choice.tsx";
import { texts } from "../../texts.ts";

const pageSize = 50;

/** Versions, newest first, page by page. */
export function useVersions(id: string) {
  const nova = useNova();
  return useInfiniteQuery({
    queryKey: ["versions", id],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: pageSize, ...(pageParam !== undefined && { cursor: pageParam }) };
      return nova.ask(nova.api.GET("/workflows/{id}/versions", { params: { path: { id }, query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
}

interface VersionPickerProps {
  label: string;
  workflow: string;
  value: number;
  onChange(version: number): void;
}

/** One of the newest versions, or the one that is chosen. */
export function VersionPicker({ label, workflow, value, onChange }: VersionPickerProps): JSX.Element {
  const versions = useVersions(workflow);
  const { version: nameOf, versions: words } = texts.workflows;
  const known = versions.data?.pages.flatMap(({ items }) => items) ?? [];
  const isListed = known.some(({ version }) => version === value);
  const values = (isListed ? known : [{ version: value, active: false }, ...known]).map(
    ({ version, active }) =>
      [String(version), active ? `${nameOf(version)}, ${words.active.toLowerCase()}` : nameOf(version)] as const,
  );
  return (
    <Choice
      label={label}
      value={String(value)}
      values={values}
      none={texts.workflows.latest}
      onChange={(to) => onChange(Number(to ?? known[0]?.version ?? value))}
    />
  );
}
