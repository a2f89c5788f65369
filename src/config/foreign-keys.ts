const trustAdvice = "Guildhall's trust settings decide which calls require approval";

/**
 * Keys of other clients in an entry of mcpServers, with advice. Accepted, so that an entry can be
 * pasted, and ignored with a warning.
 */
export const foreignKeys: Readonly<Record<string, string>> = {
  alwaysAllow: trustAdvice,
  autoApprove: trustAdvice,
  trust: trustAdvice,
  includeTools: "use tools.include",
  excludeTools: "use tools.exclude",
  disabledTools: "use tools.exclude",
  timeout: "use timeoutSeconds",
  envFile: "set the variables before the hall starts and list them in env",
  authProviderType: "use headers",
  ...Object.fromEntries(
    "description gallery icon version sandbox sandboxEnabled dev watchPaths"
      .split(" ")
      .map((key) => [key, "you can remove it"]),
  ),
};
