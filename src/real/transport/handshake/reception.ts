/**
 * The door of a process: a listening socket, and the callers that have not proven yet to be of this job (handshake.ts). A
 * stranger that answers the challenge wrongly is dropped when its hello is complete; one that sends too much, is too slow, or is one
 * too many, is dropped as well. The rest of the process does not notice.
 */
import { createServer, type Server, type Socket } from "node:net";
import { descriptorOf, stopReading } from "../sockets/raw-socket.ts";
import { type CallAnswer, type Hello, type JobSecret, ListenerHandshake, type ServiceCode } from "./handshake.ts";

export const helloMsMax = 5000;
/** Above it the caller that has waited longest is dropped: a hello takes a millisecond, so that one is a stranger. */
export const strangersMax = 64;

interface ReceptionOptions {
  readonly job: JobSecret;
  /** The service, or several; a hello names one. */
  readonly service: ServiceCode | readonly ServiceCode[];
  /** Where to listen; port 0: any free one. */
  readonly place: { readonly address: string; readonly port: number };
  /** Hellos must name the port they are meant for (`wanted`): an earlier process may have listened at another. */
  readonly namesPort?: boolean;
  readonly received: (guest: Guest) => void;
  /** `from`: the caller's address; empty: it has none any more. */
  readonly dropped: (reason: string, from: string) => void;
}

/** A caller of this job. Nothing more is read from the socket, and the answer is still to be sent. */
export interface Guest {
  readonly hello: Hello;
  readonly socket: Socket;
  /** The answer, with its proof. */
  answer(answer: CallAnswer): Buffer;
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
        // Errors of accepting (no descriptors left) concern one caller, which will try again.
        this.#server.on("error", (error) => this.#options.dropped(error.message, ""));
        const bound = this.#server.address();
        this.#port = bound !== null && typeof bound === "object" ? bound.port : 0;
        resolve({ ok: true, port: this.#port });
      });
    });
  }

  /** Of the listening socket: readable when there is a new connection. */
  get descriptor(): number {
    return descriptorOf(this.#server);
  }

  /** Is there a caller that has not said hello yet? */
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
    const from = socket.remoteAddress ?? "";
    socket.destroy();
    this.#options.dropped(reason, from);
  }

  close(): void {
    for (const socket of this.#strangers.keys()) this.#drop(socket, "the process is leaving");
    this.#server.close();
  }
}
