import { type FormEvent, type JSX, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { prettyJson } from "../../json/pretty.ts";
import { Raw } from "../../json/raw.ts";
import { objectIn } from "../../json/typed.ts";
import { Button } from "../../parts/button.tsx";
import { TextArea } from "../../parts/field.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { onlyText, type SessionNode } from "./draft.ts";
import { type OutputText, useNodeChange } from "./use-session.ts";

const words = texts.sessions.node;

interface NodeOutputProps {
  session: string;
  node: SessionNode;
  output: OutputText | undefined;
}

/** What a node came to, and where it is from; it may be written by hand. */
export function NodeOutput({ session, node, output }: NodeOutputProps): JSX.Element {
  const [isEdited, setEdited] = useState(false);
  const { text, error = null } = output ?? {};
  // Whoever began to write before it is here would write over it without having seen it.
  const isAwaited = output === undefined && node.source !== null;
  return (
    <section className="session-output">
      <header>
        <h3>{words.output}</h3>
        <Origin node={node} />
      </header>
      {error !== null ? (
        <Trouble error={error} />
      ) : text === undefined ? (
        <p className="quiet">{node.skipped ? words.skippedHint : texts.sessions.noOutput}</p>
      ) : (
        <div className="session-value">
          <JsonView text={text} open={2} />
        </div>
      )}
      {isEdited ? (
        <OutputForm {...{ session, node }} text={text ?? "{}"} onClose={() => setEdited(false)} />
      ) : (
        <Button icon="change" disabled={isAwaited} onClick={() => setEdited(true)}>
          {words.edit}
        </Button>
      )}
    </section>
  );
}

function Origin({ node: { source, decision } }: { node: SessionNode }): JSX.Element | null {
  if (source === null) return null;
  return (
    <span className="quiet">
      {"edited_by" in source ? (
        <>
          <Foreign text={words.byHand(source.edited_by)} /> <Time at={source.at} />
        </>
      ) : (
        <Link href={`/runs/${source.execution_id}`} className="session-link">
          {words.fromRun}
        </Link>
      )}
      {decision !== null && <Foreign text={`, ${words.decision(decision)}`} />}
    </span>
  );
}

interface OutputFormProps {
  session: string;
  node: SessionNode;
  /** As it is when somebody begins to write. */
  text: string;
  onClose(): void;
}

/** A text is written as a text; everything else is JSON, whose digits stay. */
function OutputForm({ session, node, text, onClose }: OutputFormProps): JSX.Element {
  const nova = useNova();
  const [only] = useState(() => onlyText(text));
  const [typed, setTyped] = useState(only?.text ?? prettyJson(text));
  const [version, setVersion] = useState(node.version);
  const object = only ? new Raw(`{${JSON.stringify(only.key)}:${JSON.stringify(typed)}}`) : objectIn(typed);
  const save = useNodeChange({
    ...{ session, node: node.node_id, onDone: onClose, onConflict: setVersion },
    change: (output: Raw) => nova.sessions.writeOutput(session, node.node_id, output, { version }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (object) save.mutate(object);
  };
  return (
    <form className="form" onSubmit={submit}>
      <TextArea
        label={only ? words.outputText(only.key) : words.outputJson}
        error={object ? undefined : words.misfit}
        value={typed}
        autoFocus
        rows={Math.min(20, typed.split("\n").length + 2)}
        onChange={setTyped}
      />
      <Trouble error={save.error} />
      <div className="form-end">
        <Button submit tone="main" disabled={!object || save.isPending}>
          {words.saveOutput}
        </Button>
        <Button tone="ghost" onClick={onClose}>
          {texts.common.cancel}
        </Button>
      </div>
    </form>
  );
}
