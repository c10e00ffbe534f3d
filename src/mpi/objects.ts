/**
 * Objects as the bytes of a message: structured clone, in the form of V8's serializer. Bytes that were never an object mostly
 * do not begin as one does; when they do by accident the reader finds out.
 */
import { deserialize, serialize } from "node:v8";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";

/** What the serializer writes first. */
const mark = 0xff;

/** `what` is the beginning of the sentence when it cannot be done: "send the object". */
export function bytesOfObject(what: string, value: unknown): Uint8Array {
  try {
    return serialize(value);
  } catch (error) {
    // What a getter of the program's throws is the program's.
    if (!(error instanceof Error) || !/ be cloned\b/.test(error.message)) throw error;
    // V8 quotes the beginning of a function's source text.
    const reason = error.message.replaceAll(/\s+/g, " ").replace(/\.$/, "");
    throw new MpiError(
      ErrorClass.TYPE,
      `Cannot ${what}: ${reason}; it may hold plain data, no functions, symbols or promises`,
    );
  }
}

/** Undefined when the bytes are no object; an object may be undefined too, so it comes in a box. */
export function objectOfBytes(bytes: Uint8Array): { readonly value: unknown } | undefined {
  if (bytes[0] !== mark) return undefined;
  try {
    return { value: deserialize(bytes) as unknown };
  } catch {
    return undefined;
  }
}
