import { afterEach, expect, test, vi } from "vitest";
import { followEvents } from "../../web/api.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A hall whose event streams the test writes; `asked` has the last event id of each request. */
function stubHall() {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const asked: (string | undefined)[] = [];
  vi.stubGlobal("localStorage", { getItem: () => "csrf" });
  vi.stubGlobal("navigator", {});
  vi.stubGlobal("fetch", async (_path: string, init: { headers: Record<string, string> }) => {
    asked.push(init.headers["last-event-id"]);
    return new Response(new ReadableStream({ start: (stream) => void streams.push(stream) }));
  });
  const send = (text: string): void => streams.at(-1)?.enqueue(new TextEncoder().encode(text));
  return { asked, send };
}

test("a stream that is silent for 45 s is lost, and continues after the last event", async () => {
  vi.useFakeTimers();
  const { asked, send } = stubHall();
  const heard: unknown[] = [];
  const states: string[] = [];
  const over = new AbortController();
  void followEvents(
    (event) => heard.push(event),
    (state) => states.push(state),
    { after: "run.1", signal: over.signal },
  );
  await vi.advanceTimersByTimeAsync(0);
  // An event that arrives in two parts.
  send('id: run.2\ndata: {"type":"chan');
  send('ged","what":"tools"}\n\n');
  await vi.advanceTimersByTimeAsync(0);
  expect(heard).toEqual([{ type: "changed", what: "tools" }]);

  // A comment of the hall every 15 s keeps the stream.
  for (let quarter = 0; quarter < 4; quarter++) {
    await vi.advanceTimersByTimeAsync(15_000);
    send(":\n\n");
  }
  await vi.advanceTimersByTimeAsync(44_000);
  expect(states).toEqual(["open"]);

  await vi.advanceTimersByTimeAsync(2_000);
  expect(states).toEqual(["open", "lost", "open"]);
  expect(asked).toEqual(["run.1", "run.2"]);
  over.abort();
});
