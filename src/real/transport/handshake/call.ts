/** Calls a listener of this job: connects, shakes hands (handshake.ts), and then reads nothing more, unless somebody says where to. */
import { connect, type Socket } from "node:net";
import { stopReading } from "../sockets/raw-socket.ts";
import {
  answerBytes,
  type CallAnswer,
  CallerHandshake,
  challengeBytes,
  type Hello,
  type JobSecret,
} from "./handshake.ts";

/** Twice as long as a listener waits for a hello: it waits for three messages, over links that may be slow. */
export const answerMsMax = 10_000;

interface OutgoingCall {
  readonly host: string;
  readonly port: number;
  readonly job: JobSecret;
  readonly hello: Hello;
  /** Gets the bytes behind the answer; none unless given: they belong to others. */
  readonly reader?: StreamReader;
}

interface StreamReader {
  /** Where the next bytes belong. Not empty. */
  place(): Uint8Array;
  /** So many are there. False: no more are read. */
  took(bytes: number): boolean;
}

/** Calls back once; `null`: there is no answer that proves anything, for that reason, and the socket is closed. */
export function call(
  { host, port, job, hello, reader }: OutgoingCall,
  done: (answer: CallAnswer | null, reason: string) => void,
): Socket {
  const handshake = new CallerHandshake(job, hello);
  // A buffer of the length that is missing: not one byte more is read.
  let wanted = Buffer.alloc(challengeBytes);
  let have = 0;
  let isAnswering = false;
  let isOver = false;
  const end = (answer: CallAnswer | null, reason: string): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (answer === null) socket.destroy();
    else if (reader === undefined) stopReading(socket);
    done(answer, reason);
  };
  /** True: go on reading. */
  const whole = (): boolean => {
    if (isAnswering) {
      const answer = handshake.answer(wanted);
      end(answer, answer === null ? "somebody else listens there" : "");
      return answer !== null && reader !== undefined;
    }
    const said = handshake.hello(wanted);
    if (said === null) {
      end(null, "somebody else listens there");
      return false;
    }
    isAnswering = true;
    wanted = Buffer.alloc(answerBytes);
    have = 0;
    socket.write(said);
    return true;
  };
  const socket = connect({
    host,
    port,
    noDelay: true,
    onread: {
      buffer: () => (isOver && reader !== undefined ? reader.place() : wanted.subarray(have)),
      callback: (bytes) => {
        if (isOver) return reader?.took(bytes) ?? false;
        have += bytes;
        return have < wanted.length || whole();
      },
    },
  });
  const timer = setTimeout(() => end(null, "no answer in time"), answerMsMax);
  socket.on("error", (error) => end(null, error.message));
  socket.on("close", () => end(null, "the connection was closed"));
  return socket;
}
