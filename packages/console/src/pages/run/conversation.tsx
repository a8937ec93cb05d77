import { type ChainEntry, callsOf, formatUsd } from "@nova/client";
import { useMemo } from "react";
import { asRaw } from "../../json/raw.ts";
import { Button } from "../../parts/button.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import type { RunModel, Visit } from "./run-model.ts";

const words = texts.run.conversation;

interface ConversationProps {
  visit: Visit;
  model: RunModel;
  onSelect(visit: Visit): void;
}

/**
 * Shows the messages between an agent and its model, in order. A click on a call of a tool selects the visit of this
 * tool.
 */
export function Conversation({ visit, model, onSelect }: ConversationProps) {
  const talk = useMemo(() => findTalk(model.visits, visit), [model, visit]);
  const entries = talk.flatMap(({ entry }) => entry ?? []);
  const asked = entries[0]?.ai_metadata?.processed_prompt;
  return (
    <section className="pane-body stack" aria-label={words.title}>
      <header className="line baseline small">
        <b>{words.title}</b>
        <span className="quiet">{describeUsage(entries)}</span>
      </header>
      {typeof asked === "string" && <UntrustedText as="p" className="prose" text={asked} />}
      <ol className="stack">
        {entries.map((entry) => (
          <li key={entry.seq} className={`step stack tone-${entry.status === "failed" ? "bad" : "ok"}`}>
            <Turn entry={entry} visits={model.visits} onSelect={onSelect} />
          </li>
        ))}
      </ol>
    </section>
  );
}

interface TurnProps {
  entry: ChainEntry;
  visits: readonly Visit[];
  onSelect(visit: Visit): void;
}

/** Shows one answer of the model, or one run of the agent's code, with its tool calls and their results. */
function Turn({ entry, visits, onSelect }: TurnProps) {
  const { reply, changes, error_message: error, branches } = entry;
  const speaker = entry.code_hash === null ? (entry.ai_metadata?.model ?? texts.run.model) : texts.run.code;
  return (
    <>
      <header className="line baseline small">
        <b>{speaker}</b>
        <span className="quiet">{describeUsage([entry])}</span>
      </header>
      {reply?.text && <UntrustedText as="p" className="prose" text={reply.text} />}
      {reply?.unfit !== undefined && <UntrustedText as="p" className="bad" text={`${words.unfit} ${reply.unfit}`} />}
      {reply?.code_failed !== undefined && (
        <UntrustedText as="p" className="bad" text={`${words.codeFailed} ${reply.code_failed}`} />
      )}
      {reply === undefined && error === null && <JsonView text={asRaw(changes.set).text} open={1} />}
      {callsOf({ reply, branches }).map(({ id, name, arguments: given, refused, branch }) => {
        const visit =
          branch && visits.findLast((one) => one.execution === entry.execution_id && one.scope === branch.scope);
        const end = branch?.entries.at(-1);
        return (
          <div key={id} className="stack">
            <div className="line baseline">
              <Button tone="ghost" icon="right" disabled={!visit} onClick={() => visit && onSelect(visit)}>
                {name}
              </Button>
              <UntrustedText className="mono" text={given} />
            </div>
            {refused !== undefined && <UntrustedText as="p" className="bad" text={refused} />}
            {end?.error_message && <UntrustedText as="p" className="bad" text={end.error_message} />}
            {end?.error_message === null && (
              <JsonView name={texts.run.found} text={asRaw(end.changes.set).text} open={0} />
            )}
          </div>
        );
      })}
    </>
  );
}

/**
 * Returns the visits of an agent that belong to the same conversation as `visit`. The entry of a join is between each
 * visit and the next, so their entry numbers differ by 2.
 */
function findTalk(visits: readonly Visit[], { execution, node, scope, seq }: Visit): Visit[] {
  const same = visits.filter((one) => one.execution === execution && one.node === node && one.scope === scope);
  const at = new Map(same.map((one) => [one.seq, one]));
  let first = seq;
  while (at.get(first - 2)?.entry?.reply !== undefined) first -= 2;
  const talk: Visit[] = [];
  for (let next = first; ; next += 2) {
    const one = at.get(next);
    if (one) talk.push(one);
    if (one?.entry?.reply === undefined) return talk;
  }
}

function describeUsage(entries: readonly ChainEntry[]): string {
  const steps = entries.flatMap((entry) => entry.steps);
  const sum = (name: "tokens_input" | "tokens_output" | "cost_usd") => steps.reduce((all, step) => all + step[name], 0);
  const calls = entries.reduce((all, { reply }) => all + (reply?.calls.length ?? 0), 0);
  return [
    calls > 0 && words.calls(calls),
    texts.run.tokens(sum("tokens_input"), sum("tokens_output")),
    formatUsd(sum("cost_usd")),
  ]
    .filter(Boolean)
    .join(" · ");
}
