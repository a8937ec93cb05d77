import { type ChainEntry, findFailedLine, formatDuration, formatUsd } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { asRaw, listMembers, type Raw, readMembers } from "../../json/raw.ts";
import type { Root } from "../../json/tree.ts";
import { Button } from "../../parts/button.tsx";
import { CodeDiff, CodeView } from "../../parts/code.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { type Fact, Facts } from "../../parts/page.tsx";
import { QueryView } from "../../parts/states.tsx";
import { TabView } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { type BlobHome, Values } from "../../parts/value.tsx";
import { texts } from "../../texts.ts";

const words = texts.run;

interface EntryProps {
  execution: string;
  entry: ChainEntry;
  /** The names of the credentials that the node receives; undefined if the page does not know the names. */
  credentials?: readonly string[] | undefined;
  /** Whether the changes to the context are shown first. */
  isDiffFirst?: boolean;
}

/** Reads an entry with all its fields. The page reads each entry once, because an entry never changes. */
export function useEntry(execution: string, { seq, scope, hash }: Pick<ChainEntry, "seq" | "scope" | "hash">) {
  const nova = useNova();
  return useQuery({
    queryKey: ["link", execution, scope, seq, hash],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn() {
      const path = { id: execution, seq };
      const query = { full: "true", references: "true", ...(scope !== "" && { scope }) } as const;
      return nova.ask(nova.api.GET("/executions/{id}/chain/{seq}", { params: { path, query } }));
    },
  });
}

/** Shows one entry with all its fields. */
export function EntryView({ execution, entry, credentials, isDiffFirst = false }: EntryProps) {
  const link = useEntry(execution, entry);
  return (
    <>
      {entry.error_message !== null && (
        <p className="notice tone-bad" role="note">
          <b>{entry.error_class}</b> <UntrustedText text={entry.error_message} />
        </p>
      )}
      <QueryView query={link} lines={6}>
        {(data) => <EntryTabs execution={execution} entry={data} credentials={credentials} isDiffFirst={isDiffFirst} />}
      </QueryView>
    </>
  );
}

function EntryTabs({ execution, entry, credentials, isDiffFirst }: EntryProps) {
  const { steps, child, input_context: before, output_result: after } = entry;
  const home = { execution };
  const contexts = { before: before ? asRaw(before) : null, after: after ? asRaw(after) : null };
  const { before: input, after: output } = contexts;
  const modelTab = ["model", `${words.model} ${steps.length}`, <Steps key="model" steps={steps} />] as const;
  const tabs = [
    ["code", words.code, <Code key="code" entry={entry} code={entry.code_executed} />],
    ["input", words.input, input && <WholeContext key="input" context={input} home={home} />],
    ["output", words.output, output && <WholeContext key="output" context={output} home={home} />],
    ["diff", words.diff, <ContextDiff key="diff" {...contexts} home={home} />],
    ["logs", words.logs, <Logs key="logs" logs={entry.logs} />],
    ...(steps.length > 0 ? [modelTab] : []),
    ["proof", words.proof.show, <Details key="proof" entry={entry} credentials={credentials} />],
  ] as const;
  return (
    <TabView
      label={words.detail}
      initial={entry.code_executed && !(isDiffFirst && entry.error_message === null) ? "code" : "diff"}
      tabs={tabs}
    >
      {child && (
        <Link href={`/runs/${child.execution_id}`} className="button">
          {words.open} {child.execution_id}
        </Link>
      )}
    </TabView>
  );
}

function Logs({ logs }: { logs: string | null | undefined }) {
  if (!logs) return <p className="quiet">{words.noLogs}</p>;
  return <UntrustedText as="pre" className="well prose printed" text={logs} />;
}

function Code({ entry, code }: { entry: ChainEntry; code: string | null | undefined }) {
  if (!code) return <p className="quiet">{words.noCode}</p>;
  return (
    <div className="stack">
      <CodeView
        code={code}
        label={words.code}
        marked={entry.error_message === null ? undefined : (findFailedLine(entry.traceback) ?? undefined)}
        note={entry.error_message ?? undefined}
      />
      {entry.traceback && <FoldedText label={words.traceback} text={entry.traceback} />}
    </div>
  );
}

function Details({ entry, credentials }: Omit<EntryProps, "execution">) {
  const { fields } = words;
  const { reused_from: source } = entry;
  const facts: Fact[] = [
    [fields.at, <Time key="at" at={entry.timestamp} />],
    [fields.reused, source && <Source of={source} node={entry.node_id} />, "mono"],
    [fields.place, `${entry.seq}${entry.scope}`, "mono"],
    [fields.type, entry.node_type, "mono"],
    [fields.decision, entry.decision_result && <UntrustedText text={entry.decision_result} />, "mono"],
    [fields.next, entry.path_taken, "mono"],
    [fields.attempt, entry.attempt, "mono"],
    [fields.credentials, credentials && <UntrustedText text={credentials.join(", ")} />, "mono"],
    [fields.sandbox, entry.sandbox_id, "mono"],
    [fields.hash, entry.hash, "mono"],
    [fields.prev, entry.prev, "mono"],
    [fields.code, entry.code_hash, "mono"],
  ];
  return <Facts className="facts" facts={facts} />;
}

function Source({ of, node }: { of: NonNullable<ChainEntry["reused_from"]>; node: string }) {
  const link = `${of.scope}#${of.seq}`;
  return (
    <Link href={`/runs/${of.execution_id}?${new URLSearchParams({ node, link })}`} className="link">
      <UntrustedText text={`${of.execution_id} ${link}`} />
    </Link>
  );
}

