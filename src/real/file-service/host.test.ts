import { deepEqual, equal, match } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import {
  answerBytes,
  CallerHandshake,
  challengeBytes,
  helloBytes,
  ListenerHandshake,
  Service,
  Verdict,
} from "../transport/handshake/handshake.ts";
import { fetchImage, isPassing, storeImage, storeImageFile } from "./client.ts";
import { CheckpointHost } from "./host.ts";

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const job = { id: "a test", secret: new Uint8Array(randomBytes(32)) };

/** An image is good unless it says otherwise. */
async function newHost() {
  const folder = mkdtempSync(join(tmpdir(), "banyan-test-"));
  folders.push(folder);
  const socketPath = join(folder, "socket");
  const verify = async (path: string) => (readFileSync(path, "latin1").includes("bad") ? "it is bad" : "");
  const host = new CheckpointHost({ job, folder: join(folder, "kept"), socketPath, verify });
  equal(await host.listen(), "");
  return { host, folder, socketPath, server: { socketPath, job } };
}

const pieces = (rank: number): Uint8Array[][] =>
  Array.from({ length: 5 }, (_, i) => [new Uint8Array(300_000).fill(rank), new Uint8Array(i).fill(7)]);
const bytesOf = (rank: number): Buffer => Buffer.concat(pieces(rank).flat());

/** A connection whose two sides know each other. */
function acquainted(socketPath: string): Promise<Socket> {
  const fields = { from: 0, to: 0, incarnation: 0, wanted: 0, generation: 1 };
  const caller = new CallerHandshake(job, { service: Service.IMAGES, ...fields });
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.on("error", () => {});
    socket.once("data", (challenge: Buffer) => {
      equal(challenge.length, challengeBytes);
      socket.once("data", (answer: Buffer) => {
        equal(caller.answer(answer)?.verdict, Verdict.WELCOME);
        resolve(socket);
      });
      socket.write(caller.hello(challenge)!);
    });
  });
}

describe("V4: a checkpoint server", () => {
  it("keeps images of seven ranks at once, and gives them back", async () => {
    const { host, folder, server } = await newHost();
    const ranks = [0, 1, 2, 3, 4, 5, 6];
    const key = (rank: number) => ({ set: 2, number: 1, rank });
    deepEqual(
      await Promise.all(ranks.map((rank) => storeImage(server, key(rank), pieces(rank)))),
      ranks.map(() => ""),
    );
    const paths = ranks.map((rank) => join(folder, "back", `${rank}`));
    deepEqual(
      await Promise.all(ranks.map((rank) => fetchImage(server, key(rank), paths[rank]!))),
      ranks.map(() => ""),
    );
    for (const rank of ranks) equal(Buffer.compare(readFileSync(paths[rank]!), bytesOf(rank)), 0);
    host.drop(2, 1);
    match(await fetchImage(server, key(0), paths[0]!), /Cannot give image .*there is no such file/);
    host.close();
  });

  it("takes one from a file, and reads each back before it says that it has it", async () => {
    const { host, folder, server } = await newHost();
    const file = join(folder, "image");
    writeFileSync(file, "good");
    const key = { set: 0, number: 3, rank: 1 };
    equal(await storeImageFile(server, key, file), "");
    writeFileSync(file, "bad");
    equal(await storeImageFile(server, { ...key, rank: 2 }, file), "it is bad");
    host.close();
  });

  it("keeps nothing of an image whose sender goes away on the way", async () => {
    const { host, folder, server } = await newHost();
    const socket = await acquainted(server.socketPath);
    const request = Buffer.from('{"kind":"store","set":0,"number":1,"rank":0}');
    const length = Buffer.alloc(4);
    length.writeUInt32LE(request.length);
    const half = Buffer.alloc(4);
    half.writeUInt32LE(1000);
    await new Promise<void>((resolve) =>
      socket.write(Buffer.concat([length, request, half, Buffer.alloc(500)]), () => resolve()),
    );
    socket.end();
    await new Promise((resolve) => socket.once("close", resolve));
    deepEqual(readdirSync(join(folder, "kept", "set-0", "1")), []);
    host.close();
  });

  it("answers nobody who does not speak its language, and takes no names for paths", async () => {
    const { host, folder, server } = await newHost();
    for (const text of ["hello", '{"kind":"fetch","set":"../..","number":1,"rank":0}', '{"kind":"drop"}', "null"]) {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(text.length);
      const socket = await acquainted(server.socketPath);
      socket.write(Buffer.concat([length, Buffer.from(text)]));
      const answer: Buffer[] = [];
      socket.on("data", (chunk) => answer.push(chunk));
      await new Promise((resolve) => socket.once("close", resolve));
      equal(answer.length, 0, text);
    }
    equal(existsSync(join(folder, "kept")), false);
    host.close();
  });

  it("keeps and gives nothing to whoever does not know the job's secret", async () => {
    const { host, folder, server } = await newHost();
    const key = { set: 0, number: 1, rank: 0 };
    equal(await storeImage(server, key, pieces(0)), "");
    for (const stranger of [
      { ...job, secret: new Uint8Array(32) },
      { ...job, id: "another" },
    ]) {
      const asStranger = { socketPath: server.socketPath, job: stranger };
      equal(isPassing(await fetchImage(asStranger, key, join(folder, "stolen"))), true);
      equal(isPassing(await storeImage(asStranger, { ...key, rank: 1 }, pieces(1))), true);
    }
    equal(existsSync(join(folder, "stolen")), false);
    deepEqual(readdirSync(join(folder, "kept", "set-0", "1")).length, 1);
    host.close();
  });

  it("that cannot prove to be one gets no byte of an image", async () => {
    const folder = mkdtempSync(join(tmpdir(), "banyan-test-"));
    folders.push(folder);
    const socketPath = join(folder, "socket");
    let heard = Buffer.alloc(0);
    const impostor = createServer((socket) => {
      socket.on("error", () => {});
      socket.write(new ListenerHandshake({ ...job, secret: new Uint8Array(32) }, Service.IMAGES).challenge);
      socket.on("data", (chunk) => {
        heard = Buffer.concat([heard, chunk]);
        socket.write(randomBytes(answerBytes));
      });
    });
    await new Promise<void>((resolve) => impostor.listen(socketPath, resolve));
    equal(isPassing(await storeImage({ socketPath, job }, { set: 0, number: 1, rank: 0 }, pieces(0))), true);
    equal(heard.length, helloBytes);
    impostor.close();
  });

  it("what is wrong with the node's own disk is said in a sentence", async () => {
    const { host, folder, server } = await newHost();
    const key = { set: 0, number: 1, rank: 4 };
    match(
      await storeImageFile(server, key, join(folder, "nothing")),
      /^Cannot store the image of rank 4: there is no such file/,
    );
    equal(await storeImage(server, key, pieces(4)), "");
    writeFileSync(join(folder, "file"), "");
    match(await fetchImage(server, key, join(folder, "file", "image")), /^Cannot fetch the image of rank 4: /);
    host.close();
  });

  it("that is not there is worth another try", async () => {
    const problem = await storeImage({ socketPath: "/nowhere/at/all", job }, { set: 0, number: 1, rank: 0 }, pieces(0));
    equal(problem, "the checkpoint server cannot be reached");
    equal(isPassing(problem), true);
    equal(isPassing("the disk is full"), false);
  });
});
