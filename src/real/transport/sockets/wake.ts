/** Ends the sleep of a thread over its sockets (`SocketCalls.wakeFd`). A plain write: works in threads that never loaded a foreign-function library. */
import { writeSync } from "node:fs";

const one = new Uint8Array(new BigUint64Array([1n]).buffer);

export function writeWake(eventfd: number): void {
  try {
    writeSync(eventfd, one);
  } catch {
    // Its thread has just ended and closed it, or 2⁶⁴ − 2 wakes are pending: no thread sleeps there.
  }
}
