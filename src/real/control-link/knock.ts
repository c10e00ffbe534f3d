/** Is the dispatcher alive? A node asks by connecting to its port, and closes the connection without a message. */
import { connect } from "node:net";

export type Knock =
  /** It has sent a challenge, as it does to everybody. */
  | "alive"
  /** The call was taken, and nothing was said in that time: it is stopped, or very busy. */
  | "mute"
  /** The call was taken, and ended at once: it is about to go. */
  | "leaving"
  /** No process listens there: it is gone. */
  | "refused"
  /** No way leads there. */
  | "unreachable";

export function knock({ host, port }: { readonly host: string; readonly port: number }, msMax: number): Promise<Knock> {
  return new Promise((resolve) => {
    let isTaken = false;
    const socket = connect({ host, port });
    const over = (answer: Knock): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => over(isTaken ? "mute" : "unreachable"), msMax);
    socket.on("connect", () => {
      isTaken = true;
    });
    socket.on("data", () => over("alive"));
    socket.on("error", ({ code }: NodeJS.ErrnoException) =>
      over(code === "ECONNREFUSED" ? "refused" : isTaken ? "leaving" : "unreachable"),
    );
    socket.on("close", () => over(isTaken ? "leaving" : "unreachable"));
  });
}
