import type { Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import type { JSX } from "react";
import { useNova } from "../../api/nova.ts";
import { Foreign } from "../../parts/foreign.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Read } from "../../parts/read.tsx";
import { durationText } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { Formats } from "./formats.tsx";
import { OpenRuns } from "./open-runs.tsx";
import "../../parts/status.css";
import "./health-page.css";

type Health = Schemas["Health"];
type CheckName = keyof Health["checks"];

const words = texts.health;
/** The server looks no more often. */
const pauseMs = 5_000;

const looks: Record<Health["status"], { tone: string; icon: IconName }> = {
  ok: { tone: "ok", icon: "check" },
  degraded: { tone: "wait", icon: "pause" },
  down: { tone: "bad", icon: "cross" },
};

/** Whether runs can start, what they need, and what is stored. */
export function HealthPage(): JSX.Element {
  const health = useHealth();
  return (
    <>
      <PageHead title={words.title} end={<span className="live">{texts.common.live}</span>} />
      <div className="page-body">
        <Read query={health}>
          {({ status, checks }) => (
            <div className="page-column">
              <Summary status={status} />
              <Checks checks={checks} />
              <OpenRuns />
              <Formats />
            </div>
          )}
        </Read>
      </div>
    </>
  );
}

function useHealth() {
  const nova = useNova();
  return useQuery({
    queryKey: ["health"],
    refetchInterval: pauseMs,
    async queryFn(): Promise<Health> {
      const { data, error } = await nova.api.GET("/health");
      // 503 says in the same words what is down.
      const found = data ?? error;
      if (found === undefined || !("checks" in found)) throw new Error(words.unreadable);
      return found;
    },
  });
}

function Summary({ status }: Pick<Health, "status">): JSX.Element {
  const { tone, icon } = looks[status];
  return (
    <div className={`health-summary tone-${tone}`} role="status">
      <span className="state-icon">
        <Icon name={icon} size={20} />
      </span>
      <div>
        <h2>{words.status[status]}</h2>
        <p className="quiet">{words.statusHints[status]}</p>
      </div>
    </div>
  );
}

function Checks({ checks }: Pick<Health, "checks">): JSX.Element {
  return (
    <ul className="health-checks">
      {(Object.entries(checks) as [CheckName, Health["checks"][CheckName]][]).map(([name, check]) => {
        const { tone, icon } = looks[check.state];
        return (
          <li key={name} className={`card health-check tone-${tone}`}>
            <span className="health-mark">
              <Icon name={icon} size={14} />
            </span>
            <div>
              <h3>{words.checks[name]}</h3>
              <p className="quiet">{words.checkHints[name]}</p>
              {check.reason !== undefined && (
                <p className="health-reason">
                  <Foreign text={check.reason} />
                </p>
              )}
            </div>
            <span className="health-state">
              {words.states[check.state]}
              <span className="quiet">{durationText(check.latency_ms)}</span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}
