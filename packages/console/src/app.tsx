import { ApiProblem } from "@nova/client";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { Component, type JSX, type ReactNode, useMemo, useState } from "react";
import { Redirect, Route, Router, Switch, useLocation } from "wouter";
import { createLinkClient, createSessionClient, LinkProvider, NovaContext } from "./api/nova.ts";
import { clearSession, explainSessionEnd, type MailedLink, readKey, signOut, storeKey } from "./api/session.ts";
import { SignIn } from "./pages/sign-in/sign-in.tsx";
import { pages } from "./pages/table.ts";
import { LinkPage } from "./pages/tasks/link-page.tsx";
import { KeyboardProvider } from "./parts/keyboard.tsx";
import { describeError, Empty } from "./parts/states.tsx";
import { Shell } from "./shell.tsx";
import { texts } from "./texts.ts";

const base = import.meta.env.BASE_URL.replace(/\/$/, "");

interface AppProps {
  /** The reason why the sign-in link or the issuer did not sign the user in. */
  problem?: string | undefined;
  /** The mailed link that the user has opened. The page shows the task of the link without a sign-in. */
  link?: MailedLink | undefined;
}

export function App({ problem, link }: AppProps): JSX.Element {
  return link ? <ByLink link={link} /> : <BySession problem={problem} />;
}

function ByLink({ link }: { link: MailedLink }): JSX.Element {
  const nova = useMemo(() => createLinkClient(link.token), [link.token]);
  const [queries] = useState(() => createQueryClient(() => undefined));
  return (
    <NovaContext.Provider value={nova}>
      <LinkProvider value={true}>
        <QueryClientProvider client={queries}>
          <LinkPage task={link.task} />
        </QueryClientProvider>
      </LinkProvider>
    </NovaContext.Provider>
  );
}

function BySession({ problem }: Pick<AppProps, "problem">): JSX.Element {
  const [key, setKey] = useState(readKey);
  const [reason, setReason] = useState(problem);
  if (key === undefined) {
    const take = (newKey: string) => {
      storeKey(newKey);
      setKey(newKey);
    };
    return <SignIn problem={reason} onKey={take} />;
  }
  const endSession = (why?: string) => {
    clearSession();
    setReason(why);
    setKey(undefined);
  };
  const signOutEverywhere = () => {
    const address = signOut();
    if (address === undefined) endSession();
    else location.assign(address);
  };
  return <SignedIn onLeave={endSession} onSignOut={signOutEverywhere} />;
}

interface SignedInProps {
  /** Called when the API refuses the stored key. */
  onLeave(why: string): void;
  onSignOut(): void;
}

function SignedIn({ onLeave, onSignOut }: SignedInProps): JSX.Element {
  const nova = useMemo(createSessionClient, []);
  const [queries] = useState(() => createQueryClient(onLeave));
  return (
    <NovaContext.Provider value={nova}>
      <QueryClientProvider client={queries}>
        <Router base={base}>
          <KeyboardProvider>
            <Shell onSignOut={onSignOut}>
              <Page />
            </Shell>
          </KeyboardProvider>
        </Router>
      </QueryClientProvider>
    </NovaContext.Provider>
  );
}

function Page(): JSX.Element {
  const [at] = useLocation();
  return (
    <Boundary at={at}>
      <Switch>
        {pages.map(({ path, component }) => (
          <Route key={path} path={path} component={component} />
        ))}
        <Route>
          <Redirect to="/" replace />
        </Route>
      </Switch>
    </Boundary>
  );
}

/**
 * Creates the query client. The query client does not repeat failed requests, because the API client already repeats
 * them. If the API refuses the key, the query client calls `onLeave`.
 */
function createQueryClient(onLeave: (why: string) => void): QueryClient {
  // The reason must be read before the first refusal clears the session.
  const why = explainSessionEnd();
  const onError = (error: unknown) => {
    if (error instanceof ApiProblem && error.status === 401) onLeave(why);
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    // A server on this machine answers even if the browser is offline.
    defaultOptions: { queries: { retry: false, staleTime: 5_000 }, mutations: { networkMode: "always" } },
  });
}

interface Shown {
  at: string;
  /** The error that a component of the page at the address `at` threw. */
  error?: unknown;
}

/**
 * Shows the error of a failed page in place of the page. Navigation continues to work. When the user opens another
 * address, the error disappears.
 */
class Boundary extends Component<{ at: string; children: ReactNode }, Shown> {
  override state: Shown = { at: this.props.at };

  static getDerivedStateFromProps({ at }: { at: string }, before: Shown): Shown | null {
    return at === before.at ? null : { at, error: undefined };
  }

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <Empty icon="cross" title={texts.common.lost} hint={describeError(error)} />;
  }
}
