import { useQuery } from "@tanstack/react-query";
import { type JSX, type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useNova } from "../api/nova.ts";
import { useClientSlugs, useList } from "../api/queries.ts";
import { texts } from "../texts.ts";
import { Dialog, useClose } from "./dialog.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { usePageTargets } from "./keyboard.tsx";
import { formatMoment } from "./time.tsx";
import { UntrustedText } from "./untrusted-text.tsx";

const words = texts.palette;

interface Target {
  key: string;
  group: keyof typeof words.groups;
  icon: IconName;
  name: string;
  /** A second text, which the search also looks at. */
  note: string;
  run(): void;
}

const maxShown = 40;
/** Shorter texts would match most ids of runs. */
const leastCharacters = 4;
const labelPattern = /^[a-z][a-z0-9_-]{0,39}=.+$/;
const idPattern = /^exec_[0-9A-Za-z]{26}$/;

/**
 * The command palette: the user types a few letters to open a page, a workflow, a run or a client, or to start an
 * action.
 */
export function Palette(): JSX.Element {
  const close = useClose();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const targets = useTargets(text.trim());
  const found = useMemo(() => findTargets(targets, text.trim()), [targets, text]);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const listId = useId();
  const chosen = Math.min(at, found.length - 1);
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    list.current?.querySelectorAll("[role=option]")[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const choose = (target: Target | undefined) => {
    if (!target) return;
    close();
    target.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt(Math.max(0, Math.min(found.length - 1, chosen + step)));
    else if (event.key === "Enter") choose(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={words.title}>
      <input
        ref={input}
        className="input palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found[chosen] && `${listId}-${chosen}`}
        aria-label={words.search}
        placeholder={words.search}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      {found.length === 0 && <p className="quiet">{words.none}</p>}
      <div ref={list} id={listId} className="palette-list" role="listbox" aria-label={words.title}>
        {found.map((target, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input moves the choice and chooses by keyboard
          <div
            key={target.key}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className="palette-option row"
            onClick={() => choose(target)}
          >
            <Icon name={target.icon} size={14} />
            <span className="fill ellipsis">
              <UntrustedText text={target.name} />{" "}
              <UntrustedText as="span" className="quiet small" text={target.note} />
            </span>
            <span className="quiet small">{words.groups[target.group]}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

/** Lists everything that the palette can open. Runs are searched on the server. */
function useTargets(text: string): Target[] {
  const [, go] = useLocation();
  const workflows = useList("/workflows", {}, { staleTime: 60_000 });
  const clients = useClientSlugs();
  const runs = useRunsFor(text);
  const { shortcuts, places } = usePageTargets();
  return useMemo(
    () => [
      ...(runs ?? []).map((run): Target => {
        const { execution_id: id, workflow, status, started_at, labels } = run;
        const shown = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
        const note = [texts.status[status], formatMoment(Date.parse(started_at)), ...shown].join(" · ");
        return { key: id, group: "run", icon: "runs", name: `${workflow} ${id}`, note, run: () => go(`/runs/${id}`) };
      }),
      ...places.map(({ name, note, open }): Target => {
        return { key: `n ${name}`, group: "node", icon: "code", name, note, run: open };
      }),
      ...shortcuts.map(({ label, keys, run }): Target => {
        return { key: `do ${label}`, group: "action", icon: "right", name: label, note: keys.join(" "), run };
      }),
      ...(workflows.data ?? []).map(({ id, name }): Target => {
        const note = name === id ? "" : id;
        return { key: `w ${id}`, group: "workflow", icon: "flow", name, note, run: () => go(`/workflows/${id}`) };
      }),
      ...clients.map((slug): Target => {
        const run = () => go(`/clients/${slug}`);
        return { key: `c ${slug}`, group: "client", icon: "people", name: slug, note: "", run };
      }),
    ],
    [runs, shortcuts, places, workflows.data, clients, go],
  );
}

/** Finds runs by a whole id, by a label such as `order=PO-10`, or by a part of the id among the newest runs. */
function useRunsFor(text: string) {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["runs", "palette", text],
    enabled: text.length >= leastCharacters,
    staleTime: 10_000,
    async queryFn({ signal }) {
      if (idPattern.test(text)) return [await nova.executions.get(text)];
      const query = labelPattern.test(text) ? { label: text, limit: 20 } : { limit: 200 };
      const { items } = await nova.ask(nova.api.GET("/executions", { params: { query }, signal }));
      const wanted = text.toLowerCase();
      return "label" in query ? items : items.filter((run) => run.execution_id.toLowerCase().includes(wanted));
    },
  });
  return text.length >= leastCharacters ? data : undefined;
}

/** Finds the targets that contain all typed words; those that start with the text come first. */
function findTargets(targets: readonly Target[], text: string): Target[] {
  const wanted = text.toLowerCase();
  const parts = wanted.split(/\s+/).filter((part) => part !== "");
  const all = targets.filter(({ name, note, group }) => {
    const whole = `${name} ${note} ${words.groups[group]}`.toLowerCase();
    return parts.every((part) => whole.includes(part));
  });
  const rank = ({ name }: Target) => (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  return all.sort((a, b) => rank(a) - rank(b)).slice(0, maxShown);
}
