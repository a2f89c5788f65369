import { harmlessLines, makeHarmless } from "../base/harmless.ts";
import { withoutAge } from "../base/pulse.ts";
import type { Scope } from "../base/scope.ts";
import type { ActivityTimeout } from "../client/activity-timeout.ts";
import type { CallContext } from "../tool.ts";
import type { Outlet } from "./outlet.ts";
import { keepHead, lineCharactersMax } from "./output.ts";
import { readPage } from "./page.ts";
import type { Desk } from "./questions.ts";

export interface CallContextOptions {
  /** Whose call it is. */
  readonly run: string;
  readonly scope: Scope;
  readonly outlet: Outlet;
  readonly timeout: ActivityTimeout;
  readonly desk: Desk;
}

/** What a call of a person's tells while it runs, on its way to the screen: progress, words, questions. */
export function createCallContext({
  run,
  scope,
  outlet,
  timeout,
  desk,
}: CallContextOptions): CallContext {
  let lastNews: string | undefined;
  return {
    scope,
    capabilities: desk.capabilities,
    logLevel: "info",
    progress({ message, ...progress }) {
      timeout.renew();
      const shown =
        message === undefined
          ? undefined
          : makeHarmless(keepHead(message, lineCharactersMax)).replace(/\s+/g, " ");
      outlet.progress({ ...progress, ...(shown === undefined ? {} : { message: shown }) });
      // How long something has run is seen at the bar; as a line of output it would come every few seconds.
      const news = shown === undefined ? undefined : withoutAge(shown);
      if (shown !== undefined && news !== lastNews)
        outlet.put([{ source: "progress", text: shown }]);
      lastNews = news;
    },
    log(level, data, logger) {
      const source =
        streamOf(logger) ??
        (level === "debug" || level === "info" || level === "notice" ? "log" : "err");
      const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
      outlet.put(harmlessLines(text).map((line) => ({ source, text: line })));
    },
    async ask(questions, asked) {
      // In one piece, to be copied from the log.
      const pages = Object.values(questions).map(({ params }) =>
        params?.mode === "url" ? readPage(params.url) : undefined,
      );
      outlet.put(
        pages.flatMap((page) =>
          page ? [{ source: "log", text: `the page to open: ${page.url}` } as const] : [],
        ),
      );
      const answers = await timeout.hold(() => desk.ask(questions, { run, scope: asked ?? scope }));
      // What a person does on a page takes as long as it takes; Esc ends the call.
      if (
        Object.entries(answers).some(
          ([key, { action }]) => action === "accept" && questions[key]?.params?.mode === "url",
        )
      )
        timeout.pause();
      return answers;
    },
  };
}

/** Commands are heard through logs that are named after what they write to: `speckit.command.stderr`. */
function streamOf(logger: string | undefined): "out" | "err" | undefined {
  const [, stream] = /(?:^|[./: ])std(out|err)$/.exec(logger ?? "") ?? [];
  return stream === "out" || stream === "err" ? stream : undefined;
}
