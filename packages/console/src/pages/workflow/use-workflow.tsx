import type { NovaClient, Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { usePages, useReload } from "../../api/queries.ts";
import { asRaw } from "../../json/raw.ts";
import { CodeDiff } from "../../parts/code.tsx";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { FilterSelect } from "../../parts/filters.tsx";
import type { IconName } from "../../parts/icon.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { type diffNodeTexts, type ParsedDefinition, parseDefinition } from "./definition.ts";

export type WholeWorkflow = Schemas["WholeWorkflow"];

const pauseMs = 10_000;

export function useWorkflow(id: string, version?: number) {
  const nova = useNova();
  return useQuery({
    queryKey: ["workflow", id, version ?? null],
    refetchInterval: pauseMs,
    queryFn: () => nova.workflows.get(id, version === undefined ? {} : { version }),
  });
}

/** Reads a version of a workflow and parses its definition. */
export async function readVersion(nova: NovaClient, id: string, version: number): Promise<ParsedDefinition> {
  return parseDefinition(asRaw((await nova.workflows.get(id, { version })).definition).text);
}

/** Parses the definition of a workflow, and parses it again only if its text changes. */
export function useParts({ definition }: WholeWorkflow): ParsedDefinition {
  const { text } = asRaw(definition);
  return useMemo(() => parseDefinition(text), [text]);
}

const pageSize = 50;

/** Reads the versions page by page, newest first. */
export function useVersions(id: string) {
  return usePages("/workflows/{id}/versions", { path: { id }, query: { limit: pageSize } });
}

interface VersionPickerProps {
  label: string;
  workflow: string;
  value: number;
  onChange(version: number): void;
}

export function VersionPicker({ label, workflow, value, onChange }: VersionPickerProps) {
  const versions = useVersions(workflow);
  const { version: formatVersion, versions: words } = texts.workflows;
  const loaded = versions.data ?? [];
  const isListed = loaded.some(({ version }) => version === value);
  const listed = isListed ? loaded : [{ version: value, active: false }, ...loaded];
  const values = listed.map(({ version, active }) => {
    const note = active ? `, ${words.active.toLowerCase()}` : "";
    return [String(version), formatVersion(version) + note] as const;
  });
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

/** Shows the code or prompts of nodes that differ. */
export function NodeTextDiffs({ changed }: Pick<ReturnType<typeof diffNodeTexts>, "changed">) {
  return changed.map(({ id, before, after }) => (
    <section key={id} className="stack tight">
      <UntrustedText as="h3" text={id} />
      <CodeDiff before={before} after={after} label={texts.restart.diffOf(id)} />
    </section>
  ));
}

export function ActivateButton({ workflow: { id }, version, ...button }: ActivateButtonProps) {
  const nova = useNova();
  const reload = useWorkflowReload(id);
  return (
    <ConfirmButton
      {...button}
      title={texts.workflows.activateTitle(version)}
      action={texts.workflows.versions.activate}
      hint={texts.workflows.activateHint}
      onConfirm={() => nova.workflows.activate(id, version).then(reload)}
    />
  );
}

interface ActivateButtonProps {
  workflow: WholeWorkflow;
  version: number;
  label: string;
  icon?: IconName;
}

/** Returns a function that repeats all queries whose results a change of the workflow affects. */
export function useWorkflowReload(id: string) {
  const reload = useReload();
  return () => reload(["workflow", id], ["/workflows"], ["/workflows/{id}/versions", { path: { id } }], ["/schedules"]);
}
