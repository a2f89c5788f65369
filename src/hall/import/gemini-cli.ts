import { isObject } from "../../base/json.ts";
import { type Client, mapAt } from "./client.ts";
import { excludeTools, includeTools, type Meaning, timeout, usualMeanings } from "./entry.ts";
import { type References, variable } from "./references.ts";

/** `$NAME`, `${NAME}`, `${NAME:-otherwise}`, and `%NAME%` as Windows writes it. */
const references: References = {
  pattern: /\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}|\$([A-Za-z_]\w*)|%([A-Za-z_]\w*)%/g,
  read: ([written, , , bare, windows]) =>
    bare !== undefined || windows !== undefined ? variable(bare ?? windows ?? "") : written,
};

export const geminiCli: Client = {
  id: "gemini-cli",
  name: "Gemini CLI",
  places: [
    { scope: "project", path: "./.gemini/settings.json", at: ["mcpServers"] },
    { scope: "user", path: "~/.gemini/settings.json", at: ["mcpServers"] },
  ],
  references,
  meanings: {
    ...usualMeanings,
    httpUrl: (url) => ({ url, type: "http" }),
    includeTools,
    excludeTools,
    timeout: timeout(1000),
    oauth: readLogin(),
  },
  listsIn: (tree, { at }) => [
    {
      entries: mapAt(tree, at).entries.map((entry) => ({
        ...entry,
        value: sayTransport(entry.value),
      })),
    },
  ],
};

/** Here `url` alone means SSE, and `httpUrl` the newer transport. */
function sayTransport(entry: unknown): unknown {
  return isObject(entry) &&
    typeof entry.url === "string" &&
    entry.type === undefined &&
    entry.httpUrl === undefined
    ? { ...entry, type: "sse" }
    : entry;
}

function readLogin(): Meaning {
  return (login) => {
    if (!isObject(login) || login.clientId === undefined) return {};
    const { clientId, clientSecret, issuer, scopes } = login;
    const scope = Array.isArray(scopes) && scopes.length > 0 ? { scope: scopes.join(" ") } : {};
    return {
      oauth: {
        clientId,
        ...(clientSecret === undefined ? {} : { clientSecret }),
        ...(issuer === undefined ? {} : { issuer }),
        ...scope,
      },
    };
  };
}
