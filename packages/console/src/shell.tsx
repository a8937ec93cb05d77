import { type JSX, type ReactNode, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { pages } from "./pages/table.ts";
import { Button, IconButton } from "./parts/button.tsx";
import { Dialog } from "./parts/dialog.tsx";
import { Icon } from "./parts/icon.tsx";
import { useKeyList, useKeys } from "./parts/keyboard.tsx";
import { applyTheme, nextTheme, readTheme } from "./parts/theme.ts";
import { texts } from "./texts.ts";
import "./shell.css";

const themeIcons = { auto: "auto", light: "sun", dark: "moon" } as const;
const listed = pages.flatMap(({ path, nav }) => (nav ? [{ path, ...nav }] : []));
/** Number of pages in the navigation bar of a phone; the others are in its menu. */
const inBar = 4;
const rest = listed.slice(inBar);

/** The frame of every page: navigation, theme and keyboard shortcuts. */
export function Shell({ children, onSignOut }: { children: ReactNode; onSignOut(): void }): JSX.Element {
  const [place, go] = useLocation();
  const [theme, turnTheme] = useTheme();
  const [isMore, setMore] = useState(false);
  const showKeys = useKeyList();
  const content = useFocusAtContent(place);
  useEffect(() => {
    document.title = buildTitle(place);
    return () => {
      document.title = texts.name;
    };
  }, [place]);
  useKeys({
    ...Object.fromEntries(
      listed.map(({ path, label, key }) => [key, { label: texts.keys.go(label), run: () => go(path) }]),
    ),
    t: { label: texts.keys.theme, run: turnTheme },
  });
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {texts.nav.skip}
      </a>
      <nav className="side" aria-label={texts.nav.label}>
        <Link href="/" className="brand" aria-label={texts.name}>
          <span className="brand-mark">
            <Icon name="spark" size={14} />
          </span>
          <span className="brand-name">{texts.name}</span>
        </Link>
        <PageLinks of={listed} place={place} />
        <button
          type="button"
          className="side-link side-more"
          aria-haspopup="dialog"
          aria-current={rest.some(({ path }) => isCurrentPage(path, place)) ? "true" : undefined}
          onClick={() => setMore(true)}
        >
          <Icon name="more" />
          <span>{texts.nav.more}</span>
        </button>
        <div className="side-foot">
          <IconButton icon={themeIcons[theme]} label={texts.nav.theme[theme]} onClick={turnTheme} />
          <IconButton icon="help" label={texts.nav.keys} onClick={showKeys} />
          <IconButton icon="out" label={texts.nav.signOut} onClick={onSignOut} />
        </div>
      </nav>
      <main ref={content} id="content" className="content" tabIndex={-1}>
        {children}
      </main>
      {isMore && (
        <Dialog
          title={texts.nav.more}
          onClose={() => setMore(false)}
          actions={
            <>
              <Button icon={themeIcons[theme]} onClick={turnTheme}>
                {texts.nav.theme[theme]}
              </Button>
              <Button icon="out" onClick={onSignOut}>
                {texts.nav.signOut}
              </Button>
            </>
          }
        >
          <PageLinks of={rest} place={place} onFollow={() => setMore(false)} />
        </Dialog>
      )}
    </div>
  );
}

interface PageLinksProps {
  of: typeof listed;
  place: string;
  onFollow?(): void;
}

function PageLinks({ of, place, onFollow }: PageLinksProps): JSX.Element {
  return (
    <ul className="side-pages">
      {of.map(({ path, label, icon }) => (
        <li key={path}>
          <Link
            href={path}
            className="side-link"
            aria-current={isCurrentPage(path, place) ? "page" : undefined}
            onClick={onFollow}
          >
            <Icon name={icon} />
            <span>{label}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function useTheme() {
  const [theme, setTheme] = useState(readTheme);
  const turn = () => {
    applyTheme(nextTheme(theme));
    setTheme(nextTheme(theme));
  };
  return [theme, turn] as const;
}

/** Moves the focus to the content of a new page, so that Tab starts there and not after the link that led to it. */
function useFocusAtContent(place: string) {
  const content = useRef<HTMLElement>(null);
  const before = useRef(place);
  useEffect(() => {
    if (before.current === place) return;
    before.current = place;
    if (!content.current?.contains(document.activeElement)) content.current?.focus({ preventScroll: true });
  }, [place]);
  return content;
}

function isCurrentPage(path: string, place: string): boolean {
  return path === "/" ? place === "/" || place.startsWith("/runs") : place.startsWith(path);
}

/** Builds the title for browser tabs and the history: `exec_1 · Runs · NOVA`. */
function buildTitle(place: string): string {
  const name = place.split("/")[2] ?? "";
  const label = listed.find(({ path }) => isCurrentPage(path, place))?.label ?? "";
  return [name, label, texts.name].filter((word) => word !== "").join(" · ");
}
