import type { JSX } from "react";
import { Foreign } from "../../parts/foreign.tsx";
import { Icon } from "../../parts/icon.tsx";
import { texts } from "../../texts.ts";
import type { CodeVersion } from "./code-nodes.ts";
import { type Change, members } from "./staleness.ts";
import "../../parts/field.css";

const words = texts.code;
type Ingredient = keyof typeof words.ingredients;

/** Everything that the code depends on, and what of it the definition says differently today. */
export function WrittenFor({ version: { ingredients, changes } }: { version: CodeVersion }): JSX.Element {
  return (
    <div className="form">
      <Differences changes={changes} />
      <dl className="facts">
        {(Object.keys(words.ingredients) as Ingredient[]).map((name) => (
          <div key={name}>
            <dt>{words.ingredients[name]}</dt>
            <dd>
              <Value value={ingredients[name]} />
            </dd>
          </div>
        ))}
      </dl>
      <p className="quiet">{words.unknown}</p>
    </div>
  );
}

function Differences({ changes }: { changes: Change[] | undefined }): JSX.Element {
  if (changes === undefined) return <p className="trouble">{words.gone}</p>;
  if (changes.length === 0) {
    return (
      <p className="fits">
        <Icon name="check" size={14} /> {words.fresh}
      </p>
    );
  }
  return (
    <section aria-label={words.stale} className="differences">
      <h3>{words.stale}</h3>
      {changes.map(({ ingredient, part, was, is }) => (
        <div key={`${ingredient} ${part}`} className="difference">
          <h4>
            {words.ingredients[ingredient as Ingredient] ?? ingredient}
            {part !== undefined && (
              <span className="mono">
                {" "}
                <Foreign text={part} />
              </span>
            )}
          </h4>
          <Side label={words.was} text={was} tone="bad" />
          <Side label={words.is} text={is} tone="ok" />
        </div>
      ))}
    </section>
  );
}

function Side({ label, text, tone }: { label: string; text: string | null; tone: string }): JSX.Element {
  return (
    <div className={`value-side tone-${tone}`}>
      <span className="value-side-label">{label}</span>
      <Text text={text ?? ""} />
    </div>
  );
}

function Text({ text }: { text: string }): JSX.Element {
  if (text === "") return <span className="quiet">{words.nothing}</span>;
  const [, digest] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(text) ?? [];
  if (digest !== undefined) return <span className="quiet">{words.hashed(digest.slice(0, 12))}</span>;
  return <Foreign text={text} />;
}

/** A text, a list, or texts by name. */
function Value({ value }: { value: unknown }): JSX.Element {
  if (Array.isArray(value)) return <Text text={value.join(", ")} />;
  if (value === null || typeof value !== "object") return <Text text={value == null ? "" : String(value)} />;
  const parts = Object.entries(members(value));
  if (parts.length === 0) return <Text text="" />;
  return (
    <ul className="parts">
      {parts.map(([name, part]) => (
        <li key={name}>
          <span className="mono">
            <Foreign text={name} />
          </span>{" "}
          <Text text={String(part)} />
        </li>
      ))}
    </ul>
  );
}
