import { useEffect, useState } from "preact/hooks";
import type { PageError } from "../../src/hall/page/contract.ts";
import { beginSignIn, readIssuers, signIn } from "../api.ts";
import { finishSignIn, leaveToSignIn } from "../callback.ts";
import { Problem } from "../parts/problem.tsx";
import { begin, failureOf } from "../store.ts";

/** Signs in with the code of `guildhall open`, at an issuer, or with a token that a person pastes. */
export function SignIn({ code }: { readonly code: string | undefined }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState<PageError>();
  const [isBusy, setBusy] = useState(code !== undefined);
  const [issuers, setIssuers] = useState<readonly string[]>([]);

  async function open(work: () => Promise<string | undefined>): Promise<void> {
    setBusy(true);
    try {
      const hash = await work();
      if (hash === undefined) return;
      location.hash = hash;
      await begin();
    } catch (failure) {
      setError(failureOf(failure) ?? { ...away, next: [] });
    } finally {
      setBusy(false);
    }
  }

  useEffect(() => {
    if (code === undefined) {
      void readIssuers().then(setIssuers, () => {});
      void open(finishSignIn);
      return;
    }
    // The code must not stay in the history of the browser.
    history.replaceState(null, "", "#/sign-in");
    void open(() => signIn({ code }).then(() => "#/overview"));
  }, [code]);

  return (
    <main class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void open(() => signIn({ token: token.trim() }).then(() => placeAfter()));
        }}
      >
        <div class="stack">
          <h1>Sign in to Guildhall</h1>
          <p class="soft">
            Run <code>guildhall open</code> in the project's folder. It opens this page signed in.
          </p>
        </div>
        {error && <Problem error={error} />}
        {issuers.map((issuer) => (
          <button
            key={issuer}
            type="button"
            disabled={isBusy}
            onClick={() =>
              void open(async () => {
                leaveToSignIn(issuer, await beginSignIn(issuer));
                return undefined;
              })
            }
          >
            Sign in with {issuer}
          </button>
        ))}
        <label class="field">
          Or paste a token
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
          <small>
            <code>guildhall token show</code> prints yours. A token's scopes apply here too.
          </small>
        </label>
        <button type="submit" class="primary" disabled={isBusy || token.trim() === ""}>
          {isBusy ? "Signing in …" : "Sign in"}
        </button>
      </form>
    </main>
  );
}

/** The screen that was requested before signing in. */
function placeAfter(): string {
  return location.hash.startsWith("#/own") ? location.hash : "#/overview";
}

const away = {
  code: "UNAVAILABLE",
  message: "the hall does not answer",
  hint: "Start it with `guildhall start`.",
} as const;
