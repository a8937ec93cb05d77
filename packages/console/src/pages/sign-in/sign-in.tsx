import { ApiProblem } from "@nova/client";
import { type FormEvent, useEffect, useState } from "react";
import { type IssuerConfig, startSignIn } from "../../api/issuer.ts";
import { createKeyClient } from "../../api/nova.ts";
import { readConfig, readPageUrl } from "../../api/session.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { describeError } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";

/** The sign-in form: an API key, or the issuer that the server trusts. */
export function SignIn({ problem, onKey }: { problem?: string | undefined; onKey(key: string): void }) {
  const [key, setKey] = useState("");
  const [message, setMessage] = useState(problem);
  const [isChecking, setChecking] = useState(false);
  const config = useConfig();
  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    setChecking(true);
    const trouble = await checkKey(key.trim());
    setChecking(false);
    if (trouble === undefined) onKey(key.trim());
    else setMessage(trouble);
  };
  return (
    <main className="sign-in center">
      <form className="stack" onSubmit={signIn}>
        <span className="brand-mark disc square">
          <Icon name="spark" size={18} />
        </span>
        <h1>{texts.signIn.title}</h1>
        {config ? (
          <IssuerButton config={config} onProblem={setMessage} />
        ) : (
          <p className="quiet">{texts.signIn.hint}</p>
        )}
        <label className="stack tight">
          <span>{texts.signIn.key}</span>
          <input
            className="input"
            type="password"
            name="nova-key"
            value={key}
            autoComplete="current-password"
            spellCheck={false}
            placeholder="nova_…"
            required
            aria-describedby={message ? "sign-in-trouble" : undefined}
            onChange={(event) => setKey(event.target.value)}
          />
        </label>
        {message && (
          <p id="sign-in-trouble" className="notice tone-bad" role="alert">
            <UntrustedText text={message} />
          </p>
        )}
        <Button submit tone={config ? "plain" : "main"} disabled={isChecking}>
          {isChecking ? texts.signIn.checking : texts.signIn.button}
        </Button>
      </form>
    </main>
  );
}

/** Returns the issuer; undefined while `config.json` loads, or if users can sign in only with keys. */
function useConfig(): IssuerConfig | undefined {
  const [config, setConfig] = useState<IssuerConfig>();
  useEffect(() => {
    readConfig().then(setConfig, () => undefined);
  }, []);
  return config;
}

function IssuerButton({ config, onProblem }: { config: IssuerConfig; onProblem(problem: string | undefined): void }) {
  const [isLeaving, setLeaving] = useState(false);
  const go = async () => {
    setLeaving(true);
    onProblem(undefined);
    try {
      location.assign(await startSignIn(config, readPageUrl(), location.pathname + location.search));
    } catch (error) {
      onProblem(describeError(error));
      setLeaving(false);
    }
  };
  return (
    <>
      <Button tone="main" icon="person" disabled={isLeaving} onClick={go}>
        {texts.signIn.byIssuer(new URL(config.issuer).host)}
      </Button>
      <p className="sign-in-or row quiet small">{texts.signIn.or}</p>
    </>
  );
}

/** Tests a key with a small request. Returns the reason if the key does not work, and undefined if it works. */
async function checkKey(key: string): Promise<string | undefined> {
  try {
    const { api, ask } = createKeyClient(key);
    await ask(api.GET("/executions", { params: { query: { limit: 1 } } }));
    return undefined;
  } catch (error) {
    return error instanceof ApiProblem && error.status === 401 ? texts.signIn.refused : describeError(error);
  }
}
