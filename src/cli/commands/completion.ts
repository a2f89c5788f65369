import { HallError } from "../../base/errors.ts";

/** The scripts ask the hidden command `__complete`; where it has no answer, the shell completes files. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_guildhall() {
  local IFS=$'\\n'
  COMPREPLY=($(guildhall __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _guildhall guildhall
`,
  zsh: `#compdef guildhall
_guildhall() {
  local -a found
  found=(\${(f)"$(guildhall __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -a found; else _files; fi
}
compdef _guildhall guildhall
`,
  fish: `complete -c guildhall -a '(guildhall __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
};

export async function runCompletion(shell: string): Promise<void> {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (script === undefined)
    throw new HallError(
      "INVALID_PARAMS",
      `unknown shell "${shell}" (expected: ${Object.keys(scripts).join(", ")})`,
    );
  process.stdout.write(script);
}
