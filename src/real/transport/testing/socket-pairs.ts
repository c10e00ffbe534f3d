/** For the tests of this folder: two connected sockets of this process that the event loop does not read. */
import { connect, createServer, type Socket } from "node:net";
import { descriptorOf, stopReading } from "../sockets/raw-socket.ts";

interface SocketPair {
  readonly sockets: readonly [Socket, Socket];
  readonly fds: readonly [number, number];
}

export function socketPair(): Promise<SocketPair> {
  return new Promise((resolve) => {
    const server = createServer({ noDelay: true, pauseOnConnect: true }, (there) => {
      server.close();
      stopReading(there);
      for (const socket of [here, there]) socket.on("error", () => {});
      resolve({ sockets: [here, there], fds: [descriptorOf(here), descriptorOf(there)] });
    });
    let here: Socket;
    server.listen(0, "127.0.0.1", () => {
      const address = server.address() as { port: number };
      here = connect({ host: "127.0.0.1", port: address.port, noDelay: true });
      here.pause();
      here.on("connect", () => stopReading(here));
    });
  });
}
