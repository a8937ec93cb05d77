import { Fragment, type JSX } from "react";
import { texts } from "../texts.ts";
import "./untrusted-text.css";

/** Characters that reorder or hide text, or control a terminal; line feeds and tabs are allowed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are shown by number
const steering = /([\0-\b\v-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb])/;

/** Shows text of an unknown author. It is never markup, and cannot reorder the text around it. */
export function UntrustedText({ text }: { text: string }): JSX.Element {
  if (!steering.test(text)) return <bdi>{text}</bdi>;
  return (
    <bdi>
      {text.split(new RegExp(steering, "g")).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text never change their order
        <Fragment key={index}>{index % 2 === 0 ? part : <ControlCharacter character={part} />}</Fragment>
      ))}
    </bdi>
  );
}

function ControlCharacter({ character }: { character: string }): JSX.Element {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return (
    <span className="steering" title={texts.common.steering(code)}>
      U+{code}
    </span>
  );
}
