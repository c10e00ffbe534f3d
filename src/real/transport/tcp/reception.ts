/**
 * The door of a node: a listening socket, and whoever has connected but not said hello yet. A stranger who sends anything
 * but the job's secret is dropped at the first wrong byte; one who sends too much, or is too slow, or one too many, is
 * dropped as well. Nobody inside notices.
 */
import { createServer, type Server, type Socket } from "node:net";
import { decodeHello, type Hello, helloBytes, type Job, knowsSecret } from "./hello.ts";
import { descriptorOf, stopReading } from "./raw-socket.ts";

export const helloMsMax = 2000;
/** Above it the one who has waited longest is dropped: hellos take a millisecond, so it is a stranger. */
export const strangersMax = 64;

export interface ReceptionOptions {
  readonly job: Job;
  readonly address: string;
  /** 0: any free one. */
  readonly port: number;
  /** Somebody of this job; nothing is read from the socket any more. */
  readonly received: (hello: Hello, socket: Socket) => void;
  readonly dropped: (reason: string) => void;
}

export type Listening = { readonly ok: true; readonly port: number } | { readonly ok: false; readonly reason: string };

export class Reception {
  readonly #options: ReceptionOptions;
  readonly #server: Server;
  readonly #strangers = new Map<Socket, NodeJS.Timeout>();

  constructor(options: ReceptionOptions) {
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) => this.#meet(socket));
  }

  listen(): Promise<Listening> {
    const { address, port } = this.#options;
    return new Promise((resolve) => {
      const failed = (error: NodeJS.ErrnoException) => {
        const why = error.code === "EADDRINUSE" ? "the port is in use" : error.message;
        resolve({ ok: false, reason: `Cannot listen on ${address}:${port}: ${why}` });
      };
      this.#server.once("error", failed);
      this.#server.listen(port, address, () => {
        this.#server.off("error", failed);
        // Errors of accepting (no descriptors left) concern one newcomer, who will try again.
        this.#server.on("error", (error) => this.#options.dropped(error.message));
        const bound = this.#server.address();
        resolve({ ok: true, port: bound !== null && typeof bound === "object" ? bound.port : port });
      });
    });
  }

  /** Of the listening socket: readable when somebody knocks. */
  get descriptor(): number {
    return descriptorOf(this.#server);
  }

  #meet(socket: Socket): void {
    for (const longest of this.#strangers.keys()) {
      if (this.#strangers.size < strangersMax) break;
      this.#drop(longest, "too many strangers at the door");
    }
    const timer = setTimeout(() => this.#drop(socket, "no hello in time"), helloMsMax);
    this.#strangers.set(socket, timer);
    let bytes = Buffer.alloc(0);
    socket.on("error", () => {});
    // Not worth a word: a peer that has found another connection first does that too.
    socket.on("close", () => this.#forget(socket));
    socket.on("data", (chunk) => {
      if (!this.#strangers.has(socket)) return;
      if (bytes.length + chunk.length > helloBytes) return this.#drop(socket, "more than a hello");
      bytes = Buffer.concat([bytes, chunk]);
      if (!knowsSecret(this.#options.job, bytes)) return this.#drop(socket, "not the job's secret");
      if (bytes.length < helloBytes) return;
      const hello = decodeHello(this.#options.job, bytes);
      if (hello === null) return this.#drop(socket, "a hello of another job or version");
      this.#forget(socket);
      stopReading(socket);
      this.#options.received(hello, socket);
    });
  }

  #forget(socket: Socket): void {
    clearTimeout(this.#strangers.get(socket));
    this.#strangers.delete(socket);
    socket.removeAllListeners("data");
    socket.removeAllListeners("close");
  }

  #drop(socket: Socket, reason: string): void {
    if (!this.#strangers.has(socket)) return;
    this.#forget(socket);
    socket.destroy();
    this.#options.dropped(reason);
  }

  close(): void {
    for (const socket of this.#strangers.keys()) this.#drop(socket, "the node is leaving");
    this.#server.close();
  }
}
