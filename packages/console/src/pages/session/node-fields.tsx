import type { FormEvent, JSX } from "react";
import { useNova } from "../../api/nova.ts";
import { objectIn } from "../../json/typed.ts";
import { Button } from "../../parts/button.tsx";
import { TextArea, TextField } from "../../parts/field.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import {
  changedMeanwhile,
  changesOf,
  definitionOf,
  type FieldName,
  fieldsOf,
  type SessionNode,
  shownFields,
  type Typed,
  typing,
  versionRead,
} from "./draft.ts";
import { useNodeChange } from "./use-session.ts";

const words = texts.sessions.node;

interface NodeFieldsProps {
  session: string;
  node: SessionNode;
  /** What was typed and is not saved. */
  typed: Typed | undefined;
  onTyped(typed: Typed | undefined): void;
}

/** What a node does, to be changed. Whoever is second sees what the first one has written, and keeps what they typed. */
export function NodeFields({ session, node, typed, onTyped }: NodeFieldsProps): JSX.Element {
  const nova = useNova();
  const definition = definitionOf(node);
  const now = fieldsOf(definition);
  const changes = typed && changesOf(typed.fields, now);
  const save = useNodeChange({
    ...{ session, node: node.node_id },
    change: (given: Typed) => {
      const read = { version: versionRead(given, now, node.version) };
      return nova.sessions.changeNode(session, node.node_id, changes ?? {}, read);
    },
    onDone: () => onTyped(undefined),
    onConflict: (version) => typed && onTyped({ ...typed, version }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed) save.mutate(typed);
  };
  const meanwhile = typed ? changedMeanwhile(typed, now) : [];
  return (
    <form className="form" onSubmit={submit}>
      {shownFields(definition).map((name) => (
        <FieldInput
          key={name}
          name={name}
          value={typed?.fields[name] ?? now[name]}
          other={meanwhile.includes(name) ? now[name] : undefined}
          onChange={(text) => onTyped(typing(typed, now, node.version, { [name]: text }))}
        />
      ))}
      <Trouble error={save.error} />
      {meanwhile.length > 0 && <p className="quiet">{words.again}</p>}
      <div className="form-end">
        <Button
          submit
          tone="main"
          disabled={changes === undefined || Object.keys(changes).length === 0 || save.isPending}
        >
          {texts.common.save}
        </Button>
        {typed && (
          <Button
            tone="ghost"
            onClick={() => {
              onTyped(undefined);
              save.reset();
            }}
          >
            {words.revert}
          </Button>
        )}
        <span role="status" className="saved">
          {save.isSuccess && !typed && texts.common.saved}
        </span>
      </div>
    </form>
  );
}

interface FieldInputProps {
  name: FieldName;
  value: string;
  /** What somebody else has written meanwhile. */
  other: string | undefined;
  onChange(text: string): void;
}

const lines = new Set<FieldName>(["name", "model"]);
const maxRows = 24;

function FieldInput({ name, value, other, onChange }: FieldInputProps): JSX.Element {
  const label = words[name];
  const misfit = name === "rest" && !objectIn(value) ? words.misfit : undefined;
  const hint =
    other === undefined ? undefined : (
      <span className="session-other">
        <Foreign text={words.meanwhile(other)} />
      </span>
    );
  const shared = { label, value, onChange, hint, error: misfit };
  if (lines.has(name)) return <TextField {...shared} maxLength={200} />;
  return <TextArea {...shared} rows={Math.min(maxRows, Math.max(3, value.split("\n").length + 1))} />;
}
