/** What went wrong as a person reads it. The whole of it is in the log. */
export interface Failure {
  readonly kind: "failed" | "timed out" | "cancelled" | "unavailable";
  /** One sentence: what happened to what. */
  readonly message: string;
  /** What to do next. */
  readonly hint: string;
  /** Whether the same again could go well. */
  readonly mayRetry: boolean;
}
