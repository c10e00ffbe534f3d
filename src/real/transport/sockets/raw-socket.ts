/**
 * Missing in `net.Socket`: its descriptor, and an end to reading. The event loop must not read a byte of the stream that
 * belongs to a rank's thread, and `pause` alone lets it fill its buffer first. Both have been fields of the handle since
 * Node 0.x and still are in Node 26.
 */
import type { Server, Socket } from "node:net";

interface Handle {
  readonly fd: number;
  readStop(): number;
  readStart(): number;
}
const handleOf = (socket: Socket | Server): Handle | null => (socket as unknown as { _handle: Handle | null })._handle;

/** −1 when it is closed. */
export const descriptorOf = (socket: Socket | Server): number => handleOf(socket)?.fd ?? -1;

export function stopReading(socket: Socket): void {
  socket.pause();
  handleOf(socket)?.readStop();
}

/** Undoes `stopReading`, for readers that take the stream piece by piece. */
export function startReading(socket: Socket): void {
  handleOf(socket)?.readStart();
}
