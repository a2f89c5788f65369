import type { JsonObject } from "../../base/json.ts";
import { kindOfHost } from "../../net/host.ts";

/** Whether an entry is a hall: behind a hall it would be a loop. `ownScript` is the file this process runs. */
export function isHall(
  name: string,
  { command, args, url }: JsonObject,
  ownScript: string | undefined,
): boolean {
  if (typeof url === "string") return /^guildhall/i.test(name) && isHere(url);
  if (typeof command !== "string") return false;
  // A whole line in one argument, as shells and wrappers take it, is as good as several.
  const words = [command, ...(Array.isArray(args) ? args.map(String) : [])].flatMap(
    (part, index) => (index === 0 ? [part] : part.split(/\s+/)),
  );
  if (isHallWord(command)) return true;
  if (words.some((word) => URL.canParse(word) && /^guildhall/i.test(name) && isHere(word)))
    return true;
  return words.some(
    (word, index) =>
      (isHallWord(word) || word === ownScript || isHallScript(word)) && words[index + 1] === "mcp",
  );
}

/** "guildhall", "guildhall@1.2.3", a path that ends so. A folder of that name among the arguments is no hall: nothing says `mcp` behind it. */
function isHallWord(word: string): boolean {
  return /(^|[\\/])guildhall(@[\w.^~-]+)?(\.(cmd|exe|ps1))?$/i.test(word);
}

function isHallScript(word: string): boolean {
  return /guildhall[\w.@-]*[\\/](dist[\\/]cli\.m?js|src[\\/]cli[\\/]main\.ts)$/i.test(word);
}

function isHere(url: string): boolean {
  return URL.canParse(url) && kindOfHost(new URL(url).hostname) === "loopback";
}
