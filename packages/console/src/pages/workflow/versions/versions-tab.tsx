import type { Schemas } from "@nova/client";
import { type JSX, useState } from "react";
import { useAddress } from "../../../parts/address.ts";
import { Button } from "../../../parts/button.tsx";
import { Foreign } from "../../../parts/foreign.tsx";
import { Failure, Loading } from "../../../parts/states.tsx";
import { Time } from "../../../parts/time.tsx";
import { texts } from "../../../texts.ts";
import type { WholeWorkflow } from "../use-workflow.ts";
import { useVersions } from "../version-picker.tsx";
import { ActivateDialog } from "../workflow-head.tsx";
import { Comparison } from "./comparison.tsx";
import "../../../parts/sheet.css";
import "./versions-tab.css";

const words = texts.workflows.versions;

type Version = Schemas["WorkflowVersion"];

/** All versions, and what has changed from one to another. */
export function VersionsTab({ workflow }: { workflow: WholeWorkflow }): JSX.Element {
  const [{ before, after }, change] = useAddress(["before", "after"]);
  const compared =
    before !== undefined && after !== undefined ? { before: Number(before), after: Number(after) } : undefined;
  if (compared && Object.values(compared).every((version) => Number.isSafeInteger(version) && version > 0)) {
    return <Comparison workflow={workflow} {...compared} />;
  }
  return (
    <VersionList workflow={workflow} onCompare={(from, to) => change({ before: String(from), after: String(to) })} />
  );
}

interface VersionListProps {
  workflow: WholeWorkflow;
  onCompare(before: number, after: number): void;
}

function VersionList({ workflow, onCompare }: VersionListProps): JSX.Element {
  const versions = useVersions(workflow.id);
  const [asked, setAsked] = useState<number>();
  const items = versions.data?.pages.flatMap((page) => page.items);
  if (!items) return versions.error ? <Failure error={versions.error} onRetry={versions.refetch} /> : <Loading />;
  return (
    <div className="page-body">
      <div className="page-column">
        <section className="card versions">
          <header className="card-head">
            <h2>{texts.workflows.tabs.versions}</h2>
            <span className="quiet">
              {items.length > 1 ? `${words.count(items.length)}${versions.hasNextPage ? "+" : ""}` : words.one}
            </span>
          </header>
          <ol>
            {items.map((item, index) => (
              <VersionRow
                key={item.version}
                item={item}
                before={items[index + 1]?.version}
                onCompare={onCompare}
                onActivate={() => setAsked(item.version)}
              />
            ))}
          </ol>
          {versions.hasNextPage && (
            <div className="card-body">
              <Button disabled={versions.isFetchingNextPage} onClick={() => void versions.fetchNextPage()}>
                {words.more}
              </Button>
            </div>
          )}
        </section>
      </div>
      {asked !== undefined && (
        <ActivateDialog workflow={workflow} version={asked} onClose={() => setAsked(undefined)} />
      )}
    </div>
  );
}

interface VersionRowProps {
  item: Version;
  /** The one that was published before it. */
  before: number | undefined;
  onCompare(before: number, after: number): void;
  onActivate(): void;
}

function VersionRow({ item, before, onCompare, onActivate }: VersionRowProps): JSX.Element {
  const { version, active, status, reason, created_at, hash } = item;
  return (
    <li className="version-row">
      <b>{texts.workflows.version(version)}</b>
      {active && <span className="badge workflow-badge tone-ok">{words.active}</span>}
      {status !== "ready" && (
        <span className={`badge workflow-badge tone-${status === "failed" ? "bad" : "run"}`}>
          {texts.workflows.statuses[status]}
        </span>
      )}
      <span className="quiet">
        <Time at={created_at} />
      </span>
      <span className="mono quiet version-hash" title={hash}>
        {hash.slice(0, 12)}
      </span>
      <span className="version-acts">
        {before !== undefined && (
          <Button onClick={() => onCompare(before, version)}>{words.compareWith(before)}</Button>
        )}
        {!active && status === "ready" && <Button onClick={onActivate}>{words.activate}</Button>}
      </span>
      {reason !== undefined && (
        <p className="version-reason">
          <Foreign text={reason} />
        </p>
      )}
    </li>
  );
}
