import { unwatchFile, watchFile } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { Scope } from "../../base/scope.ts";
import type { Carrier, CarrierOptions } from "../carrier.ts";
import { ApiChannel } from "./channel.ts";
import { documentUrl, type OpenApiConfig, readDocument } from "./reader.ts";
import { Sender } from "./send.ts";

const watchMs = 2_000;

/** Reads the document of an API and serves its operations as tools. A file that changes is read again. */
export async function openApi(
  config: OpenApiConfig,
  { limits, authorizer, printed }: CarrierOptions,
  scope: Scope,
): Promise<Carrier> {
  authorizer?.forget();
  const api = await readDocument(config, scope);
  const evidence = [...api.skipped];
  for (const line of evidence) printed?.(line);
  const { auth, headers, allowPrivate } = config;
  const { messageBytesMax } = limits;
  const sender = new Sender({ auth, headers, allowPrivate, authorizer, messageBytesMax });
  const life = new Scope();
  const file = documentUrl(config.openapi) ? undefined : resolve(config.openapi);
  const reread = (): void => {
    readDocument(config, life).then(
      (changed) => channel.replace(changed),
      (error: unknown) => printed?.(`the document changed and cannot be used: ${messageOf(error)}`),
    );
  };
  const channel = new ApiChannel({
    api,
    call: (operation, described, args, signal) => sender.call(operation, described, args, signal),
    closed() {
      if (file !== undefined) unwatchFile(file, reread);
      life.close();
      sender.close();
    },
  });
  if (file !== undefined) watchFile(file, { interval: watchMs, persistent: false }, reread);
  return {
    channel,
    // There is no process or connection that could end unexpectedly.
    ended: new Promise(() => {}),
    evidence: () => evidence,
    stop: () => channel.close(),
  };
}
