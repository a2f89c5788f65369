import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LoadedConfig } from "../../src/config/load.ts";
import { watchConfig } from "../../src/config/watch.ts";
import { until } from "../servers/until.ts";
import { type ConfigFolder, makeConfigFolder } from "./folder.ts";

interface Watched extends AsyncDisposable {
  readonly seen: string[];
  /** Waits until as many events were seen. */
  settle(count: number): Promise<string[]>;
  /** Waits until the config was loaded once more. */
  reloaded(): Promise<string[]>;
  close(): void;
}

/** The events of a watcher as text: the timeout of a new config, or the refusal. */
async function watched(folder: ConfigFolder): Promise<Watched> {
  const seen: string[] = [];
  let loads = 0;
  const listener = {
    changed: ({ config }: LoadedConfig) => void seen.push(`changed to ${config.timeoutSeconds}`),
    refused: (error: Error) =>
      void seen.push(`refused: ${error.message.replaceAll(`${folder.path}/`, "").slice(0, 40)}`),
  };
  const load = (): Promise<LoadedConfig> => folder.load().finally(() => loads++);
  const { close } = watchConfig(load, listener, { current: await folder.load(), debounceMs: 30 });
  return {
    seen,
    close,
    async settle(count) {
      await until(() => seen.length >= count, `${count} events`);
      return seen;
    },
    async reloaded() {
      const before = loads;
      await until(() => loads > before, "the config is loaded again");
      return seen;
    },
    async [Symbol.asyncDispose]() {
      close();
    },
  };
}

const timeout = (seconds: number): string => JSON.stringify({ timeoutSeconds: seconds });

describe("watchConfig", () => {
  test("tells about a file that is written in place", async () => {
    using folder = makeConfigFolder({ "guildhall.json": timeout(1) });
    await using watching = await watched(folder);
    folder.write("guildhall.json", timeout(2));
    expect(await watching.settle(1)).toEqual(["changed to 2"]);
    folder.write("guildhall.json", timeout(3));
    expect(await watching.settle(2)).toEqual(["changed to 2", "changed to 3"]);
  });

  test("tells about a file that is replaced, again and again", async () => {
    using folder = makeConfigFolder({ "guildhall.json": timeout(1) });
    await using watching = await watched(folder);
    for (const seconds of [2, 3, 4]) {
      renameSync(
        folder.write(".guildhall.json.tmp", timeout(seconds)),
        join(folder.path, "guildhall.json"),
      );
      expect((await watching.settle(seconds - 1)).at(-1)).toBe(`changed to ${seconds}`);
    }
    expect(watching.seen).toHaveLength(3);
  });

  test("keeps the last good config through a broken edit, and says each refusal once", async () => {
    using folder = makeConfigFolder({ "guildhall.json": timeout(1) });
    await using watching = await watched(folder);
    folder.write("guildhall.json", "{");
    expect(await watching.settle(1)).toEqual(["refused: guildhall.json:1:2: not valid JSON; clos"]);
    folder.write("guildhall.json", "{");
    expect(await watching.reloaded()).toHaveLength(1);
    folder.write("guildhall.json", timeout(-1));
    expect((await watching.settle(2))[1]).toBe("refused: guildhall.json:1:2: timeoutSeconds: is -");
    folder.write("guildhall.json", timeout(2));
    expect((await watching.settle(3))[2]).toBe("changed to 2");
    folder.write("guildhall.json", "{");
    expect(await watching.settle(4)).toHaveLength(4);
    folder.write("guildhall.json", timeout(2));
    expect(await watching.reloaded()).toHaveLength(4);
  });

  test("reports nothing when a saved file means the same", async () => {
    using folder = makeConfigFolder({ "guildhall.json": timeout(1) });
    await using watching = await watched(folder);
    folder.write("guildhall.json", timeout(1));
    folder.write("guildhall.json", `// a comment\n${timeout(1)}`);
    folder.write("another.json", timeout(5));
    expect(await watching.reloaded()).toEqual([]);
  });

  test("takes many writes in a row as one", async () => {
    using folder = makeConfigFolder({ "guildhall.json": timeout(1) });
    await using watching = await watched(folder);
    for (let seconds = 2; seconds <= 50; seconds++)
      folder.write("guildhall.json", timeout(seconds));
    expect(await watching.settle(1)).toEqual(["changed to 50"]);
  });

  test("notices files that appear and disappear, even with their folder", async () => {
    using folder = makeConfigFolder();
    await using watching = await watched(folder);
    folder.write("guildhall.toml", "timeoutSeconds = 2");
    expect(await watching.settle(1)).toEqual(["changed to 2"]);
    rmSync(join(folder.path, "guildhall.toml"));
    expect((await watching.settle(2))[1]).toBe("changed to 30");
    folder.write("user", timeout(3));
    expect((await watching.settle(3))[2]).toBe("changed to 3");
    rmSync(join(folder.path, "home"), { recursive: true });
    expect((await watching.settle(4))[3]).toBe("changed to 30");
    mkdirSync(join(folder.path, "home"));
    folder.write("user", timeout(4));
    expect((await watching.settle(5))[4]).toBe("changed to 4");
  });

  test("follows a link to where the file is written", async () => {
    using folder = makeConfigFolder({ "elsewhere/real.json": timeout(1) });
    symlinkSync(join(folder.path, "elsewhere/real.json"), join(folder.path, "guildhall.json"));
    await using watching = await watched(folder);
    folder.write("elsewhere/real.json", timeout(2));
    expect(await watching.settle(1)).toEqual(["changed to 2"]);
  });

  test.skipIf(process.platform !== "linux")(
    "leaves no watcher and no call behind when closed",
    async () => {
      const before = openWatchers();
      using folder = makeConfigFolder({ "guildhall.json": timeout(1) });
      const watching = await watched(folder);
      const open = openWatchers();
      expect(open).toBeGreaterThan(before);
      for (const seconds of [2, 3, 4, 5]) {
        folder.write("guildhall.json", timeout(seconds));
        await watching.settle(seconds - 1);
      }
      expect(watching.seen).toHaveLength(4);
      expect(openWatchers()).toBe(open);
      writeFileSync(join(folder.path, "guildhall.json"), timeout(6));
      watching.close();
      watching.close();
      expect(openWatchers()).toBe(before);
      // A later event of another watcher proves that the one above was not delivered.
      using other = makeConfigFolder({ "guildhall.json": timeout(1) });
      await using later = await watched(other);
      other.write("guildhall.json", timeout(2));
      await later.settle(1);
      expect(watching.seen).toHaveLength(4);
    },
  );
});

/** Counted by the kernel: Node does not list watchers that do not keep the process alive. */
function openWatchers(): number {
  const descriptors = readdirSync("/proc/self/fdinfo").map((name) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${name}`, "utf8");
    } catch {
      return ""; // The descriptor that listed them is gone.
    }
  });
  return descriptors.join("\n").match(/^inotify wd:/gm)?.length ?? 0;
}
