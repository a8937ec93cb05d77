import { type JSX, type ReactNode, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { pages } from "./pages/table.ts";
import { IconButton } from "./parts/button.tsx";
import { Icon } from "./parts/icon.tsx";
import { useKeyList, useKeys } from "./parts/keys.tsx";
import { keptTheme, nextTheme, showTheme } from "./parts/theme.ts";
import { texts } from "./texts.ts";
import "./shell.css";

const themeIcons = { auto: "auto", light: "sun", dark: "moon" } as const;
const listed = pages.flatMap(({ path, nav }) => (nav ? [{ path, ...nav }] : []));

/** What stands around every page. */
export function Shell({ children, onSignOut }: { children: ReactNode; onSignOut(): void }): JSX.Element {
  const [place, go] = useLocation();
  const [theme, setTheme] = useState(keptTheme);
  const showKeys = useKeyList();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // On a phone the list is wider than the screen.
    const here = listed.find(({ path }) => isHere(path, place));
    const link = here && list.current?.children[listed.indexOf(here)];
    link?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [place]);
  const turnTheme = () => {
    showTheme(nextTheme(theme));
    setTheme(nextTheme(theme));
  };
  useKeys({
    ...Object.fromEntries(listed.map(({ path, label, key }) => [key, { says: label, run: () => go(path) }])),
    t: { says: texts.keys.theme, run: turnTheme },
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
        <ul ref={list} className="side-pages">
          {listed.map(({ path, label, icon }) => (
            <li key={path}>
              <Link href={path} className="side-link" aria-current={isHere(path, place) ? "page" : undefined}>
                <Icon name={icon} />
                <span>{label}</span>
              </Link>
            </li>
          ))}
        </ul>
        <div className="side-foot">
          <IconButton icon={themeIcons[theme]} label={texts.nav.theme[theme]} onClick={turnTheme} />
          <IconButton icon="help" label={texts.nav.keys} onClick={showKeys} />
          <IconButton icon="out" label={texts.nav.signOut} onClick={onSignOut} />
        </div>
      </nav>
      <main id="content" className="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function isHere(path: string, place: string): boolean {
  return path === "/" ? place === "/" || place.startsWith("/runs") : place.startsWith(path);
}
