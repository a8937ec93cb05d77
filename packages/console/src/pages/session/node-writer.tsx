import type { Schemas, Session } from "@nova/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type RefObject, useCallback, useEffect, useImperativeHandle, useRef, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { findMember, readString } from "../../json/raw.ts";
import { Button } from "../../parts/button.tsx";
import type { Writer, Writing } from "../../parts/code-writer.ts";
import { ErrorNote, Failure, isConflict } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { FindingList } from "../workflow/finding-list.tsx";
import { findSessionNode, readDefinition, type SessionNode } from "./draft.ts";

const words = texts.writer;

type Checked = Schemas["CheckedNode"];

/** The functions of the editor that its caller can use. */
export interface WriterHandle {
  /** Saves unsaved text. Returns false if the text could not be saved. */
  save(): Promise<boolean>;
}

interface NodeWriterProps {
  session: Session;
  node: SessionNode;
  field: "code" | "prompt";
  onRun(): void;
  handle: RefObject<WriterHandle | null>;
  /** Whether the editor takes the focus when it opens. */
  takesFocus?: boolean;
}

/**
 * Lets the user edit the code or the prompt of a node. Saves the text after each pause in typing. Shows the findings,
 * and the prompt with its values filled in.
 */
export function NodeWriter({ session, node, field, onRun, handle, takesFocus = false }: NodeWriterProps) {
  const saver = useSaver(session, node, field);
  const { writer, text, theirs, setText } = saver;
  const check = useCheck(session, node, saver.isSaved);
  const { findings = [], keys, earlier = [], prompt } = check.data ?? {};
  const names = field === "code" ? (keys ?? []) : [...earlier.map(({ name }) => name), ...(keys ?? [])];
  const own = findings.filter(({ path }) => path === `$.${field}`);
  const marks = own.map(({ severity, message, line = 1, column = 1 }) => ({ severity, message, line, column }));
  useImperativeHandle(handle, () => ({ save: saver.save }));
  const open = useWriter(writer, {
    text,
    language: field === "code" ? "python" : "prompt",
    label: texts.run[field],
    names,
    onChange: setText,
    onRun,
    marks,
    takesFocus,
  });
  if (open.error) return <Failure error={open.error} />;
  return (
    <div className="stack writer">
      <div ref={open.host} className="code-diff well writer-box" data-field={field} />
      <p className="row between small quiet" role="status">
        <span>{saver.isSaved ? texts.common.saved : words.saving}</span>
        <span>{words.keys}</span>
      </p>
      {theirs !== undefined && <Conflict session={session} node={node.node_id} saver={saver} />}
      <ErrorNote error={saver.error ?? check.error} />
      {check.data && findings.length === 0 && <p className="small ok">{words.noFindings}</p>}
      {findings.length > 0 && (
        <FindingList className="tight small" label={words.findings} findings={findings} showsLine />
      )}
      {prompt && <FilledPrompt prompt={prompt} />}
    </div>
  );
}

function Conflict({ session, node, saver }: { session: Session; node: string; saver: Saver }) {
  const change = session.changes.findLast((one) => one.what.includes(`"${node}"`));
  return (
    <div className="notice tone-wait stack" role="alert">
      <p>
        <UntrustedText text={change ? `${change.what}, ${texts.sessions.change(change.by)}` : words.changed} />{" "}
        {change && <Time at={change.at} />}
      </p>
      <div className="line">
        <Button onClick={saver.keepMine}>{words.keepMine}</Button>
        <Button onClick={saver.takeTheirs}>{words.takeTheirs}</Button>
      </div>
    </div>
  );
}