type Change = "added" | "changed" | "removed" | "kept";

/** Shows how a node changed the context, key by key. Keys without a change are folded. */
function ContextDiff({ before, after, home }: { before: Raw | null; after: Raw | null; home: BlobHome }) {
  const [isComplete, setComplete] = useState(false);
  const [changed, kept] = useMemo(() => {
    const diffs = Map.groupBy(diffContexts(before, after), ({ change }) => change === "kept");
    return [diffs.get(false) ?? [], diffs.get(true) ?? []];
  }, [before, after]);
  const roots = useMemo(
    () => [...changed, ...(isComplete ? kept : [])].flatMap(listRoots),
    [changed, kept, isComplete],
  );
  return (
    <div className="stack">
      {changed.length === 0 && <p className="quiet">{words.noChanges}</p>}
      {roots.length > 0 && <Values roots={roots} home={home} />}
      {kept.length > 0 && !isComplete && (
        <Button tone="ghost" icon="plus" onClick={() => setComplete(true)}>
          {words.kept(kept.length)}
        </Button>
      )}
    </div>
  );
}

const looks = {
  added: "key-after tone-ok",
  changed: "key-after tone-wait",
  removed: "key-before tone-bad",
  kept: undefined,
} as const;

/**
 * Returns the values of one key of the context for the tree. If the node changed the value, these are the value before
 * and the value after.
 */
function listRoots({ key, change, before, after }: ReturnType<typeof diffContexts>[number]): Root[] {
  const note = change === "kept" ? undefined : words[change];
  const now = { key, text: after ?? before ?? "null", open: change === "kept" ? 0 : 1, look: looks[change], note };
  return change === "changed" && before !== undefined
    ? [{ key, text: before, open: 0, look: "key-before" }, now]
    : [now];
}

function diffContexts(before: Raw | null, after: Raw | null) {
  const beforeMembers = readMembers(before?.text ?? "{}");
  const afterMembers = readMembers(after?.text ?? "{}");
  const keys = new Set([...afterMembers.keys(), ...(after ? beforeMembers.keys() : [])]);
  return Array.from(keys, (key) => {
    const [old, now] = [beforeMembers.get(key), afterMembers.get(key)];
    return { key, change: classifyChange(old, now), before: old, after: now };
  });
}

function classifyChange(before: string | undefined, after: string | undefined): Change {
  if (before === after) return "kept";
  if (before === undefined) return "added";
  return after === undefined ? "removed" : "changed";
}

/** Shows a whole context, without a comparison. */
export function WholeContext({ context, home }: { context: Raw; home: BlobHome }) {
  const roots = useMemo(
    () => listMembers(context.text).map(({ key, text }) => ({ key, text, open: 1 })),
    [context.text],
  );
  return roots.length === 0 ? <JsonView text="{}" /> : <Values roots={roots} home={home} />;
}

type Step = ChainEntry["steps"][number];

/** The steps of agents, attempt by attempt, with model, cost and result. */
function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <ol className="stack">
      {steps.map((step, index) => {
        // The page compares the code of an attempt with that of the same agent's previous attempt.
        const earlier = steps.slice(0, index).filter(({ agent_name }) => agent_name === step.agent_name);
        const before = earlier.findLast(({ generated_code }) => generated_code !== null)?.generated_code ?? undefined;
        return (
          <li
            key={`${step.timestamp}${step.step_number}${step.attempt_number}`}
            className={`step stack tone-${step.status === "failed" ? "bad" : "ok"}`}
          >
            <StepView step={step} before={before} />
          </li>
        );
      })}
    </ol>
  );
}

/** Shows one attempt of an agent. `before` is the code of the previous attempt; if present, shows the difference. */
function StepView({ step, before }: { step: Step; before: string | undefined }) {
  const { generated_code: code, error_message: error, tool_calls: calls, output_data: output, prompt, answer } = step;
  const label = `${words.code} ${words.attempt(step.attempt_number)}`;
  return (
    <>
      <StepHead step={step} />
      {error && <UntrustedText as="p" className="bad prose" text={error} />}
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls of a step never change their order
        <div key={index}>
          <span className="quiet">{words.called}</span>
          <JsonView name={call.function} text={JSON.stringify(call.arguments)} open={0} />
          {call.found !== undefined && <JsonView name={words.found} text={JSON.stringify(call.found)} open={0} />}
        </div>
      ))}
      {code && before === undefined && <CodeView code={code} label={label} />}
      {code && before !== undefined && <CodeDiff before={before} label={label} after={code} />}
      {output != null && <JsonView name={words.output} text={JSON.stringify(output)} open={0} />}
      {prompt && <FoldedText label={words.prompt} text={prompt} />}
      {answer && <FoldedText label={words.answer} text={answer} />}
    </>
  );
}

function FoldedText({ label, text }: { label: string; text: string }) {
  return (
    <details>
      <summary>{label}</summary>
      <UntrustedText as="pre" className="well prose printed" text={text} />
    </details>
  );
}

function StepHead({ step }: { step: Step }) {
  const { agent_name, attempt_number, model_used, tokens_input, tokens_output, cost_usd, execution_time_ms } = step;
  const notes = [
    words.attempt(attempt_number),
    model_used,
    tokens_input > 0 && words.tokens(tokens_input, tokens_output),
    cost_usd > 0 && formatUsd(cost_usd),
    formatDuration(execution_time_ms),
  ].filter(Boolean);
  return (
    <header className="line baseline small">
      <b>{agent_name}</b>
      <span className="quiet">{notes.join(" · ")}</span>
    </header>
  );
}
