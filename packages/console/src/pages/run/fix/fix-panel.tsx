import type { ChainEntry, Execution, Session, WholeExecution } from "@nova/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { useNova, workConcurrently } from "../../../api/nova.ts";
import { useReload } from "../../../api/queries.ts";
import { asRaw, findMember, readString } from "../../../json/raw.ts";
import { Button } from "../../../parts/button.tsx";
import { CodeDiff, CodeView } from "../../../parts/code.tsx";
import { Dialog, DialogButton, FormDialog } from "../../../parts/dialog.tsx";
import { JsonView } from "../../../parts/json-view.tsx";
import { ErrorNote, lazyComponent, QueryView } from "../../../parts/states.tsx";
import { StatusBadge } from "../../../parts/status.tsx";
import { UntrustedText } from "../../../parts/untrusted-text.tsx";
import { texts } from "../../../texts.ts";
import { findTextField, readDefinition, type SessionNode } from "../../session/draft.ts";
import type { WriterHandle } from "../../session/node-writer.tsx";
import { useSession, useSessionReload } from "../../session/use-session.ts";
import { parseDefinition } from "../../workflow/definition.ts";
import { EntryView, useEntry } from "../entry-view.tsx";
import { ForecastView } from "../forecast.tsx";
import { describeFailure, normalizeMessage } from "./failed-line.ts";

const words = texts.fix;

/** The editor is loaded when a user fixes a node for the first time. */
const NodeWriter = lazyComponent(async () => (await import("../../session/node-writer.tsx")).NodeWriter);

export interface FixProps {
  run: WholeExecution;
  /** The failed entry, and the run that contains it: the run of the page, or a child run. */
  execution: string;
  entry: ChainEntry;
  /** The place in `execution`, as restarts name it. */
  place: string;
}

/** The failed line with the values that it reads, and the editor in which a user fixes the node. */
export function FixPanel(props: FixProps) {
  const { execution, entry, place } = props;
  const nova = useNova();
  const create = useMutation({ mutationFn: () => nova.sessions.create({ run: execution, place }) });
  if (create.data) return <Fix {...props} session={create.data.session_id} />;
  return (
    <section className="fix stack" aria-label={words.title}>
      <FailedLine execution={execution} entry={entry} />
      <div className="line">
        <Button icon="change" tone="main" disabled={create.isPending} onClick={() => create.mutate()}>
          {words.edit}
        </Button>
        <span className="quiet small">{words.editHint}</span>
      </div>
      <ErrorNote error={create.error} />
    </section>
  );
}

/** The line that failed, and the values of the keys that it reads. */
function FailedLine({ execution, entry }: Pick<FixProps, "execution" | "entry">) {
  const { data } = useEntry(execution, entry);
  const failure = data && describeFailure(data, asRaw(data.input_context).text);
  if (!failure) return null;
  const { line, source, values } = failure;
  return (
    <div className="stack tight">
      <CodeView code={source} label={words.failedLine} first={line} marked={1} />
      {values.length > 0 && (
        <div className="failed-values" role="group" aria-label={words.reads}>
          {values.map(({ key, text }) =>
            text === undefined ? (
              <p key={key} className="bad small">
                <UntrustedText text={words.missing(key)} />
              </p>
            ) : (
              <JsonView key={key} name={key} text={text} open={0} />
            ),
          )}
        </div>
      )}
      {entry.error_message !== null && values.length === 0 && <p className="quiet small">{words.readsNothing}</p>}
    </div>
  );
}

function Fix({ session: id, ...props }: FixProps & { session: string }) {
  const session = useSession(id);
  return (
    <section className="fix stack" aria-label={words.title}>
      <FailedLine execution={props.execution} entry={props.entry} />
      <QueryView query={session} lines={4}>
        {(data) => <Editor {...props} session={data} />}
      </QueryView>
    </section>
  );
}

