import { type JSX, useMemo, useState } from "react";
import { listElements, listMembers, readKind } from "../json/raw.ts";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { UntrustedText } from "./untrusted-text.tsx";

/** Number of members that are shown at first. */
const initialCount = 100;
const longestText = 2_000;
/** Branches with more characters start folded, so that their siblings stay visible. */
const longestOpen = 1_500;

interface JsonViewProps {
  text: string;
  name?: string;
  /** Number of levels that start unfolded. */
  open?: number;
}

/** Shows JSON text level by level. The members of a folded branch are not even parsed. */
export function JsonView({ text, name, open = 1 }: JsonViewProps): JSX.Element {
  const kind = readKind(text);
  if (kind !== "object" && kind !== "list") {
    return (
      <div className="json-line">
        {name !== undefined && <Name name={name} />}
        <Scalar text={text} />
      </div>
    );
  }
  return <Branch text={text} name={name} isList={kind === "list"} open={open} />;
}

interface BranchProps {
  text: string;
  name: string | undefined;
  isList: boolean;
  open: number;
}

function Branch({ text, name, isList, open }: BranchProps): JSX.Element {
  const [isOpen, setOpen] = useState(open > 0 && (name === undefined || text.length <= longestOpen));
  const [visibleCount, setVisibleCount] = useState(initialCount);
  const isEmpty = text.length === 2;
  return (
    <div className="json-branch">
      <button
        type="button"
        className="json-line json-fold"
        aria-expanded={isOpen}
        disabled={isEmpty}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={isOpen ? "down" : "right"} size={12} />
        {name !== undefined && <Name name={name} />}
        <span className="faint ellipsis">
          {isEmpty ? isList ? "[ ]" : "{ }" : isOpen ? isList ? "[" : "{" : <Preview text={text} />}
        </span>
      </button>
      {isOpen && !isEmpty && (
        <Children
          text={text}
          isList={isList}
          visibleCount={visibleCount}
          open={open - 1}
          more={() => setVisibleCount(visibleCount * 4)}
        />
      )}
    </div>
  );
}

function Preview({ text }: { text: string }): JSX.Element {
  return <UntrustedText text={text.length > 80 ? `${text.slice(0, 80)}…` : text} />;
}

interface ChildrenProps extends Pick<BranchProps, "text" | "isList" | "open"> {
  visibleCount: number;
  more(): void;
}

function Children({ text, isList, visibleCount, open, more }: ChildrenProps): JSX.Element {
  const members = useMemo(() => {
    if (!isList) return listMembers(text, visibleCount + 1);
    return listElements(text, visibleCount + 1).map((value, index) => ({ key: String(index), text: value }));
  }, [text, isList, visibleCount]);
  return (
    <div className="json-inside">
      {members.slice(0, visibleCount).map(({ key, text: value }) => (
        <JsonView key={key} name={key} text={value} open={open} />
      ))}
      {members.length > visibleCount && (
        <Button tone="ghost" onClick={more}>
          {texts.common.showMore}
        </Button>
      )}
    </div>
  );
}

/** Shows a key as the user wrote it: the chain of work stores a user's `$blob` as `$$blob`. */
function Name({ name }: { name: string }): JSX.Element {
  return (
    <span className="json-name">
      <UntrustedText text={name.replace(/^\$(\$+blob)$/, "$1")} />
    </span>
  );
}

/** Shows a string without escapes, or a number with all its digits. */
export function Scalar({ text }: { text: string }): JSX.Element {
  const [isComplete, setComplete] = useState(false);
  const kind = readKind(text);
  const value = kind === "text" ? (JSON.parse(text) as string) : text;
  const isLong = value.length > longestText && !isComplete;
  return (
    <span className={`json-${kind}`}>
      <UntrustedText text={isLong ? value.slice(0, longestText) : value} />
      {isLong && (
        <Button tone="ghost" onClick={() => setComplete(true)}>
          {texts.common.moreCharacters(value.length - longestText)}
        </Button>
      )}
    </span>
  );
}
