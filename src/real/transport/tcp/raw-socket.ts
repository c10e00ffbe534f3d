/**
 * What `net.Socket` does not offer: its descriptor, and an end to reading. The event loop must not read a byte of what
 * belongs to a rank's thread, and `pause` alone lets it fill its buffer first. Both have been fields of the handle since
 * Node 0.x and still are in Node 26.
 */
import { connect, type Server, type Socket } from "node:net";

interface Handle {
  readonly fd: number;
  readStop(): number;
}
const handleOf = (socket: Socket | Server): Handle | null => (socket as unknown as { _handle: Handle | null })._handle;

/** −1 when it is closed. */
export const descriptorOf = (socket: Socket | Server): number => handleOf(socket)?.fd ?? -1;

export function stopReading(socket: Socket): void {
  socket.pause();
  handleOf(socket)?.readStop();
}

export interface Exchange {
  readonly host: string;
  readonly port: number;
  readonly question: Uint8Array;
  readonly answerBytes: number;
  readonly msMax: number;
}

/** Connects, sends, reads an answer of exactly that length and then stops reading. Calls back once; `null`: it failed. */
export function ask(exchange: Exchange, done: (answer: Buffer | null, reason: string) => void): Socket {
  const answer = Buffer.alloc(exchange.answerBytes);
  let have = 0;
  let over = false;
  const end = (ok: boolean, reason: string): void => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    if (ok) stopReading(socket);
    else socket.destroy();
    done(ok ? answer : null, reason);
  };
  const socket = connect({
    host: exchange.host,
    port: exchange.port,
    noDelay: true,
    // Our own buffer, as long as what is missing: not one byte more is read.
    onread: {
      buffer: () => answer.subarray(have),
      callback: (bytes) => {
        have += bytes;
        if (have < exchange.answerBytes) return true;
        end(true, "");
        return false;
      },
    },
  });
  const timer = setTimeout(() => end(false, "no answer in time"), exchange.msMax);
  socket.on("connect", () => socket.write(exchange.question));
  socket.on("error", (error) => end(false, error.message));
  socket.on("close", () => end(false, "the connection was closed"));
  return socket;
}
