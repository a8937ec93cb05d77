import type { WholeExecution } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import type { JSX } from "react";
import { useNova } from "../../api/nova.ts";
import { Foreign } from "../../parts/foreign.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import "./hash-badge.css";

/** Whether the chain holds, asked for when somebody wants to know: every link is read for it. */
export function HashBadge({ run: { execution_id: id, status } }: { run: WholeExecution }): JSX.Element {
  const nova = useNova();
  const words = texts.run.verify;
  const check = useQuery({
    queryKey: ["verify", id, status],
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => ({ found: await nova.executions.verify(id), at: new Date().toISOString() }),
  });
  const { found, at } = check.data ?? {};
  const problem = found?.problem;
  const tone = !found ? "idle" : problem ? "bad" : "ok";
  return (
    <div className={`hash-badge tone-${tone}`}>
      <button type="button" className="badge" disabled={check.isFetching} onClick={() => void check.refetch()}>
        <Icon name="shield" size={12} />
        {check.isFetching ? words.checking : found ? words[found.state](found.links) : words.idle}
      </button>
      {at && (
        <span className="quiet">
          <Time at={at} />
        </span>
      )}
      {problem && (
        <span className="hash-problem" role="alert">
          {words.place(problem.seq, problem.scope ?? "")}: <Foreign text={problem.message} />
        </span>
      )}
      <Trouble error={check.error} />
    </div>
  );
}
