import type { Execution, Session, WholeExecution } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../../api/nova.ts";
import { useReload } from "../../../api/queries.ts";
import { findMember, readString } from "../../../json/raw.ts";
import { CodeDiff } from "../../../parts/code.tsx";
import { CloseButton, Dialog, FormDialog } from "../../../parts/dialog.tsx";
import { QueryView } from "../../../parts/states.tsx";
import { texts } from "../../../texts.ts";
import { requestForRuns } from "../../runs/use-runs.ts";
import { readDefinition, type SessionNode } from "../../session/draft.ts";
import type { WriterHandle } from "../../session/node-writer.tsx";
import { publishDraft } from "../../session/use-session.ts";
import { readVersion } from "../../workflow/use-workflow.tsx";
import { ForecastView, useForecast } from "../restart-dialog.tsx";
import { normalizeMessage } from "./failed-line.ts";

const words = texts.fix;

interface PublishDialogProps {
  run: WholeExecution;
  execution: string;
  session: Session;
  node: SessionNode;
  field: "code" | "prompt";
  handle: RefObject<WriterHandle | null>;
}

interface Done {
  version: number;
  /** The id of the run that restarts the run of the page. */
  restart: string;
  started: number;
  refused: number;
}

/**
 * Shows the difference to the active version, and the nodes that a restart would run. After a confirmation, publishes
 * the change and restarts this run. If the user wants, also restarts the other runs with the same error.
 */
export function PublishDialog({ run, execution, session, node, field, handle }: PublishDialogProps) {
  const { session_id: id, workflow } = session;
  const nova = useNova();
  const reload = useReload();
  const [isForAll, setForAll] = useState(false);
  const [done, setDone] = useState<Done>();
  const active = useActiveText(session, node.node_id, field);
  const isChild = execution !== run.execution_id;
  const version = active.data?.version;
  const forecast = useForecast(run.execution_id, isChild || version === undefined ? {} : { version }, active.isSuccess);
  const others = useOthers(run);
  // Saves the editor's text, so that the difference shows the text that the user typed last.
  useEffect(() => void handle.current?.save(), [handle]);
  const text = readString(findMember(readDefinition(node), field)) ?? "";
  const publish = async () => {
    if (!(await handle.current?.save())) throw new Error(words.notSaved);
    const { version, status, reason } = await publishDraft(nova, id);
    if (status === "publishing") throw new Error(words.slow);
    if (status === "failed") throw new Error(reason ?? words.notPublished);
    const request = isChild ? {} : { version };
    const { execution_id: restart } = await nova.executions.restart(run.execution_id, request);
    const ids = isForAll ? (others.data ?? []).map(({ execution_id }) => execution_id) : [];
    const { length: refused } = await requestForRuns(ids, (one) => nova.executions.restart(one, request));
    await reload(["run", run.execution_id], ["/executions"], ["runs"]);
    setDone({ version, restart, started: 1 + ids.length - refused, refused });
  };
  if (done) return <DoneDialog done={done} />;
  const count = others.data?.length ?? 0;
  return (
    <FormDialog
      title={words.publish}
      isIncomplete={!forecast.data || forecast.data.misfits.length > 0 || active.data?.text === text}
      staysOpen
      onSubmit={publish}
    >
      <QueryView query={active} lines={4}>
        {(now) => (
          <section className="stack">
            <h3>{words.diff(workflow ?? "", now.version)}</h3>
            {now.text !== now.recorded && <p className="notice tone-wait">{words.otherVersion}</p>}
            <CodeDiff before={now.text ?? ""} after={text} label={words.diff(workflow ?? "", now.version)} />
          </section>
        )}
      </QueryView>
      <section className="stack">
        <h3>{words.continues}</h3>
        <QueryView query={forecast} lines={4}>
          {(data) => <ForecastView forecast={data} />}
        </QueryView>
      </section>
      {count > 0 && (
        <label className="row check">
          <input type="checkbox" checked={isForAll} onChange={(event) => setForAll(event.target.checked)} />
          {words.others(count)}
        </label>
      )}
    </FormDialog>
  );
}

function DoneDialog({ done: { version, restart, started, refused } }: { done: Done }) {
  return (
    <Dialog
      title={words.done(version)}
      actions={
        <>
          <CloseButton />
          <Link href={`/runs/${restart}`} className="button button-main">
            {words.openRestart}
          </Link>
        </>
      }
    >
      <p role="status">{words.restarted(started, refused)}</p>
    </Dialog>
  );
}

/** Reads the text of the node in the active version, and in the version of the failed run. */
function useActiveText({ workflow, recorded: at }: Session, node: string, field: "code" | "prompt") {
  const nova = useNova();
  const recorded = at?.version ?? 1;
  const readText = async (version: number) =>
    (await readVersion(nova, workflow ?? "", version)).nodes.get(node)?.[field];
  return useQuery({
    queryKey: ["fix", "active", workflow, node],
    gcTime: 0,
    async queryFn() {
      const { active_version: active, version: latest } = await nova.workflows.get(workflow ?? "");
      const version = active ?? latest;
      const [now, then] = await Promise.all([version, recorded].map(readText));
      return { version, text: now, recorded: then };
    },
  });
}

/** Lists other failed runs of the workflow with the same error that were not restarted yet. */
function useOthers({ execution_id: id, workflow, error }: WholeExecution) {
  const { executions } = useNova();
  return useQuery({
    queryKey: ["fix", "others", id],
    enabled: error !== null,
    gcTime: 0,
    async queryFn() {
      const query = { workflow, status: "failed", error_class: error?.class, limit: 200 } as const;
      const failed = await Array.fromAsync(executions.list(query as Parameters<typeof executions.list>[0]));
      const isSame = (one: Execution) =>
        one.error?.node === error?.node &&
        normalizeMessage(one.error?.message ?? "") === normalizeMessage(error?.message ?? "");
      return failed.filter(
        (one) => one.execution_id !== id && one.parent === null && one.restarts.length === 0 && isSame(one),
      );
    },
  });
}
