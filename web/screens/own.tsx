import { useEffect, useState } from "preact/hooks";
import type { OwnServer } from "../../src/hall/page/own.ts";
import { ask, signOut } from "../api.ts";
import { takeAnswer } from "../callback.ts";
import { useAction } from "../parts/action.ts";
import { Problem } from "../parts/problem.tsx";
import { Badge, Loading } from "../parts/shown.tsx";
import { hrefOf } from "../router.ts";
import { connect, refresh, useData } from "../store.ts";
import { SecretForm } from "./secret-form.tsx";

/** The logins and secrets of the person who is signed in. It needs no right to see the rest of the page. */
export function Own({ seesMore }: { readonly seesMore: boolean }) {
  const { data, error } = useData("own", {});
  const finishing = useAction();
  const [done, setDone] = useState<string>();
  useEffect(() => {
    const answer = takeAnswer();
    if (answer === undefined) return;
    finishing.run(async () => {
      const { server } = await ask("finishLogin", { answer });
      setDone(`You are logged in to ${server}.`);
      refresh("own", "servers");
    });
  }, []);
  return (
    <main class="sign-in">
      <section class="card" aria-label="Your logins and secrets">
        <h1>Your logins and secrets</h1>
        <p class="soft">They are used for your calls only. No value is shown again.</p>
        {finishing.isBusy && <p role="status">Logging in …</p>}
        {finishing.error && <Problem error={finishing.error} />}
        {error && <Problem error={error} />}
        {!data && !error && <Loading />}
        {done !== undefined && <p role="status">{done}</p>}
        {data?.servers.length === 0 && <p>No server needs a login or secret from you.</p>}
        {data?.servers.map((server) => (
          <Server key={server.name} server={server} />
        ))}
        <div class="row">
          {seesMore && <a href={hrefOf("overview")}>Overview of the hall</a>}
          <button
            type="button"
            class="end"
            onClick={() => void signOut().finally(() => connect("signed-out"))}
          >
            Sign out
          </button>
        </div>
      </section>
    </main>
  );
}

function Server({ server: { name, login, secrets } }: { readonly server: OwnServer }) {
  const { run, isBusy, error } = useAction();
  const begin = (): void =>
    run(async () => {
      const { url } = await ask("loginOwn", { server: name });
      // Only a web page may open: the address comes from the server.
      if (/^https?:$/.test(new URL(url).protocol)) location.assign(url);
    });
  const end = (): void =>
    run(async () => {
      await ask("logoutOwn", { server: name });
      refresh("own");
    });
  return (
    <section class="stack" aria-label={name}>
      <div class="row spread">
        <h2>{name}</h2>
        {login === "present" && <Badge tone="good">logged in</Badge>}
        {login === "missing" && <Badge tone="warn">no login</Badge>}
      </div>
      {login !== "none" && (
        <div class="row">
          <button type="button" class="primary" disabled={isBusy} onClick={begin}>
            {login === "present" ? "Log in again" : "Log in"}
          </button>
          {login === "present" && (
            <button type="button" disabled={isBusy} onClick={end}>
              Log out
            </button>
          )}
        </div>
      )}
      {error && <Problem error={error} />}
      {secrets.map((secret) => (
        <SecretForm
          key={secret.name}
          name={secret.name}
          note={secret.isSet ? "It has a value." : "It has no value yet."}
          button={secret.isSet ? "Replace" : "Store"}
          store={async (value) => {
            await ask("setOwnSecret", { name: secret.name, value });
            refresh("own");
          }}
        />
      ))}
    </section>
  );
}
