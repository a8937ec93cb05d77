import type { Schemas } from "@nova/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { usePages } from "../../api/queries.ts";
import { asRaw } from "../../json/raw.ts";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { FilterSelect } from "../../parts/filters.tsx";
import { texts } from "../../texts.ts";
import { type ParsedDefinition, parseDefinition } from "./definition-parts.ts";

export type WholeWorkflow = Schemas["WholeWorkflow"];

const pauseMs = 10_000;

/** Reads a workflow with the definition of a version; by default, the latest one. */
export function useWorkflow(id: string, version?: number) {
  const nova = useNova();
  return useQuery({
    queryKey: ["workflow", id, version ?? null],
    refetchInterval: pauseMs,
    queryFn: () => nova.workflows.get(id, version === undefined ? {} : { version }),
  });
}

/** Parses the definition once per text. */
export function useParts({ definition }: WholeWorkflow): ParsedDefinition {
  const { text } = asRaw(definition);
  return useMemo(() => parseDefinition(text), [text]);
}

const pageSize = 50;

/** Reads the versions page by page, newest first. */
export function useVersions(id: string) {
  const nova = useNova();
  return usePages({
    queryKey: ["versions", id],
    read: (cursor, signal) => {
      const params = { path: { id }, query: { limit: pageSize, ...cursor } };
      return nova.ask(nova.api.GET("/workflows/{id}/versions", { params, signal }));
    },
  });
}

interface VersionPickerProps {
  label: string;
  workflow: string;
  value: number;
  onChange(version: number): void;
}

/** Selects a version. */
export function VersionPicker({ label, workflow, value, onChange }: VersionPickerProps): JSX.Element {
  const versions = useVersions(workflow);
  const { version: formatVersion, versions: words } = texts.workflows;
  const loaded = versions.data ?? [];
  const isListed = loaded.some(({ version }) => version === value);
  const values = (isListed ? loaded : [{ version: value, active: false }, ...loaded]).map(
    ({ version, active }) =>
      [
        String(version),
        active ? `${formatVersion(version)}, ${words.active.toLowerCase()}` : formatVersion(version),
      ] as const,
  );
  return (
    <FilterSelect
      label={label}
      value={String(value)}
      values={values}
      none={texts.workflows.latest}
      onChange={(to) => onChange(Number(to ?? loaded[0]?.version ?? value))}
    />
  );
}

/** Asks before it makes a version active. */
export function ActivateDialog({
  workflow,
  version,
  onClose,
}: {
  workflow: WholeWorkflow;
  version: number;
  onClose(): void;
}): JSX.Element {
  const { activate } = useWorkflowActions(workflow);
  return (
    <ConfirmDialog
      title={texts.workflows.activateTitle(version)}
      action={texts.workflows.versions.activate}
      onConfirm={() => activate(version)}
      onClose={onClose}
    >
      <p className="quiet">{texts.workflows.activateHint}</p>
    </ConfirmDialog>
  );
}

export function useWorkflowActions({ id }: WholeWorkflow) {
  const nova = useNova();
  const queries = useQueryClient();
  const readAgain = () =>
    Promise.all(
      [["workflow", id], ["workflows"], ["versions", id], ["schedules", id]].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  const params = { path: { id } };
  return {
    pause: () => nova.ask(nova.api.POST("/workflows/{id}/pause", { params })).then(readAgain),
    resume: () => nova.ask(nova.api.POST("/workflows/{id}/resume", { params })).then(readAgain),
    activate: (version: number) => nova.workflows.activate(id, version).then(readAgain),
  };
}