function Editor({ session, ...props }: FixProps & { session: Session }) {
  const { session_id: id, recorded } = session;
  const nova = useNova();
  const reload = useSessionReload(id);
  const handle = useRef<WriterHandle | null>(null);
  const node = session.nodes.find(({ node_id }) => node_id === recorded?.node);
  const field = node && findTextField(readDefinition(node));
  const [isTried, setTried] = useState(false);
  const run = useMutation({
    async mutationFn() {
      if (!node || handle.current === null || !(await handle.current.save())) throw new Error(words.notSaved);
      const { execution_id: execution, status, error } = await nova.sessions.runNode(id, node.node_id);
      // The answer comes before the end of a long run.
      const answer = execution === null ? { status, error } : await nova.executions.untilEnded(execution);
      await reload();
      return { execution, answer, entry: execution === null ? undefined : await findEntry(execution, node.node_id) };
    },
    onSuccess: ({ answer }) => setTried(answer.status === "completed"),
  });
  const findEntry = async (execution: string, wanted: string) => {
    const entries = await Array.fromAsync(nova.executions.chain(execution));
    return entries.findLast(({ node_id }) => node_id === wanted);
  };
  if (!node || !field) return <p className="quiet">{words.notEditable}</p>;
  const start = () => {
    if (!run.isPending) run.mutate();
  };
  const { execution, answer, entry } = run.data ?? {};
  return (
    <>
      <NodeWriter session={session} node={node} field={field} onRun={start} handle={handle} takesFocus />
      <div className="line">
        <Button icon="play" disabled={run.isPending} onClick={start}>
          {run.isPending ? words.running : words.run}
        </Button>
        <DialogButton
          icon="upload"
          tone={isTried ? "main" : "plain"}
          label={words.publish}
          dialog={(close) => (
            <PublishDialog {...props} session={session} node={node} field={field} handle={handle} onClose={close} />
          )}
        />
      </div>
      <ErrorNote error={run.error} />
      <div role="status">
        {answer && (
          <p className="line">
            <StatusBadge status={answer.status} />
            <span>{answer.status === "completed" ? words.works : words.failsStill}</span>
            {answer.error && <UntrustedText as="span" className="bad" text={answer.error.message} />}
          </p>
        )}
      </div>
      {execution && entry && (
        <section className="fix-result" aria-label={words.result}>
          <EntryView key={entry.hash} execution={execution} entry={entry} credentials={undefined} isDiffFirst />
        </section>
      )}
    </>
  );
}

interface PublishDialogProps {
  run: WholeExecution;
  execution: string;
  session: Session;
  node: SessionNode;
  field: "code" | "prompt";
  handle: RefObject<WriterHandle | null>;
  onClose(): void;
}

interface Done {
  version: number;
  /** The restart of the run of the page. */
  restart: string;
  started: number;
  refused: number;
}

/**
 * Shows the difference to the active version and what a restart would run. After confirmation it publishes the change,
 * and restarts this run and, if the user wants, the other runs with the same error.
 */
function PublishDialog({ run, execution, session, node, field, handle, onClose }: PublishDialogProps) {
  const { session_id: id, workflow } = session;
  const nova = useNova();
  const reload = useReload();
  const [isForAll, setForAll] = useState(false);
  const [done, setDone] = useState<Done>();
  const active = useActiveText(session, node.node_id, field);
  const forecast = useForecast(run, execution, active.data?.version);
  const others = useOthers(run);
  // The difference has to show the text that the user typed last.
  useEffect(() => void handle.current?.save(), [handle]);
  const isChild = execution !== run.execution_id;
  const text = readString(findMember(readDefinition(node), field)) ?? "";
  const publish = async () => {
    if (!(await handle.current?.save())) throw new Error(words.notSaved);
    const { version, status, reason } = await nova.sessions.publish(id);
    if (status === "failed") throw new Error(reason ?? words.notPublished);
    await waitUntilReady(version);
    const request = isChild ? {} : { version };
    const { execution_id: restart } = await nova.executions.restart(run.execution_id, request);
    const counts = { started: 1, refused: 0 };
    await workConcurrently(isForAll ? (others.data ?? []) : [], async ({ execution_id }) => {
      await nova.executions.restart(execution_id, request).then(
        () => counts.started++,
        () => counts.refused++,
      );
    });
    await reload(["run", run.execution_id], ["/executions"], ["runs"]);
    setDone({ version, restart, ...counts });
  };
  const waitUntilReady = async (version: number) => {
    for (let tries = 0; tries < maxTries; tries++) {
      const { status, reason } = await nova.workflows.get(workflow ?? "", { version });
      if (status === "ready") return;
      if (status === "failed") throw new Error(reason ?? words.notPublished);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    throw new Error(words.slow);
  };
  if (done) return <DoneDialog done={done} onClose={onClose} />;
  const count = others.data?.length ?? 0;
  return (
    <FormDialog
      title={words.publish}
      isIncomplete={!forecast.data || forecast.data.misfits.length > 0 || active.data?.text === text}
      staysOpen
      onSubmit={publish}
      onClose={onClose}
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

const maxTries = 120;
const pauseMs = 500;

function DoneDialog({ done: { version, restart, started, refused }, onClose }: { done: Done; onClose(): void }) {
  return (
    <Dialog
      title={words.done(version)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.common.close}</Button>
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
  const readText = async (version: number) => {
    const { definition } = await nova.workflows.get(workflow ?? "", { version });
    return parseDefinition(asRaw(definition).text).nodes.get(node)?.[field];
  };
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

function useForecast({ execution_id: id }: WholeExecution, execution: string, version: number | undefined) {
  const { executions } = useNova();
  return useQuery({
    queryKey: ["forecast", id, "fix", version],
    enabled: version !== undefined,
    gcTime: 0,
    queryFn: () =>
      executions.restart(id, { dry_run: true, ...(execution === id && version !== undefined && { version }) }),
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
