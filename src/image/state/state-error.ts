/** State that cannot be saved or read; the message says which. */
export class StateError extends Error {
  override readonly name = "StateError";
}
