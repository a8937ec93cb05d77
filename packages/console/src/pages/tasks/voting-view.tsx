import type { WholeTask } from "@nova/client";
import { useState } from "react";
import { useNova } from "../../api/nova.ts";
import { useReload } from "../../api/queries.ts";
import { ConfirmButton, DialogButton, FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";

const words = texts.tasks.voting;

/** Ids of the elements with two sentences: why the user may not vote, and why the user may not withdraw a vote. */
export const refusalId = "task-refusal";
const withdrawalRefusalId = "task-withdrawal-refusal";

interface VotingViewProps {
  task: WholeTask;
  /** Called after the user has withdrawn or delegated the vote. */
  onChange?(): void;
}

/** Shows who may vote on an approval, who has voted, and why buttons are disabled for the user. */
export function VotingView({ task, onChange }: VotingViewProps) {
  const { approvers, voting } = task;
  if (!approvers || !voting) return <p className="small quiet">{words.anyone}</p>;
  const { votes, delegations, missing, caller, refusal } = voting;
  return (
    <section className="stack" aria-label={words.title}>
      <h2 className="label">{words.title}</h2>
      <UntrustedText as="p" className="small" text={words.may(approvers.count, approvers.any.join(", "))} />
      {votes.map(({ by, choice, at }) => (
        <p key={by} className="line">
          <UntrustedText text={words.voted(by, choice)} /> <Time at={at} />
        </p>
      ))}
      {delegations.map(({ by, to }) => (
        <UntrustedText key={by} as="p" className="small quiet" text={words.delegated(by, to)} />
      ))}
      {votes.length > 0 && (
        <UntrustedText
          as="p"
          className="small quiet"
          text={missing.map(({ choice, count }) => words.missing(choice, count)).join(", ")}
        />
      )}
      {refusal !== null && (
        <p id={refusalId} className="toned small tone-wait">
          <UntrustedText text={refusal} />
        </p>
      )}
      {caller !== null && <UntrustedText as="p" className="small quiet" text={words.caller(caller)} />}
      <VoteButtons task={task} voting={voting} onChange={onChange} />
    </section>
  );
}

interface VoteButtonsProps extends Pick<VotingViewProps, "task"> {
  voting: NonNullable<WholeTask["voting"]>;
  onChange: VotingViewProps["onChange"];
}

/**
 * The buttons that withdraw and delegate a vote. A disabled button refers to the sentence that says why it is disabled.
 */
function VoteButtons({ task: { task_id: id }, voting, onChange }: VoteButtonsProps) {
  const nova = useNova();
  const reload = useReload();
  const { refusal, withdrawal_refusal: withdrawalRefusal } = voting;
  const isSame = withdrawalRefusal === refusal;
  const settle = async () => {
    onChange?.();
    await reload(["task", id], ["/tasks"]);
  };
  return (
    <>
      <div className="line">
        <ConfirmButton
          label={words.withdraw}
          title={words.withdrawTitle}
          hint={words.withdrawHint}
          disabled={withdrawalRefusal !== null}
          aria-describedby={withdrawalRefusal === null ? undefined : isSame ? refusalId : withdrawalRefusalId}
          onConfirm={() => nova.tasks.withdraw(id).then(settle)}
        />
        <DialogButton
          label={words.delegate}
          disabled={refusal !== null}
          aria-describedby={refusal === null ? undefined : refusalId}
          dialog={<DelegateDialog delegate={(to) => nova.tasks.delegate(id, to).then(settle)} />}
        />
      </div>
      {withdrawalRefusal !== null && !isSame && (
        <p id={withdrawalRefusalId} className="small quiet">
          <UntrustedText text={withdrawalRefusal} />
        </p>
      )}
    </>
  );
}

function DelegateDialog({ delegate }: { delegate(to: string): Promise<void> }) {
  const [to, setTo] = useState("");
  return (
    <FormDialog
      title={words.delegateTitle}
      action={words.delegate}
      isIncomplete={to.trim() === ""}
      onSubmit={() => delegate(to.trim())}
    >
      <TextField label={words.delegateTo} hint={words.delegateHint} type="email" value={to} onChange={setTo} />
    </FormDialog>
  );
}
