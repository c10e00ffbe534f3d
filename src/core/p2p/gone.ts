/** The states of a process of the job. */
export const Gone = {
  NO: 0,
  /** For good: requests that only it could complete end with an error. */
  DEAD: 1,
  /** It will come back: requests that only it can complete wait. */
  LOST: 2,
} as const;
export type Gone = (typeof Gone)[keyof typeof Gone];
