import { basename, dirname, join } from "node:path";
import type { ProgramRun } from "./gate.ts";
import { isRunnable, type Launch, withoutProject } from "./launcher.ts";
import { environmentOf, findProgram, isOfProject, type ProcessSpec } from "./program.ts";

/** Options of `uvx` that take a value. */
const valued = new Set(
  "--from --with -w --python -p --index --default-index --index-url -i --extra-index-url --find-links -f".split(
    " ",
  ),
);

/**
 * `uvx` installs and runs in one step, so its server would need the registry and the cache. In a sandbox the hall does
 * it in two: the package goes into an environment of its own, and its program runs without either. Undefined for
 * another program, or an option that is not known here; the server then runs as it is.
 */
export function findUvLaunch(spec: ProcessSpec): Launch | undefined {
  const words = uvWords(spec);
  if (!words) return undefined;
  const launcher = findProgram(spec);
  const program = join(dirname(launcher), "uv");
  if (isOfProject(launcher) || !isRunnable(program)) return undefined;

  const options: string[] = [];
  const packages: string[] = [];
  let from: string | undefined;
  let at = 0;
  for (; words[at]?.startsWith("-"); at++) {
    const [name = "", ...rest] = (words[at] ?? "").split("=");
    if (!valued.has(name)) {
      if (rest.length > 0 || !/^(-q|--quiet|--offline|--no-config|--native-tls)$/.test(name))
        return undefined;
      options.push(name);
      continue;
    }
    const value = rest.length > 0 ? rest.join("=") : (words[++at] ?? "");
    if (name === "--from") from = value;
    else if (name === "--with" || name === "-w") packages.push(value);
    else options.push(`${longNames[name] ?? name}=${value}`);
  }
  const [command, ...args] = words.slice(at);
  if (command === undefined) return undefined;
  const wanted = [from ?? requirementOf(command), ...packages];
  return {
    manager: "uv",
    program,
    options,
    packages: wanted,
    isExact: wanted.every((name) => /==\d[\w.+!-]*$/.test(name)),
    bin: command.replace(/[@[=<>~!].*$/, ""),
    usesBun: false,
    args,
    env: withoutProject(environmentOf(spec)),
  };
}

const longNames: Readonly<Record<string, string>> = {
  "-p": "--python",
  "-i": "--index-url",
  "-f": "--find-links",
};

function uvWords({ command, args }: ProcessSpec): readonly string[] | undefined {
  const name = basename(command);
  if (name === "uvx") return args;
  return name === "uv" && args[0] === "tool" && args[1] === "run" ? args.slice(2) : undefined;
}

/** `ruff@0.3.0` and `ruff@latest`, as `uv pip` writes them. */
function requirementOf(command: string): string {
  const [, name = command, version] = /^([^@]+)@(.+)$/.exec(command) ?? [];
  if (version === undefined || version === "latest") return name;
  return `${name}==${version}`;
}

const environment = "environment";

export function uvPrograms(folder: string): string {
  return join(folder, environment, "bin");
}

/** An environment that keeps working when its folder is renamed. */
export function uvInstallation(
  program: string,
  options: readonly string[],
  packages: readonly string[],
): Pick<ProgramRun, "program" | "args"> {
  const isOfPython = (option: string): boolean => option.startsWith("--python=");
  const python = options.find(isOfPython)?.slice("--python=".length) ?? "";
  const script = `"$0" venv --relocatable \${1:+--python "$1"} ${environment} && shift &&
exec "$0" pip install --python ${environment} "$@"`;
  const rest = options.filter((option) => !isOfPython(option));
  return { program: "/bin/sh", args: ["-c", script, program, python, ...rest, ...packages] };
}
