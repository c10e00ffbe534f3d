/**
 * Stands before a port and passes everything on, both ways and in order, after a delay. Bytes on their way when the delay
 * changes keep their time; no byte overtakes another.
 */
import { connect, createServer, type Server, type Socket } from "node:net";

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** At most so many bytes of a direction are on their way; then its source waits. */
const bytesMax = 4 << 20;

export class DelayingProxy {
  delayMs = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: Target | undefined;

  constructor() {
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (here) => this.#join(here));
  }

  async listen(host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, host, resolve);
    });
    return (this.#server.address() as { port: number }).port;
  }

  /** The delay of connections that are made from now on. */
  leadTo(target: Target): void {
    this.#target = target;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(here: Socket): void {
    // A client that connects too early tries again.
    if (this.#target === undefined) {
      here.destroy();
      return;
    }
    const there = connect({ ...this.#target, noDelay: true, allowHalfOpen: true });
    for (const [socket, other] of [
      [here, there],
      [there, here],
    ] as const) {
      this.#sockets.add(socket);
      // A broken connection breaks at once, without delay: a dead process is dead on all its connections.
      socket.on("error", () => other.destroy());
      socket.on("close", (hadError) => {
        this.#sockets.delete(socket);
        if (hadError) other.destroy();
      });
    }
    this.#pass(here, there);
    this.#pass(there, here);
  }

  #pass(from: Socket, to: Socket): void {
    const waiting: { readonly dueMs: number; readonly chunk: Buffer | null }[] = [];
    let bytes = 0;
    let timer: NodeJS.Timeout | undefined;
    const send = (chunk: Buffer | null): void => {
      if (chunk === null) to.end();
      else if (!to.destroyed) to.write(chunk);
      bytes -= chunk?.length ?? 0;
    };
    const deliver = (): void => {
      timer = undefined;
      while (waiting.length > 0 && waiting[0]!.dueMs <= performance.now()) send(waiting.shift()!.chunk);
      if (bytes < bytesMax && to.writableLength < bytesMax) from.resume();
      if (waiting.length > 0) timer = setTimeout(deliver, Math.max(0, waiting[0]!.dueMs - performance.now()));
    };
    const take = (chunk: Buffer | null): void => {
      waiting.push({ dueMs: performance.now() + this.delayMs, chunk });
      bytes += chunk?.length ?? 0;
      if (bytes >= bytesMax || to.writableLength >= bytesMax) from.pause();
      if (timer === undefined) deliver();
    };
    from.on("data", (chunk: Buffer) => take(chunk));
    from.on("end", () => take(null));
    to.on("drain", () => {
      if (bytes < bytesMax) from.resume();
    });
  }
}
