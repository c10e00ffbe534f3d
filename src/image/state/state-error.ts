/** State that cannot be saved or read; the message names the part. */
export class StateError extends Error {
  override readonly name = "StateError";
}
