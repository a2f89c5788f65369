import type { Caller, Target, Toolkit } from "../tool.ts";
import type { Policies } from "../trust/policy/policies.ts";
import type { Registry } from "./registry.ts";
import type { PromptTarget } from "./toolkit-entry.ts";

/** The registry as policies show it to a caller: the rest is not listed, not found, and not named in errors. */
export function visibleTo(
  registry: Registry,
  caller: Pick<Caller, "person" | "client"> | undefined,
  policies: Policies,
): Registry {
  if (!policies.isOn) return registry;
  const showsTool = (tool: Target): boolean => policies.shows(caller, { tool });
  const showsPrompt = ({ toolkit, prompt }: PromptTarget): boolean =>
    policies.shows(caller, { toolkit, prompt: prompt.name });
  const showsToolkit = (toolkit: Toolkit): boolean => {
    const tools = registry.tools().filter((target) => target.toolkit === toolkit);
    return tools.length === 0 || tools.some(showsTool);
  };
  const found = <T>(item: T | undefined, isShown: (item: T) => boolean): T | undefined =>
    item !== undefined && isShown(item) ? item : undefined;
  return {
    ...registry,
    tools: () => registry.tools().filter(showsTool),
    findTool: (name) => found(registry.findTool(name), showsTool),
    getTool: (name, spell) => registry.getTool(name, spell, showsTool),
    toolkits: () => registry.toolkits().filter(showsToolkit),
    findToolkit: (id) => found(registry.findToolkit(id), showsToolkit),
    prompts: () => registry.prompts().filter(showsPrompt),
    getPrompt: (name, spell, isOffered = () => true) =>
      registry.getPrompt(name, spell, (item) => showsPrompt(item) && isOffered(item)),
    resources: (isFor = () => true) =>
      registry.resources(
        (toolkit, uri) => isFor(toolkit, uri) && policies.shows(caller, { toolkit, uri }),
      ),
    resourceTemplates: (isFor = () => true) =>
      registry.resourceTemplates(
        (toolkit, uri) => isFor(toolkit, uri) && policies.shows(caller, { toolkit, uri }),
      ),
  };
}
