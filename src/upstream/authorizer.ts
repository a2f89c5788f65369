/** Access tokens for one remote server. */
export interface Authorizer {
  /** The Authorization header, if there is a token. */
  headers(): Promise<{ readonly authorization?: string }>;
  /**
   * After a 401 or 403: true if there is a new token, false if a retry would not help. `sent` is the
   * rejected Authorization header: if another call has renewed the token meanwhile, that one is used.
   * Throws DENIED with login advice if a person must log in. Concurrent callers share one renewal.
   */
  authorize(response: Response, sent: string | undefined): Promise<boolean>;
  /** On each new connection: a login or logout may have happened. */
  forget(): void;
}
