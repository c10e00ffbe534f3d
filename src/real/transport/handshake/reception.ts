/**
 * The door of a process: a listening socket, and whoever has connected but not proven yet to be of this job (handshake.ts). A
 * stranger who answers the challenge wrongly is dropped when the hello is whole; one who sends too much, or is too slow, or one
 * too many, is dropped as well. Nobody inside notices.
 */
import { createServer, type Server, type Socket } from "node:net";
import { descriptorOf, stopReading } from "../sockets/raw-socket.ts";
import { type Answer, type Hello, type JobSecret, ListenerHandshake, type Service } from "./handshake.ts";

export const helloMsMax = 5000;
/** Above it the one who has waited longest is dropped: hellos take a millisecond, so it is a stranger. */
export const strangersMax = 64;

interface ReceptionOptions {
  readonly job: JobSecret;
  /** What it is there for; of several, hellos say which. */
  readonly service: Service | readonly Service[];
  /** Where to listen; port 0: any free one. */
  readonly place: { readonly address: string; readonly port: number };
  /** Hellos must say for which port they are meant (`wanted`): there may have been somebody else before, at another. */
  readonly namesPort?: boolean;
  readonly received: (guest: Guest) => void;
  readonly dropped: (reason: string) => void;
}

/** Somebody of this job. Nothing is read from the socket any more, and nobody has answered yet. */
export interface Guest {
  readonly hello: Hello;
  readonly socket: Socket;
  /** The answer, with its proof. */
  answer(answer: Answer): Buffer;
}

export type Listening = { readonly ok: true; readonly port: number } | { readonly ok: false; readonly reason: string };

export class Reception {
  readonly #options: ReceptionOptions;
  readonly #server: Server;
  readonly #strangers = new Map<Socket, NodeJS.Timeout>();
  #port = 0;

  constructor(options: ReceptionOptions) {
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) => this.#meet(socket));
  }

  listen(): Promise<Listening> {
    const { place } = this.#options;
    return new Promise((resolve) => {
      const failed = (error: NodeJS.ErrnoException) => {
        const why = error.code === "EADDRINUSE" ? "the port is in use" : error.message;
        resolve({ ok: false, reason: `Cannot listen on ${place.address}:${place.port}: ${why}` });
      };
      this.#server.once("error", failed);
      this.#server.listen({ host: place.address, port: place.port }, () => {
        this.#server.off("error", failed);
        // Errors of accepting (no descriptors left) concern one newcomer, who will try again.
        this.#server.on("error", (error) => this.#options.dropped(error.message));
        const bound = this.#server.address();
        this.#port = bound !== null && typeof bound === "object" ? bound.port : 0;
        resolve({ ok: true, port: this.#port });
      });
    });
  }

  /** Of the listening socket: readable when somebody knocks. */
  get descriptor(): number {
    return descriptorOf(this.#server);
  }

  /** Is there somebody who has not said hello yet? */
  get isMeeting(): boolean {
    return this.#strangers.size > 0;
  }

  #meet(socket: Socket): void {
    for (const longest of this.#strangers.keys()) {
      if (this.#strangers.size < strangersMax) break;
      this.#drop(longest, "too many strangers at the door");
    }
    const timer = setTimeout(() => this.#drop(socket, "no hello in time"), helloMsMax);
    this.#strangers.set(socket, timer);
    const handshake = new ListenerHandshake(this.#options.job, this.#options.service);
    socket.on("error", () => {});
    // Not worth a word: a peer that has found another connection first does that too.
    socket.on("close", () => this.#forget(socket));
    socket.on("data", (chunk) => {
      if (!this.#strangers.has(socket)) return;
      const heard = handshake.take(chunk);
      if (heard.kind === "refused") this.#drop(socket, heard.reason);
      else if (heard.kind === "hello") this.#heard(heard.hello, socket, handshake);
    });
    socket.write(handshake.challenge);
  }

  #heard(hello: Hello, socket: Socket, handshake: ListenerHandshake): void {
    const { namesPort = false, received } = this.#options;
    if (namesPort && hello.wanted !== this.#port) {
      this.#drop(socket, "a hello for another port");
      return;
    }
    this.#forget(socket);
    stopReading(socket);
    received({ hello, socket, answer: (answer) => handshake.answer(answer) });
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
    for (const socket of this.#strangers.keys()) this.#drop(socket, "the process is leaving");
    this.#server.close();
  }
}
