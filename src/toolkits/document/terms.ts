/** Shared by the tools and the worker; a separate file, so that listing tools loads no word lists. */
export const documentFormats = ["pdf", "docx", "txt", "html"] as const;
export type DocumentFormat = (typeof documentFormats)[number];

export const analysisTypes = ["summary", "keywords", "sentiment", "entities"] as const;
export type AnalysisType = (typeof analysisTypes)[number];

export const entityTypes = [
  "person",
  "organisation",
  "place",
  "date",
  "money",
  "percentage",
  "email",
  "url",
  "phone",
] as const;
export type EntityType = (typeof entityTypes)[number];
