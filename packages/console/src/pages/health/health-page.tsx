import { formatDuration, type Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Card, LiveMark, PageColumn, PageHead } from "../../parts/page.tsx";
import { QueryView } from "../../parts/states.tsx";
import { type RunStatus, StatusBadge } from "../../parts/status.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { useRunCount } from "../runs/use-runs.ts";

type Health = Schemas["Health"];
type CheckName = keyof Health["checks"];

const words = texts.health;
/** Pause between two requests, equal to the shortest time between two checks of the server. */
const pauseMs = 5_000;

const looks: Record<Health["status"], { tone: string; icon: IconName }> = {
  ok: { tone: "ok", icon: "check" },
  degraded: { tone: "wait", icon: "pause" },
  down: { tone: "bad", icon: "cross" },
};

export function HealthPage() {
  const nova = useNova();
  const health = useQuery({
    queryKey: ["health"],
    refetchInterval: pauseMs,
    async queryFn(): Promise<Health> {
      const { data, error } = await nova.api.GET("/health");
      // With status 503, the body is in `error` instead of `data`, in the same form.
      const found = data ?? error;
      if (found === undefined || !("checks" in found)) throw new Error(words.unreadable);
      return found;
    },
  });
  return (
    <>
      <PageHead title={texts.nav.health} end={<LiveMark />} />
      <QueryView query={health}>
        {({ status, checks }) => (
          <PageColumn>
            <Summary status={status} />
            <Checks checks={checks} />
            <OpenRuns />
          </PageColumn>
        )}
      </QueryView>
    </>
  );
}

function Summary({ status }: Pick<Health, "status">) {
  const { tone, icon } = looks[status];
  return (
    <div className={`row loose health-summary tone-${tone}`} role="status">
      <span className="disc">
        <Icon name={icon} size={20} />
      </span>
      <div>
        <h2 className="large">{words.status[status]}</h2>
        <p className="quiet">{words.statusHints[status]}</p>
      </div>
    </div>
  );
}

function Checks({ checks }: Pick<Health, "checks">) {
  return (
    <ul className="cards">
      {(Object.entries(checks) as [CheckName, Health["checks"][CheckName]][]).map(([name, check]) => {
        const { tone, icon } = looks[check.state];
        return (
          <li key={name} className={`card health-check row loose tone-${tone}`}>
            <span className="disc">
              <Icon name={icon} size={14} />
            </span>
            <div className="fill">
              <h3>{words.checks[name]}</h3>
              <p className="quiet small">{words.checkHints[name]}</p>
              {check.reason !== undefined && <UntrustedText as="p" className="toned break small" text={check.reason} />}
            </div>
            <span className="lines health-state toned">
              {words.states[check.state]}
              <span className="quiet small">{formatDuration(check.latency_ms)}</span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

const open = ["queued", "running", "waiting"] as const;
const openRunsPauseMs = 10_000;

function OpenRuns() {
  return (
    <Card title={texts.health.openRuns} hint={texts.health.openRunsHint}>
      <ul className="row">
        {open.map((status) => (
          <OpenRunCount key={status} status={status} />
        ))}
      </ul>
    </Card>
  );
}

function OpenRunCount({ status }: { status: RunStatus }) {
  return (
    <li className="fill">
      <Link href={`/?status=${status}`} className="open-run stack start">
        <b className="huge">{useRunCount({ status }, openRunsPauseMs) ?? "–"}</b>
        <StatusBadge status={status} />
      </Link>
    </li>
  );
}
