/** For the tests of this folder: stands before a node's port and cuts the connections that go through it. */
import { connect, createServer, type Server, type Socket } from "node:net";

export class CuttingProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  cuts = 0;

  constructor(port: number) {
    this.#server = createServer({ noDelay: true }, (here) => this.#join(here, port));
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as { port: number }).port;
  }

  #join(here: Socket, port: number): void {
    const there = connect({ host: "127.0.0.1", port, noDelay: true });
    const pair = [here, there] as const;
    this.#pairs.add(pair);
    for (const socket of pair) {
      // A reset is not the end of a stream: nobody would tell the other side.
      socket.on("error", () => {
        for (const each of pair) each.destroy();
      });
      socket.on("close", () => this.#pairs.delete(pair));
    }
    here.pipe(there);
    there.pipe(here);
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** Cuts one of the connections, a moment after it was made or long afterwards; `hard`: what is under way is lost. */
  cut(which: number, hard: boolean): void {
    const pair = [...this.#pairs][which % this.#pairs.size]!;
    this.cuts++;
    this.#pairs.delete(pair);
    for (const socket of pair) {
      if (hard) socket.resetAndDestroy();
      else socket.destroy();
    }
  }

  close(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    this.#server.close();
  }
}
