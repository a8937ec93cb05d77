import type { JSX } from "react";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { texts } from "../../texts.ts";
import type { CodeState, CodeVersion } from "./code-nodes.ts";
import "../../parts/status.css";

const looks: Record<CodeState, { tone: string; icon: IconName }> = {
  waits: { tone: "wait", icon: "person" },
  stale: { tone: "bad", icon: "restart" },
  candidate: { tone: "run", icon: "clock" },
  runs: { tone: "ok", icon: "check" },
  replaced: { tone: "idle", icon: "stop" },
};

export function StateBadge({ state }: { state: CodeState }): JSX.Element {
  const { tone, icon } = looks[state];
  return (
    <span className={`badge tone-${tone}`} title={texts.code.stateHints[state]}>
      <Icon name={icon} size={12} />
      {texts.code.states[state]}
    </span>
  );
}

const tones: Record<CodeVersion["status"], string> = {
  locked: "accent",
  pinned: "ok",
  candidate: "run",
  replaced: "idle",
};

export function VersionBadge({ status }: Pick<CodeVersion, "status">): JSX.Element {
  return <span className={`badge version-badge tone-${tones[status]}`}>{texts.code.versions[status]}</span>;
}
