/** An image of a whole set: ranks that fall, are captured and go back together. */
export interface Checkpoint {
  /** Of the set's checkpoints, counted from 1; 0: the start of the program, which has no images. */
  readonly number: number;
  /** Only the protocol understands it: its ranks said it when they were captured, and it goes into the images' books. */
  readonly position: number;
}
