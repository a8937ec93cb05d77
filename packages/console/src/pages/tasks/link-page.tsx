import type { WholeTask } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { forgetMailedLink } from "../../api/session.ts";
import { Icon } from "../../parts/icon.tsx";
import { describeError, Empty, Loading } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { AnswerForm } from "./answer-form.tsx";
import { Context, Question, Remaining } from "./tasks-page.tsx";
import { VotingView } from "./voting-view.tsx";

const words = texts.tasks.link;

/** The sentences that the page shows after the link was used. */
interface Done {
  title: string;
  hints: readonly string[];
}

/**
 * The page of a mailed link shows one task without a sign-in. Until the user presses a button, the page only reads the
 * task. A press uses up the link, so the page then sends no further requests to the API.
 */
export function LinkPage({ task: id }: { task: string }) {
  const nova = useNova();
  const [done, setDone] = useState<Done>();
  const query = useQuery({ queryKey: ["task", id], enabled: done === undefined, queryFn: () => nova.tasks.get(id) });
  const end = (title: string, ...hints: string[]) => {
    forgetMailedLink();
    setDone({ title, hints });
  };
  const { data: task, error } = query;
  return (
    <main className="task-page">
      <article className="card task-card">
        {done ? (
          <Stored {...done} />
        ) : error ? (
          <Empty icon="cross" title={words.failed} hint={describeError(error)} isPage />
        ) : task ? (
          <Ballot task={task} onEnd={end} />
        ) : (
          <Loading />
        )}
      </article>
    </main>
  );
}

function Ballot({ task, onEnd }: { task: WholeTask; onEnd(title: string, ...hints: string[]): void }) {
  return (
    <>
      <header className="row between">
        <h1>{words.title}</h1>
        <Remaining until={task.expires_at} />
      </header>
      <Question task={task} />
      <Context task={task} />
      <VotingView task={task} onChange={() => onEnd(words.changed, words.next)} />
      <AnswerForm
        task={task}
        onAnswer={({ choice, missing = 0 }) =>
          missing === 0
            ? onEnd(words.voted(choice), words.decided)
            : onEnd(words.voted(choice), words.waits(missing), words.next)
        }
      />
    </>
  );
}

function Stored({ title, hints }: Done) {
  const section = useRef<HTMLElement>(null);
  // The pressed button has disappeared, so the focus would be lost.
  useEffect(() => section.current?.focus(), []);
  return (
    <section ref={section} tabIndex={-1} className="task-became stack start tone-ok" role="status">
      <h1 className="row">
        <Icon name="check" />
        <UntrustedText text={title} />
      </h1>
      {hints.map((hint) => (
        <p key={hint}>{hint}</p>
      ))}
    </section>
  );
}
