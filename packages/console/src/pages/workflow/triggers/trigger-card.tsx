import type { Schemas } from "@nova/client";
import { useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useNova } from "../../../api/nova.ts";
import { apiUrl } from "../../../api/session.ts";
import { Button } from "../../../parts/button.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { Foreign } from "../../../parts/foreign.tsx";
import { Icon, type IconName } from "../../../parts/icon.tsx";
import { JsonView } from "../../../parts/json-view.tsx";
import { Time } from "../../../parts/time.tsx";
import { Trouble } from "../../../parts/trouble.tsx";
import { texts } from "../../../texts.ts";
import { textIn } from "../node-text.ts";
import type { Trigger } from "./triggers.ts";

const words = texts.workflows.triggers;

type Schedule = Schemas["Schedule"];

const icons: Record<string, IconName> = {
  mail: "mail",
  imap: "mail",
  webhook: "link",
  schedule: "clock",
  event: "spark",
};

interface TriggerCardProps {
  workflow: string;
  trigger: Trigger;
  schedule: Schedule | undefined;
}

/** One trigger: where it listens, and what it says besides. */
export function TriggerCard({ workflow, trigger, schedule }: TriggerCardProps): JSX.Element {
  const { id, type, fields } = trigger;
  const kind = type in words.kinds ? words.kinds[type as keyof typeof words.kinds] : type;
  const shown = new Set(type === "schedule" ? ["when", "timezone"] : type === "mail" ? ["address"] : []);
  const rest = Array.from(fields).filter(([name]) => !shown.has(name));
  return (
    <li className="card trigger">
      <header className="trigger-head">
        <span className="trigger-icon">
          <Icon name={icons[type] ?? "play"} />
        </span>
        <h2>{kind}</h2>
        <span className="mono quiet">
          <Foreign text={id} />
        </span>
        {schedule && (
          <span className="page-head-end">
            <ScheduleSwitch workflow={workflow} schedule={schedule} />
          </span>
        )}
      </header>
      <Place trigger={trigger} />
      {schedule && <Times schedule={schedule} />}
      {rest.map(([name, text]) => (
        <JsonView key={name} name={name} text={text} open={0} />
      ))}
    </li>
  );
}

/** The address at which it can be reached, if it has one. */
function Place({ trigger: { id, type, fields } }: { trigger: Trigger }): JSX.Element | null {
  if (type === "mail") {
    return (
      <p className="mono trigger-place">
        <Foreign text={words.mailTo(textIn(fields.get("address")) ?? "")} />
      </p>
    );
  }
  if (type !== "webhook") return null;
  const address = `${apiUrl().replace(/\/$/, "")}/hooks/${encodeURIComponent(id)}`;
  return (
    <p className="mono trigger-place">
      POST {address}
      <CopyButton text={address} />
    </p>
  );
}

function Times({ schedule: { expression, timezone, next_at, paused_at } }: { schedule: Schedule }): JSX.Element {
  return (
    <p className="trigger-place">
      <span className="mono">{expression}</span>
      <span className="quiet">{timezone}</span>
      {paused_at !== null ? (
        <span className="tone-wait trigger-paused">
          {words.pausedSince} <Time at={paused_at} />
        </span>
      ) : (
        <span>
          {next_at === null ? (
            words.never
          ) : (
            <>
              {words.next} <Time at={next_at} />
            </>
          )}
        </span>
      )}
    </p>
  );
}

function ScheduleSwitch({ workflow, schedule }: { workflow: string; schedule: Schedule }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>();
  const isPaused = schedule.paused_at !== null;
  const turn = async () => {
    const params = { path: { id: workflow, trigger: schedule.trigger } };
    setError(undefined);
    try {
      await nova.ask(
        isPaused
          ? nova.api.POST("/workflows/{id}/schedules/{trigger}/resume", { params })
          : nova.api.POST("/workflows/{id}/schedules/{trigger}/pause", { params }),
      );
      await queries.invalidateQueries({ queryKey: ["schedules", workflow] });
    } catch (refused) {
      setError(refused);
    }
  };
  const label = isPaused ? words.resumeSchedule(schedule.trigger) : words.pauseSchedule(schedule.trigger);
  return (
    <>
      <Trouble error={error} />
      <Button icon={isPaused ? "play" : "pause"} aria-label={label} onClick={turn}>
        {isPaused ? texts.workflows.resume : texts.workflows.pause}
      </Button>
    </>
  );
}
