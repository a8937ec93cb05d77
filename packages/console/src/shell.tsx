import { type JSX, type ReactNode, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { pages } from "./pages/table.ts";
import { Button, IconButton } from "./parts/button.tsx";
import { Dialog } from "./parts/dialog.tsx";
import { Icon } from "./parts/icon.tsx";
import { useKeyList, useKeys } from "./parts/keyboard.tsx";
import { texts } from "./texts.ts";

const themeIcons = { auto: "auto", light: "sun", dark: "moon" } as const;
const navPages = pages.flatMap(({ path, nav }) => (nav ? [{ path, ...nav }] : []));
/** Number of pages in the navigation bar of a phone; the others are in its menu. */
const barSize = 4;
const menuPages = navPages.slice(barSize);

/** The frame of every page: navigation, theme and keyboard shortcuts. */
export function Shell({ children, onSignOut }: { children: ReactNode; onSignOut(): void }): JSX.Element {
  const [currentPath, go] = useLocation();
  const [theme, switchTheme] = useTheme();
  const [isMore, setMore] = useState(false);
  const showKeys = useKeyList();
  const content = useFocusAtContent(currentPath);
  useEffect(() => {
    document.title = buildTitle(currentPath);
    return () => {
      document.title = texts.name;
    };
  }, [currentPath]);
  useKeys({
    ...Object.fromEntries(
      navPages.map(({ path, label, key }) => [key, { label: texts.keys.go(label), run: () => go(path) }]),
    ),
    t: { label: texts.keys.theme, run: switchTheme },
  });
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {texts.nav.skip}
      </a>
      <nav className="side" aria-label={texts.nav.label}>
        <Link href="/" className="brand row" aria-label={texts.name}>
          <span className="brand-mark disc square">
            <Icon name="spark" size={14} />
          </span>
          <span>{texts.name}</span>
        </Link>
        <PageLinks of={navPages} currentPath={currentPath} />
        <button
          type="button"
          className="side-link side-more"
          aria-haspopup="dialog"
          aria-current={menuPages.some(({ path }) => isCurrentPage(path, currentPath)) ? "true" : undefined}
          onClick={() => setMore(true)}
        >
          <Icon name="more" />
          <span>{texts.nav.more}</span>
        </button>
        <div className="side-foot">
          <IconButton icon={themeIcons[theme]} label={texts.nav.theme[theme]} onClick={switchTheme} />
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
              <Button icon={themeIcons[theme]} onClick={switchTheme}>
                {texts.nav.theme[theme]}
              </Button>
              <Button icon="out" onClick={onSignOut}>
                {texts.nav.signOut}
              </Button>
            </>
          }
        >
          <PageLinks of={menuPages} currentPath={currentPath} onFollow={() => setMore(false)} />
        </Dialog>
      )}
    </div>
  );
}

interface PageLinksProps {
  of: typeof navPages;
  currentPath: string;
  onFollow?(): void;
}

function PageLinks({ of, currentPath, onFollow }: PageLinksProps): JSX.Element {
  return (
    <ul className="side-pages">
      {of.map(({ path, label, icon }) => (
        <li key={path}>
          <Link
            href={path}
            className="side-link"
            aria-current={isCurrentPage(path, currentPath) ? "page" : undefined}
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
  const switchTheme = () => {
    applyTheme(nextTheme(theme));
    setTheme(nextTheme(theme));
  };
  return [theme, switchTheme] as const;
}

/** Moves the focus to the content of a new page, so that Tab starts there and not after the link that led to it. */
function useFocusAtContent(currentPath: string) {
  const content = useRef<HTMLElement>(null);
  const before = useRef(currentPath);
  useEffect(() => {
    if (before.current === currentPath) return;
    before.current = currentPath;
    if (!content.current?.contains(document.activeElement)) content.current?.focus({ preventScroll: true });
  }, [currentPath]);
  return content;
}

function isCurrentPage(path: string, currentPath: string): boolean {
  return path === "/" ? currentPath === "/" || currentPath.startsWith("/runs") : currentPath.startsWith(path);
}

/** Builds the title for browser tabs and the history: `exec_1 · Runs · NOVA`. */
function buildTitle(currentPath: string): string {
  const name = currentPath.split("/")[2] ?? "";
  const label = navPages.find(({ path }) => isCurrentPage(path, currentPath))?.label ?? "";
  return [name, label, texts.name].filter((word) => word !== "").join(" · ");
}

export const themes = ["auto", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageKey = "nova-theme";

export function readTheme(): Theme {
  const storedTheme = localStorage.getItem(storageKey);
  return themes.find((theme) => theme === storedTheme) ?? "auto";
}

/** Applies a theme and remembers it; "auto" follows the system. */
export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  localStorage.setItem(storageKey, theme);
}

export function nextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] as Theme;
}
