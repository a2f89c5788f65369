import { faces } from "../../server/faces.ts";
import { type ClientLine, httpClients } from "../../server/http/clients.ts";
import { openNamedTokens } from "../../server/http/tokens.ts";
import { presetsOf } from "../settings.ts";
import { setExposure } from "../shown-tools.ts";
import { createToken, revokeToken } from "../together/shared-tokens.ts";
import { deciderOf, method, type PageParts } from "./area.ts";

export interface Exposed {
  /** As the config has it, or "default". */
  readonly expose: string;
  /** The list that clients get now. */
  readonly shown: ListSize;
  readonly faces: readonly FaceSize[];
  readonly presets: readonly { readonly name: string; readonly tools: readonly string[] }[];
  readonly lines: readonly ClientLine[];
}

export interface FaceSize extends ListSize {
  readonly name: string;
  readonly summary: string;
}

export interface ListSize {
  readonly tools: number;
  readonly bytes: number;
  /** Estimated: four bytes each. */
  readonly tokens: number;
}

const dayMs = 86_400_000;

/** How clients see the hall and connect to it: faces, presets, tokens, lines to copy. */
export function exposedArea({ hall, folder, settings }: PageParts) {
  return {
    exposure: method("read", {}, async (): Promise<Exposed> => {
      const { config } = await settings();
      const { url } = hall.server;
      return {
        expose: config.expose ?? "default",
        shown: measure(hall.server.listFace()),
        faces: Object.entries(faces).map(([name, { summary }]) => ({
          name,
          summary,
          ...measure(hall.server.listFace(name as keyof typeof faces)),
        })),
        presets: Object.entries(presetsOf(config)).map(([name, tools]) => ({ name, tools })),
        lines: url === undefined ? [] : httpClients(`${url}/mcp`, false),
      };
    }),
    /** "default" lets the hall choose by the number of tools. */
    setExposure: method("admin", { expose: "string" }, async ({ expose }) => ({
      file: (await setExposure(folder, expose)).file,
    })),
    tokens: method("admin", {}, async () => ({ tokens: openNamedTokens().list() })),
    /** The token is shown once; only its hash is stored. */
    createToken: method(
      "admin",
      { name: "string", scopes: "strings", days: "number?" },
      async ({ name, scopes, days }, caller) => {
        const expiresAt = days === undefined ? undefined : Date.now() + days * dayMs;
        const token = await createToken(await settings(), name, { scopes, expiresAt });
        const reason = `token with ${scopes.join(", ")}, created in the page`;
        await hall.note({ kind: "granted", subject: name, caller: deciderOf(caller), reason });
        return { token };
      },
    ),
    revokeToken: method("admin", { name: "string" }, async ({ name }, caller) => {
      await revokeToken(await settings(), name);
      const reason = "token revoked in the page";
      await hall.note({ kind: "revoked", subject: name, caller: deciderOf(caller), reason });
      return {};
    }),
  };
}

/** The server keeps a list until it changes. */
const measured = new WeakMap<readonly unknown[], ListSize>();

function measure(list: readonly unknown[]): ListSize {
  const known = measured.get(list);
  if (known) return known;
  const bytes = Buffer.byteLength(JSON.stringify(list));
  const size = { tools: list.length, bytes, tokens: Math.ceil(bytes / 4) };
  measured.set(list, size);
  return size;
}
