/**
 * The vocabulary of policies. Every policy is validated against it, so a misspelled name is an error
 * at load, not a rule that never applies.
 */
export const policySchema = `
entity Group;
entity User in [Group] { issuer?: String, client?: String, token?: String };

entity Server;
entity Tool in [Server] { name: String, class: String, tags: Set<String> };
entity Prompt in [Server] { name: String };
entity Resource in [Server] { uri: String };
entity Method;

entity Texts tags String;
entity Numbers tags Long;

type Taint = { outside: Bool, private: Bool };

action list appliesTo { principal: User, resource: [Tool, Prompt, Resource], context: {} };
action call appliesTo {
  principal: User,
  resource: Tool,
  context: { arguments: Texts, numbers: Numbers, time: datetime, client: String, taint: Taint }
};
action read appliesTo {
  principal: User,
  resource: [Prompt, Resource],
  context: { time: datetime, client: String, taint: Taint }
};
action approve appliesTo { principal: User, resource: Tool, context: { time: datetime, caller: User } };
action register appliesTo { principal: User, resource: Server, context: { time: datetime } };
action admin appliesTo { principal: User, resource: Method, context: { time: datetime } };
`;

export const policyActions = ["list", "call", "read", "approve", "register", "admin"] as const;
export type PolicyAction = (typeof policyActions)[number];
