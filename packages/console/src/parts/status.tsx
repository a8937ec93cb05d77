import type { Execution } from "@nova/client";
import type { JSX } from "react";
import { texts } from "../texts.ts";
import { Icon, type IconName } from "./icon.tsx";

export type RunStatus = Execution["status"];

/** Statuses in the order in which charts stack them. */
export const statuses: readonly RunStatus[] = [
  "completed",
  "failed",
  "interrupted",
  "cancelled",
  "waiting",
  "running",
  "queued",
];

/** The colour and the icon of each status, so that colour is not the only signal. */
const looks: Record<RunStatus, { tone: string; icon: IconName }> = {
  completed: { tone: "ok", icon: "check" },
  failed: { tone: "bad", icon: "cross" },
  interrupted: { tone: "bad", icon: "stop" },
  cancelled: { tone: "stop", icon: "stop" },
  waiting: { tone: "wait", icon: "pause" },
  running: { tone: "run", icon: "dot" },
  queued: { tone: "idle", icon: "clock" },
};

export function getStatusTone(status: RunStatus): string {
  return looks[status].tone;
}

export function StatusBadge({ status }: { status: RunStatus }): JSX.Element {
  return (
    <span className={`badge tone-${looks[status].tone}`}>
      <StatusMark status={status} />
      {texts.status[status]}
    </span>
  );
}

interface BadgeProps {
  tone: string;
  icon?: IconName;
  text: string;
  title?: string;
}

export function Badge({ tone, icon, text, title }: BadgeProps): JSX.Element {
  return (
    <span className={`badge tone-${tone}`} title={title}>
      {icon && <Icon name={icon} size={12} />}
      {text}
    </span>
  );
}

function StatusMark({ status }: { status: RunStatus }): JSX.Element {
  const { tone, icon } = looks[status];
  return (
    <span className={`mark center tone-${tone} ${status === "running" ? "mark-running" : ""}`}>
      {status !== "running" && <Icon name={icon} size={12} />}
    </span>
  );
}
