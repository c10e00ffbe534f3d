/** A node killed by a real SIGKILL in the middle of a message: the others go on, and hear nothing but the end. */
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { PacketKind } from "../../../core/wire/packet.ts";
import type { Address } from "../sockets/address.ts";
import { newTcpWorld, TcpRank, testJob } from "../testing/tcp-world.ts";
import { TcpHost } from "./tcp-host.ts";

const victimRank = 2;
const bytes = 4 << 20;

/** The other process: sends large messages to rank 0 for ever. */
async function victim(): Promise<void> {
  const report = () => {};
  const host = new TcpHost({ job: testJob, ranks: 3, ranksHere: [victimRank], ring: () => {}, report });
  await host.listen();
  process.send!(host.port);
  const [book] = (await once(process, "message")) as [Address[]];
  host.setAddressBook(book);
  const rank = new TcpRank(victimRank, 3, host, "koffi");
  const from = rank.memory.allocate(bytes);
  process.on("disconnect", () => process.exit(0));
  for (let offset = 0; ; ) {
    offset = (offset + rank.transport.push(0, 1, from, offset, bytes - offset)) % bytes;
    rank.look();
    rank.arrivals.length = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

if (process.env["BANYAN_TEST_VICTIM"] === "1") await victim();
else {
  for (let round = 0; round < 3; round++) {
    test(`X7: a node killed in the middle of a message harms nobody else (${round})`, async () => {
      const world = await newTcpWorld(2, "koffi", 3);
      const env: NodeJS.ProcessEnv = { ...process.env, BANYAN_TEST_VICTIM: "1" };
      delete env["NODE_TEST_CONTEXT"];
      const child: ChildProcess = fork(fileURLToPath(import.meta.url), { env });
      const [port] = (await once(child, "message")) as [number];
      const book = [...world.hosts.map((host) => host.port), port].map((at) => ({ host: "127.0.0.1", port: at }));
      for (const host of world.hosts) host.setAddressBook(book);
      child.send(book);
      const [a, b] = world.ranks as [TcpRank, TcpRank];
      const target = a.memory.allocate(bytes);
      a.transport.setLanding({ landingOf: () => target });
      let sent = 0;
      const talk = () => {
        if (b.send(0, sent)) sent++;
        return a.arrivals.filter(({ source }) => source === 1).length;
      };
      const pieces = () => a.arrivals.filter(({ kind }) => kind === PacketKind.FRAGMENT).length;
      await world.until(() => talk() > 5 && pieces() > round);
      child.kill("SIGKILL");
      const [, signal] = await once(child, "exit");
      assert.equal(signal, "SIGKILL");
      // Nobody has said that it is dead: packets wait for it, and everything else goes on.
      a.send(victimRank, 1);
      const before = talk();
      await world.until(() => talk() > before + 20);
      a.transport.peerFailed(victimRank);
      for (const host of world.hosts) host.peerFailed(victimRank);
      for (let i = 0; i < 500; i++) assert.ok(a.send(victimRank, i, new Uint8Array(2000)));
      const after = talk();
      await world.until(() => talk() > after + 20);
      assert.deepEqual(world.events, []);
      world.close();
    });
  }
}
