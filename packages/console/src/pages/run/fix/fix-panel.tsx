import type { ChainEntry, Session, WholeExecution } from "@nova/client";
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useNova } from "../../../api/nova.ts";
import { asRaw } from "../../../json/raw.ts";
import { Button } from "../../../parts/button.tsx";
import { CodeView } from "../../../parts/code.tsx";
import { DialogButton } from "../../../parts/dialog.tsx";
import { JsonView } from "../../../parts/json-view.tsx";
import { ErrorNote, lazyComponent, QueryView } from "../../../parts/states.tsx";
import { StatusBadge } from "../../../parts/status.tsx";
import { UntrustedText } from "../../../parts/untrusted-text.tsx";
import { texts } from "../../../texts.ts";
import { findTextField, readDefinition } from "../../session/draft.ts";
import type { WriterHandle } from "../../session/node-writer.tsx";
import { useSession, useSessionReload } from "../../session/use-session.ts";
import { EntryView, useEntry } from "../entry-view.tsx";
import { describeFailure } from "./failed-line.ts";
import { PublishDialog } from "./publish-dialog.tsx";

const words = texts.fix;

/** The browser loads the editor when a user first fixes a node. */
const NodeWriter = lazyComponent(async () => (await import("../../session/node-writer.tsx")).NodeWriter);

interface FixProps {
  run: WholeExecution;
  /** The id of the run that contains the failed entry: the run of the page, or a child run. */
  execution: string;
  entry: ChainEntry;
  /** The place of the node in `execution`, in the format of `--from`. */
  place: string;
}

/** Shows the failed line with the values that it reads, and the editor in which a user fixes the node. */
export function FixPanel(props: FixProps) {
  const { execution, entry, place } = props;
  const nova = useNova();
  const create = useMutation({ mutationFn: () => nova.sessions.create({ run: execution, place }) });
  return (
    <section className="fix stack" aria-label={words.title}>
      <FailedLine execution={execution} entry={entry} />
      {create.data ? (
        <Fix {...props} session={create.data.session_id} />
      ) : (
        <div className="line">
          <Button icon="change" tone="main" disabled={create.isPending} onClick={() => create.mutate()}>
            {words.edit}
          </Button>
          <span className="quiet small">{words.editHint}</span>
        </div>
      )}
      <ErrorNote error={create.error} />
    </section>
  );
}

/** Shows the failed line, and the values of the keys that it reads. */
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
  return (
    <QueryView query={useSession(id)} lines={4}>
      {(session) => <Editor {...props} session={session} />}
    </QueryView>
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
      // The server answers before the end of a long run, so the page waits for the end.
      const answer = execution === null ? { status, error } : await nova.executions.untilEnded(execution);
      await reload();
      const entries = execution === null ? [] : await Array.fromAsync(nova.executions.chain(execution));
      return { execution, answer, entry: entries.findLast(({ node_id }) => node_id === node.node_id) };
    },
    onSuccess: ({ answer }) => setTried(answer.status === "completed"),
  });
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
          dialog={<PublishDialog {...props} session={session} node={node} field={field} handle={handle} />}
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
          <EntryView key={entry.hash} execution={execution} entry={entry} isDiffFirst />
        </section>
      )}
    </>
  );
}
