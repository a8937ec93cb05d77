import type { WholeExecution } from "@nova/client";
import { useCallback, useMemo, useState } from "react";
import { useParams, useSearchParams } from "wouter";
import { Button } from "../../parts/button.tsx";
import { DialogButton } from "../../parts/dialog.tsx";
import { useKeys, useStepKeys } from "../../parts/keyboard.tsx";
import { QueryView } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { Panel } from "./panel.tsx";
import { RunGraph } from "./run-graph.tsx";
import { RestartDialog, RunHead } from "./run-head.tsx";
import { compareVisits, type RunModel, type Visit } from "./run-model.ts";
import { Timeline } from "./timeline.tsx";
import { useRun } from "./use-run.ts";
import "./run-page.css";

/** One run: its graph, its timeline and the selected entry. */
export function RunPage() {
  const { id = "" } = useParams<{ id: string }>();
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((node: string) => setOpened((before) => before.symmetricDifference(new Set([node]))), []);
  const { record, model } = useRun(id, opened);
  return (
    <QueryView query={record} lines={10} missing={{ words: texts.run, to: "/" }}>
      {(run) => (
        <>
          <RunHead run={run} />
          <QueryView query={model}>
            {(data) => <Views key={id} run={run} model={data} opened={opened} toggle={toggle} />}
          </QueryView>
        </>
      )}
    </QueryView>
  );
}

interface Shown {
  run: WholeExecution;
  model: RunModel;
  opened: ReadonlySet<string>;
  toggle(node: string): void;
}

const views = ["graph", "timeline", "link"] as const;

/** Shows the three views side by side, or one at a time on a phone. */
function Views({ run, model, opened, toggle }: Shown) {
  const { node, visit, isInAddress, select } = useChosen(model);
  const [view, setView] = useState<(typeof views)[number]>(isInAddress ? "link" : "graph");
  const show = (target: Visit | string) => {
    select(target);
    setView("link");
  };
  useVisitKeys(model, visit, show);
  const labels = { graph: texts.run.graphShort, timeline: texts.run.timeline, link: texts.run.node };
  return (
    <>
      {run.error && model.failed && view !== "link" && (
        <FailureBar failed={model.failed} message={run.error.message} onShow={show} />
      )}
      <div className="run-switch" role="tablist" aria-label={texts.run.views}>
        {views.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            className="tab"
            data-state={one === view ? "active" : ""}
            aria-selected={one === view}
            onClick={() => setView(one)}
          >
            {labels[one]}
          </button>
        ))}
      </div>
      <div className="run-views" data-view={view}>
        <div className="run-graph-box">
          <RunGraph model={model} opened={opened} toggle={toggle} selected={node} onSelect={show} />
        </div>
        <div className="run-timeline-box">
          <Timeline run={run} model={model} selected={visit?.key} onSelect={show} />
        </div>
        <div className="run-panel-box">
          <Panel
            run={run}
            model={model}
            node={node}
            visit={visit}
            onSelect={select}
            actions={(of) =>
              run.ended_at !== null &&
              of.entry && (
                <DialogButton
                  key={of.key}
                  icon="restart"
                  label={texts.run.restartFrom}
                  dialog={(close) => <RestartDialog run={run} from={formatPlace(of, model)} onClose={close} />}
                />
              )
            }
          />
        </div>
      </div>
    </>
  );
}

function FailureBar({ failed, message, onShow }: { failed: Visit; message: string; onShow(visit: Visit): void }) {
  return (
    <div className="failure-bar" role="alert">
      <b>{texts.run.failure(failed.node)}</b>
      <UntrustedText as="span" text={message} />
      <Button onClick={() => onShow(failed)}>{texts.run.showFailure}</Button>
    </div>
  );
}

interface Chosen {
  node: string | undefined;
  visit: Visit | undefined;
  /** Whether the address contains a selection. */
  isInAddress: boolean;
  select(target: Visit | string): void;
}

/** Returns the selection in the address; by default, the failure. */
function useChosen(model: RunModel): Chosen {
  const [params, setParams] = useSearchParams();
  const [link, node] = [params.get("link"), params.get("node")];
  const isInAddress = link !== null || node !== null;
  const visit = useMemo(() => {
    if (!isInAddress) return model.failed;
    const addressed = model.visits.find(({ key }) => key === link);
    return addressed ?? (node === null ? undefined : model.nodes.get(node)?.visits.toSorted(compareVisits)[0]);
  }, [model, link, node, isInAddress]);
  const select = (target: Visit | string) => {
    setParams(typeof target === "string" ? { node: target } : { node: target.node, link: target.key }, {
      replace: true,
    });
  };
  return { node: visit?.node ?? node ?? undefined, visit, isInAddress, select };
}

function useVisitKeys(model: RunModel, visit: Visit | undefined, show: (visit: Visit) => void): void {
  const sorted = useMemo(() => model.visits.toSorted((a, b) => a.from - b.from), [model]);
  useStepKeys(sorted, visit, show, texts.run.keys);
  useKeys({ e: { label: texts.run.keys.failure, run: () => model.failed && show(model.failed) } });
}

/** Formats the place of a visit as restarts name it: `find`, `poll#2`, `each[3].find`. */
function formatPlace(visit: Visit, model: RunModel): string {
  const same = model.visits.filter(({ node, scope }) => node === visit.node && scope === visit.scope);
  const at = same.findIndex(({ key }) => key === visit.key) + 1;
  const items = visit.scope.matchAll(/\/([^/@]+)@\d+\.(\d+)(?=\/|$)/g);
  const around = Array.from(items, ([, map, item]) => `${map}[${item}].`).join("");
  const runs = visit.node.slice(0, visit.node.length - visit.id.length);
  return `${runs}${around}${visit.id}${at > 1 ? `#${at}` : ""}`;
}
