// Every trap in place of every file that the hall opens in a project.
import { test } from "vitest";
import { clientFiles, files, traps, tryTrap } from "../threats/project-traps.ts";

const cases = Object.keys(traps)
  .filter((trap) => trap !== "a link to a folder")
  .flatMap((trap) =>
    Object.entries(files)
      .filter(([name]) => !clientFiles.includes(name))
      .map(([name, line]) => [trap, name, line] as const),
  );

test.concurrent.each(cases)(
  "%s is not followed, waited for or loaded whole in place of %s",
  (trap, name, line) => tryTrap([name], line, trap),
);
