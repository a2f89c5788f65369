/** Access tokens for one server elsewhere. */
export interface Authorizer {
  /** The Authorization header, when there is a token. */
  headers(): Promise<{ readonly authorization?: string }>;
  /**
   * After a 401 or 403: true when there is a better token now, false when it would not help to try again.
   * `sent` is the Authorization header that was refused: when another call has got a new token meanwhile, that one is tried.
   * Throws DENIED naming the command when a person must log in. One flight for all callers.
   */
  authorize(response: Response, sent: string | undefined): Promise<boolean>;
  /** With each new line: somebody may have logged in or out. */
  forget(): void;
}
