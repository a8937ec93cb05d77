import { useQuery } from "@tanstack/react-query";
import { type JSX, useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../../api/nova.ts";
import { Foreign } from "../../../parts/foreign.tsx";
import { texts } from "../../../texts.ts";
import type { Visit } from "../model/visits.ts";

const pauseMs = 1_000;
/** As much as the server keeps. */
const maxKept = 64 * 1024;

/** What code prints while it runs. */
export function LiveLog({ visit }: { visit: Visit }): JSX.Element {
  const nova = useNova();
  const { execution, seq, scope, work, state } = visit;
  const [text, setText] = useState("");
  const after = useRef<string | null>(null);
  const runs = state === "running";
  useQuery({
    queryKey: ["log", execution, scope, seq],
    enabled: runs,
    refetchInterval: pauseMs,
    gcTime: 0,
    async queryFn() {
      const query = { ...(scope !== "" && { scope }), ...(after.current !== null && { after: after.current }) };
      const params = { path: { id: execution, seq }, query };
      const printed = await nova.ask(nova.api.GET("/executions/{id}/chain/{seq}/logs", { params }));
      if (printed.next !== null) after.current = printed.next;
      if (printed.text !== "") setText((before) => (before + printed.text).slice(-maxKept));
      return null;
    },
  });
  const end = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (text !== "") end.current?.scrollTo({ top: end.current.scrollHeight });
  }, [text]);
  const wait = work?.waits_for;
  return (
    <div className="tab-content">
      {wait && (
        <p className="panel-wait">
          {texts.run.waitsFor[wait.kind]}
          {typeof wait.message === "string" && (
            <b>
              <Foreign text={wait.message} />
            </b>
          )}
          {wait.kind === "approval" && typeof wait.task_id === "string" && (
            <Link href={`/tasks/${wait.task_id}`} className="link">
              {texts.run.answerTask}
            </Link>
          )}
        </p>
      )}
      {runs && (
        <pre ref={end} className="prints" aria-live="polite">
          {text === "" ? texts.run.noLogsYet : <Foreign text={text} />}
        </pre>
      )}
    </div>
  );
}
