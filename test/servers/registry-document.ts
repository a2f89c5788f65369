import type { JsonObject } from "../../src/base/json.ts";

/** The messages of the registry protocol as its document shows them, and the tools it predefines. */
export const registration = {
  jsonrpc: "2.0",
  method: "tools/register",
  params: {
    tool: {
      name: "search_tool",
      description: "Web search functionality",
      category: "SEARCH",
      functions: [
        {
          name: "web_search",
          description: "Search the web for information",
          parameters: {
            type: "object",
            properties: {
              query: { type: "string", description: "Search query" },
              max_results: { type: "integer", default: 5, minimum: 1, maximum: 20 },
            },
            required: ["query"],
          },
          returns: {
            type: "object",
            properties: {
              results: {
                type: "array",
                items: {
                  type: "object",
                  properties: {
                    title: { type: "string" },
                    url: { type: "string" },
                    snippet: { type: "string" },
                  },
                },
              },
            },
          },
        },
      ],
    },
  },
  id: 1,
} as const satisfies JsonObject;

export const registrationAnswer = {
  jsonrpc: "2.0",
  result: { tool_id: "search_tool_v1", status: "registered", health_check_interval: 60 },
  id: 1,
};

export const call = {
  jsonrpc: "2.0",
  method: "tools/call",
  params: {
    tool_name: "search_tool",
    function_name: "web_search",
    arguments: { query: "artificial intelligence trends 2025", max_results: 3 },
    call_id: "uuid-123-456-789",
    timeout: 10,
  },
  id: 2,
} as const satisfies JsonObject;

export const callData = {
  results: [
    {
      title: "AI Trends 2025: What to Expect",
      url: "https://example.com/ai-trends-2025",
      snippet: "Major trends in artificial intelligence for 2025 include...",
    },
  ],
};

export const callAnswer = {
  jsonrpc: "2.0",
  result: {
    call_id: "uuid-123-456-789",
    status: "completed",
    data: callData,
    execution_time_ms: 1250,
  },
  id: 2,
};

/**
 * The document gives this example the number of a failed execution, and its table the number of a
 * timeout. The table is right.
 */
export const timeoutAnswer = {
  jsonrpc: "2.0",
  error: {
    code: -32005,
    message: "Timeout",
    data: {
      call_id: "uuid-123-456-789",
      error_type: "timeout",
      details: "Search service did not respond within 10 seconds",
    },
  },
  id: 2,
};

export const healthCheck = {
  jsonrpc: "2.0",
  method: "health/check",
  params: { tool_name: "search_tool" },
  id: 3,
} as const satisfies JsonObject;

export const healthAnswer = {
  jsonrpc: "2.0",
  result: {
    status: "healthy",
    response_time_ms: 45,
    version: "1.0.0",
    capabilities: ["web_search"],
    last_error: null,
  },
  id: 3,
};

export const errorCodes: readonly [number, string][] = [
  [-32000, "Server error"],
  [-32001, "Tool execution failed"],
  [-32002, "Tool not found"],
  [-32003, "Function not found"],
  [-32004, "Invalid parameters"],
  [-32005, "Timeout"],
  [-32006, "Service unavailable"],
  [-32007, "Rate limited"],
];

const text = { type: "string" };
const integer = (value: number): JsonObject => ({ type: "integer", default: value });
const choice = (values: readonly string[], fallback?: string): JsonObject => ({
  type: "string",
  enum: values,
  ...(fallback ? { default: fallback } : {}),
});
const object = (properties: JsonObject, required?: readonly string[]): JsonObject => ({
  type: "object",
  properties,
  ...(required ? { required } : {}),
});

/** The parameters of every predefined function, descriptions aside. */
export const predefined: readonly {
  readonly name: string;
  readonly category: string;
  readonly functions: Readonly<Record<string, JsonObject>>;
}[] = [
  {
    name: "search_tool",
    category: "SEARCH",
    functions: {
      web_search: object({ query: text, max_results: integer(5) }, ["query"]),
      news_search: object({ query: text, days_back: integer(7) }, ["query"]),
    },
  },
  {
    name: "calculator",
    category: "CALCULATION",
    functions: {
      calculate: object({ expression: text }, ["expression"]),
      convert_units: object({ value: { type: "number" }, from_unit: text, to_unit: text }, [
        "value",
        "from_unit",
        "to_unit",
      ]),
    },
  },
  {
    name: "image_generator",
    category: "AI_GENERATION",
    functions: {
      generate_image: object(
        {
          prompt: text,
          style: choice(["realistic", "artistic", "cartoon", "abstract"], "realistic"),
          size: choice(["256x256", "512x512", "1024x1024"], "512x512"),
        },
        ["prompt"],
      ),
    },
  },
  {
    name: "document_analyzer",
    category: "ANALYSIS",
    functions: {
      analyze_document: object(
        {
          document_url: text,
          analysis_type: choice(["summary", "keywords", "sentiment", "entities"], "summary"),
        },
        ["document_url"],
      ),
      extract_text: object({ document_url: text, format: choice(["pdf", "docx", "txt", "html"]) }, [
        "document_url",
      ]),
    },
  },
  {
    name: "time_tool",
    category: "TIME",
    functions: {
      current_time: object({
        timezone: { type: "string", default: "UTC" },
        format: { type: "string", default: "ISO8601" },
      }),
      time_difference: object(
        {
          start_time: text,
          end_time: text,
          unit: choice(["seconds", "minutes", "hours", "days"], "hours"),
        },
        ["start_time", "end_time"],
      ),
    },
  },
];
