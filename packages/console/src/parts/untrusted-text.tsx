import { Fragment, type JSX } from "react";
import { texts } from "../texts.ts";

/** Characters that reorder or hide text, or control a terminal; line feeds and tabs are allowed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are shown by number
const steering = /([\0-\b\v-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb])/;

interface UntrustedTextProps {
  text: string;
  /** The element around the text; `className` and `title` are its attributes. */
  as?: "b" | "h1" | "h2" | "h3" | "li" | "p" | "pre" | "span";
  className?: string;
  title?: string;
}

/** Shows text of an unknown author. It is never markup, and cannot reorder the text around it. */
export function UntrustedText({ text, as: Element, ...attributes }: UntrustedTextProps): JSX.Element {
  const content = <bdi>{steering.test(text) ? <Parts text={text} /> : text}</bdi>;
  return Element ? <Element {...attributes}>{content}</Element> : content;
}

function Parts({ text }: { text: string }): JSX.Element {
  return (
    <>
      {text.split(new RegExp(steering, "g")).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text never change their order
        <Fragment key={index}>{index % 2 === 0 ? part : <ControlCharacter character={part} />}</Fragment>
      ))}
    </>
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
