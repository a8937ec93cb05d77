import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, type ReactNode, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { readContact, useIsLost } from "./api/contact.ts";
import { useNova } from "./api/nova.ts";
import { SavedViewLinks } from "./pages/runs/saved-views.tsx";
import { pages } from "./pages/table.ts";
import { Button, IconButton } from "./parts/button.tsx";
import { Dialog, OpenDialog } from "./parts/dialog.tsx";
import { Icon } from "./parts/icon.tsx";
import { useKeyList, useKeys } from "./parts/keyboard.tsx";
import { Palette } from "./parts/palette.tsx";
import { formatClock } from "./parts/time.tsx";
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
  const isLost = useContact();
  const openTasks = useOpenTasks(isLost);
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
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      // The palette does not open while another dialog is open.
      if (!document.querySelector("dialog[open]")) setPaletteOpen(true);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  return (
    <div className="shell" data-lost={isLost || undefined}>
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
        <button
          type="button"
          className="side-link side-search"
          aria-haspopup="dialog"
          aria-keyshortcuts="Control+K"
          onClick={() => setPaletteOpen(true)}
        >
          <Icon name="search" />
          <span>{texts.palette.open}</span>
          <kbd>Ctrl K</kbd>
        </button>
        <PageLinks of={navPages} currentPath={currentPath} openTasks={openTasks} />
        <SavedViewLinks />
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
        {isLost && (
          <p className="contact notice tone-wait" role="alert">
            {texts.common.noAnswer(formatClock(readContact().lastAnswerMs))}
          </p>
        )}
        {children}
      </main>
      {isPaletteOpen && (
        <OpenDialog value={() => setPaletteOpen(false)}>
          <Palette />
        </OpenDialog>
      )}
      {isMore && (
        <OpenDialog value={() => setMore(false)}>
          <Dialog
            title={texts.nav.more}
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
        </OpenDialog>
      )}
    </div>
  );
}

interface PageLinksProps {
  of: typeof navPages;
  currentPath: string;
  /** The number of open tasks, which the link to the list of tasks shows. */
  openTasks?: string | undefined;
  onFollow?(): void;
}

function PageLinks({ of, currentPath, openTasks, onFollow }: PageLinksProps): JSX.Element {
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
            {path === "/tasks" && openTasks !== undefined && (
              <b className="side-count" title={texts.nav.openTasks(openTasks)}>
                {openTasks}
              </b>
            )}
          </Link>
        </li>
      ))}
    </ul>
  );
}

/**
 * Repeats all queries of the page when the server answers again after an outage. Returns whether the server does not
 * answer now.
 */
function useContact(): boolean {
  const isLost = useIsLost();
  const wasLost = useRef(false);
  const queries = useQueryClient();
  useEffect(() => {
    if (wasLost.current && !isLost) void queries.invalidateQueries();
    wasLost.current = isLost;
  }, [isLost, queries]);
  return isLost;
}

const maxCounted = 99;
const pauseMs = 5_000;
const retryPauseMs = 1_000;

/** Counts the open tasks. On pages without other requests, this request also finds out whether the server answers. */
function useOpenTasks(isLost: boolean): string | undefined {
  const nova = useNova();
  const { data = 0 } = useQuery({
    queryKey: ["tasks", "count"],
    refetchInterval: isLost ? retryPauseMs : pauseMs,
    async queryFn({ signal }) {
      const params = { query: { kind: "approval" as const, limit: maxCounted + 1 } };
      return (await nova.ask(nova.api.GET("/tasks", { params, signal }))).items.length;
    },
  });
  return data === 0 ? undefined : data > maxCounted ? `${maxCounted}+` : String(data);
}

function useTheme() {
  const [theme, setTheme] = useState(readTheme);
  const switchTheme = () => {
    const next = themes[(themes.indexOf(theme) + 1) % themes.length] as Theme;
    applyTheme(next);
    setTheme(next);
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

const themes = ["auto", "light", "dark"] as const;
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
