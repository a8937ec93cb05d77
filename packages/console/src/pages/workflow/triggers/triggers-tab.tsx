import type { JSX } from "react";
import { Empty, Loading } from "../../../parts/states.tsx";
import { PageFailure } from "../../../parts/trouble.tsx";
import { texts } from "../../../texts.ts";
import { useWorkflow, type WholeWorkflow } from "../use-workflow.ts";
import { Deliveries } from "./deliveries.tsx";
import { TriggerCard } from "./trigger-card.tsx";
import { triggersIn } from "./triggers.ts";
import { useSchedules } from "./use-schedules.ts";
import "../../../parts/sheet.css";
import "./triggers-tab.css";

const words = texts.workflows.triggers;

/** What starts runs from outside, and what came of it. */
export function TriggersTab({ workflow }: { workflow: WholeWorkflow }): JSX.Element {
  const { id, active_version: active, version } = workflow;
  const shown = useWorkflow(id, active ?? version);
  const schedules = useSchedules(id);
  const triggers = shown.data && triggersIn(shown.data);
  if (!triggers) return shown.error ? <PageFailure error={shown.error} onRetry={shown.refetch} /> : <Loading />;
  return (
    <div className="page-body">
      <div className="page-column">
        <section aria-label={words.title}>
          {triggers.length === 0 ? (
            <div className="card">
              <Empty icon="play" title={words.empty} hint={words.emptyHint} />
            </div>
          ) : (
            <ul className="triggers">
              {triggers.map((trigger) => (
                <TriggerCard
                  key={trigger.id}
                  workflow={id}
                  trigger={trigger}
                  schedule={schedules.data?.find((one) => one.trigger === trigger.id)}
                />
              ))}
            </ul>
          )}
        </section>
        <Deliveries workflow={id} />
      </div>
    </div>
  );
}
