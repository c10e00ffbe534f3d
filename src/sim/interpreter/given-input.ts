/** Bytes of standard input that a rank was given and has not read: plain data, part of an image. */
interface GivenInput {
  /** How many bytes the rank was given in all. */
  offset: number;
  unread: number[];
  hasEnded: boolean;
}

export const noInput = (): GivenInput => ({ offset: 0, unread: [], hasEnded: false });
