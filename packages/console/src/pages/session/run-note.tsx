import type { Session, SessionRun } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import type { JSX } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { IconButton } from "../../parts/button.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { type RunStatus, StatusBadge } from "../../parts/status.tsx";
import { texts } from "../../texts.ts";

const words = texts.sessions.run;
const open = new Set<RunStatus>(["queued", "running", "waiting"]);

interface RunNoteProps {
  session: Session;
  answer: SessionRun | undefined;
  isPending: boolean;
  onDismiss(): void;
}

/** What ran, what was taken over, and what goes on. */
export function RunNote({ session: { running }, answer, isPending, onDismiss }: RunNoteProps): JSX.Element {
  const [other] = running.filter((id) => id !== answer?.execution_id);
  return (
    <div role="status" className="session-notes">
      {isPending || other !== undefined ? (
        <p className="session-note">
          <StatusBadge status="running" />
          <span>{isPending ? words.busy : words.going}</span>
          {other !== undefined && <RunLink id={other} />}
        </p>
      ) : (
        answer && <Answer answer={answer} isOpen={running.length > 0} onDismiss={onDismiss} />
      )}
    </div>
  );
}

interface AnswerProps {
  answer: SessionRun;
  isOpen: boolean;
  onDismiss(): void;
}

function Answer({ answer, isOpen, onDismiss }: AnswerProps): JSX.Element {
  const { execution_id: id, reused } = answer;
  const { status, error } = useEnd(answer, isOpen);
  const isOver = !open.has(status);
  const nodes = nodesOf(answer, isOver).join(", ");
  const did = nodes === "" ? "" : isOver ? words.ran(nodes) : words.goesOn(nodes);
  const told = id === null ? [words.fresh] : [did, reused.length > 0 ? words.reused(reused.join(", ")) : ""];
  return (
    <p className="session-note">
      {id !== null && <StatusBadge status={status} />}
      <span>
        <Foreign text={told.join(" ").trim()} />
        {error && (
          <span className="session-failed">
            {" "}
            <Foreign text={words.failed(error.node, error.message)} />
          </span>
        )}
      </span>
      {id !== null && <RunLink id={id} />}
      <IconButton icon="cross" label={words.dismiss} onClick={onDismiss} />
    </p>
  );
}

/** Those that came to something, where the answer knows that: a run leaves out what no way leads to. */
function nodesOf({ status, runs, ran }: SessionRun, isOver: boolean): string[] {
  return isOver && !open.has(status) ? ran : runs;
}

/** A run may go on for longer than its answer was waited for. */
function useEnd(
  { execution_id: id, status, error }: SessionRun,
  isOpen: boolean,
): Pick<SessionRun, "status" | "error"> {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["session-run", id],
    enabled: id !== null && open.has(status) && !isOpen,
    queryFn: () => nova.executions.get(id as string),
  });
  return data ? { status: data.status, error: data.error ?? null } : { status, error };
}

function RunLink({ id }: { id: string }): JSX.Element {
  return (
    <Link href={`/runs/${id}`} className="session-link">
      {words.open}
    </Link>
  );
}
