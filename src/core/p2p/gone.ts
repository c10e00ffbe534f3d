/** What has become of a process of the job. */
export const Gone = {
  NO: 0,
  /** For good: what only it could complete ends with an error. */
  DEAD: 1,
  /** It will come back: what only it can complete waits. */
  LOST: 2,
} as const;
export type Gone = (typeof Gone)[keyof typeof Gone];