function FilledPrompt({ prompt: { text, references } }: { prompt: NonNullable<Checked["prompt"]> }) {
  return (
    <details open>
      <summary>{words.filled}</summary>
      {references.length > 0 && (
        <dl className="facts small">
          {references.map(({ reference, value }) => (
            <div key={reference}>
              <dt className="mono">
                <UntrustedText text={reference} />
              </dt>
              <dd className={value === null ? "bad" : "ellipsis"}>
                {value === null ? words.noValue : <UntrustedText text={value.slice(0, 500)} />}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <UntrustedText as="pre" className="well prose printed" text={text} />
    </details>
  );
}

/** Reads the findings of the saved node once per version. */
function useCheck({ session_id: id, revision }: Session, { node_id, version }: SessionNode, isSaved: boolean) {
  const nova = useNova();
  return useQuery({
    queryKey: ["session-check", id, node_id, version, revision],
    enabled: isSaved,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before: Checked | undefined) => before,
    queryFn: () => nova.sessions.check(id, node_id),
  });
}

interface ChangingWriting extends Omit<Writing, "names"> {
  names: readonly string[];
  marks: Parameters<Writer["mark"]>[0];
  takesFocus: boolean;
}

/** Opens the editor in the returned element. The browser loads the editor on first use. */
function useWriter(writer: RefObject<Writer | undefined>, writing: ChangingWriting) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(writing);
  latest.current = writing;
  const [isOpen, setOpen] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let isGone = false;
    import("../../parts/code-writer.ts")
      .then(({ openWriter }) => {
        if (isGone || !host.current) return;
        const { text, language, label } = latest.current;
        writer.current = openWriter(host.current, {
          text,
          language,
          label,
          names: () => latest.current.names,
          onChange: (changed) => latest.current.onChange(changed),
          onRun: () => latest.current.onRun(),
        });
        if (latest.current.takesFocus) writer.current.focus();
        setOpen(true);
      })
      .catch(setError);
    return () => {
      isGone = true;
      writer.current?.destroy();
      writer.current = undefined;
    };
  }, [writer]);
  const marks = JSON.stringify(writing.marks);
  useEffect(() => {
    if (isOpen) writer.current?.mark(JSON.parse(marks));
  }, [writer, isOpen, marks]);
  return { host, error };
}

const pauseMs = 500;

type Saver = ReturnType<typeof useSaver>;

/**
 * Saves the text after each pause in typing. If another user has changed the text meanwhile, `theirs` is the other
 * user's text. The editor then saves nothing until its own user chooses one of the two texts.
 */
function useSaver({ session_id: id }: Session, node: SessionNode, field: "code" | "prompt") {
  const nova = useNova();
  const queries = useQueryClient();
  const now = readString(findMember(readDefinition(node), field)) ?? "";
  const [text, setText] = useState(now);
  const [saved, setSaved] = useState(now);
  const [theirs, setTheirs] = useState<string>();
  const [error, setError] = useState<unknown>();
  const writer = useRef<Writer>(undefined);
  const state = useRef({ text, saved, version: node.version, hasConflict: false, isBusy: Promise.resolve(true) });
  Object.assign(state.current, { text, hasConflict: theirs !== undefined });
  useEffect(() => {
    const { current } = state;
    if (now === current.saved || now === current.text) {
      current.version = node.version;
      current.saved = now;
      setSaved(now);
    } else if (current.text === current.saved) {
      Object.assign(current, { text: now, saved: now, version: node.version });
      writer.current?.setText(now);
      setSaved(now);
    } else setTheirs(now);
  }, [now, node.version]);
  const store = useCallback(async (): Promise<boolean> => {
    const { current } = state;
    const { text: sent, version } = current;
    if (sent === current.saved) return true;
    try {
      const session = await nova.sessions.changeNode(id, node.node_id, { [field]: sent }, { version });
      current.saved = sent;
      current.version = findSessionNode(session, node.node_id)?.version ?? version;
      queries.setQueryData(["session", id], session);
      setSaved(sent);
      setError(undefined);
      return current.text === sent;
    } catch (cause) {
      if (isConflict(cause)) await queries.invalidateQueries({ queryKey: ["session", id], exact: true });
      else setError(cause);
      return false;
    }
  }, [nova, queries, id, node.node_id, field]);
  const save = useCallback(() => {
    state.current.isBusy = state.current.isBusy.then(store);
    return state.current.isBusy;
  }, [store]);
  // If the server refused a text because another part of the node had changed, sends the text again with the new
  // version.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version is a reason to send the text again
  useEffect(() => {
    if (text === saved || theirs !== undefined) return undefined;
    const timer = setTimeout(() => void save(), pauseMs);
    return () => clearTimeout(timer);
  }, [text, saved, theirs, save, node.version]);
  // Also saves the text if the user leaves the editor before the pause ends.
  useEffect(
    () => () => {
      if (!state.current.hasConflict) void save();
    },
    [save],
  );
  const settle = (isMine: boolean) => {
    const { current } = state;
    Object.assign(current, { saved: theirs ?? "", version: node.version });
    setSaved(theirs ?? "");
    if (!isMine) writer.current?.setText(theirs ?? "");
    setTheirs(undefined);
  };
  return {
    writer,
    text,
    setText,
    theirs,
    error,
    isSaved: text === saved,
    save,
    keepMine: () => settle(true),
    takeTheirs: () => settle(false),
  };
}
