import { deepEqual, ok } from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { DelayingProxy } from "./delaying-proxy.ts";

const host = "127.0.0.1";

/** An echo server behind a proxy. */
async function echo(): Promise<{ proxy: DelayingProxy; socket: Socket; close(): void }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const proxy = new DelayingProxy();
  proxy.leadTo({ host, port: (server.address() as { port: number }).port });
  const socket = connect({ host, port: await proxy.listen(host), noDelay: true });
  await once(socket, "connect");
  return { proxy, socket, close: () => [socket.destroy(), proxy.close(), server.close()] };
}

async function roundTripMs(socket: Socket): Promise<number> {
  const beganMs = performance.now();
  socket.write("x");
  await once(socket, "data");
  return performance.now() - beganMs;
}

test("X3: a slow link takes so much longer, both ways, until it is restored", async () => {
  const { proxy, socket, close } = await echo();
  await roundTripMs(socket);
  proxy.delayMs = 60;
  ok((await roundTripMs(socket)) >= 119);
  proxy.delayMs = 0;
  // While the link is slow no round trip is shorter; on a loaded machine some are longer.
  let tries = 0;
  while ((await roundTripMs(socket)) >= 119) ok(++tries < 100, "the link stays slow");
  close();
});

test("X3: nothing overtakes on a link whose delay changes, nothing is lost, and an end is passed on", async () => {
  const { proxy, socket, close } = await echo();
  const got: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => got.push(chunk));
  const sent = Array.from({ length: 60 }, (_, i) => Buffer.alloc(50_000 + 1000 * i, i));
  for (const [i, chunk] of sent.entries()) {
    proxy.delayMs = (i * 7) % 20;
    if (!socket.write(chunk)) await once(socket, "drain");
  }
  socket.end();
  await once(socket, "end");
  deepEqual(Buffer.concat(got), Buffer.concat(sent));
  close();
});
