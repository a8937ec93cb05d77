import { useQuery } from "@tanstack/react-query";
import type { JSX } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Card } from "../../parts/card.tsx";
import { StatusBadge } from "../../parts/status.tsx";
import { texts } from "../../texts.ts";

const open = ["queued", "running", "waiting"] as const;
/** A page of the API; more are said to be more. */
const most = 200;
const pauseMs = 10_000;

/** How many runs wait for a slot, are at work, or wait for something. */
export function OpenRuns(): JSX.Element {
  const nova = useNova();
  const counts = useQuery({
    queryKey: ["runs", "open"],
    refetchInterval: pauseMs,
    queryFn: () =>
      Promise.all(
        open.map(async (status) => {
          const query = { status, limit: most };
          const { items, next_cursor } = await nova.ask(nova.api.GET("/executions", { params: { query } }));
          return { status, count: items.length, hasMore: next_cursor !== null };
        }),
      ),
  });
  return (
    <Card title={texts.health.openRuns} hint={texts.health.openRunsHint}>
      <ul className="open-runs">
        {open.map((status) => {
          const found = counts.data?.find((one) => one.status === status);
          return (
            <li key={status}>
              <Link href={`/?status=${status}`} className="open-run">
                <b>{found ? `${found.count}${found.hasMore ? "+" : ""}` : "–"}</b>
                <StatusBadge status={status} />
              </Link>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
