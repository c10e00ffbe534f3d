import { deepEqual, equal, match } from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fetchImage, isPassing, storeImage, storeImageFile } from "./client.ts";
import { CheckpointHost } from "./host.ts";

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** An image is good unless it says otherwise. */
async function newHost() {
  const folder = mkdtempSync(join(tmpdir(), "banyan-test-"));
  folders.push(folder);
  const socketPath = join(folder, "socket");
  const verify = async (path: string) => (readFileSync(path, "latin1").includes("bad") ? "it is bad" : "");
  const host = new CheckpointHost({ folder: join(folder, "kept"), socketPath, verify });
  await host.listen();
  return { host, folder, socketPath };
}

const pieces = (rank: number): Uint8Array[][] =>
  Array.from({ length: 5 }, (_, i) => [new Uint8Array(300_000).fill(rank), new Uint8Array(i).fill(7)]);
const bytesOf = (rank: number): Buffer => Buffer.concat(pieces(rank).flat());

describe("V4: a checkpoint server", () => {
  it("keeps images of seven ranks at once, and gives them back", async () => {
    const { host, folder, socketPath } = await newHost();
    const ranks = [0, 1, 2, 3, 4, 5, 6];
    const key = (rank: number) => ({ set: 2, number: 1, rank });
    deepEqual(
      await Promise.all(ranks.map((rank) => storeImage(socketPath, key(rank), pieces(rank)))),
      ranks.map(() => ""),
    );
    const paths = ranks.map((rank) => join(folder, "back", `${rank}`));
    deepEqual(
      await Promise.all(ranks.map((rank) => fetchImage(socketPath, key(rank), paths[rank]!))),
      ranks.map(() => ""),
    );
    for (const rank of ranks) equal(Buffer.compare(readFileSync(paths[rank]!), bytesOf(rank)), 0);
    host.drop(2, 1);
    match(await fetchImage(socketPath, key(0), paths[0]!), /Cannot give image .*there is no such file/);
    host.close();
  });

  it("takes one from a file, and reads each back before it says that it has it", async () => {
    const { host, folder, socketPath } = await newHost();
    const file = join(folder, "image");
    writeFileSync(file, "good");
    const key = { set: 0, number: 3, rank: 1 };
    equal(await storeImageFile(socketPath, key, file), "");
    writeFileSync(file, "bad");
    equal(await storeImageFile(socketPath, { ...key, rank: 2 }, file), "it is bad");
    host.close();
  });

  it("keeps nothing of an image whose sender goes away on the way", async () => {
    const { host, folder, socketPath } = await newHost();
    const socket = connect(socketPath);
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
    const { host, folder, socketPath } = await newHost();
    for (const text of ["hello", '{"kind":"fetch","set":"../..","number":1,"rank":0}', '{"kind":"drop"}', "null"]) {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(text.length);
      const socket = connect(socketPath);
      socket.on("error", () => {});
      socket.write(Buffer.concat([length, Buffer.from(text)]));
      const answer: Buffer[] = [];
      socket.on("data", (chunk) => answer.push(chunk));
      await new Promise((resolve) => socket.once("close", resolve));
      equal(answer.length, 0, text);
    }
    equal(existsSync(join(folder, "kept")), false);
    host.close();
  });

  it("what is wrong with the node's own disk is said in a sentence", async () => {
    const { host, folder, socketPath } = await newHost();
    const key = { set: 0, number: 1, rank: 4 };
    match(
      await storeImageFile(socketPath, key, join(folder, "nothing")),
      /^Cannot store the image of rank 4: there is no such file/,
    );
    equal(await storeImage(socketPath, key, pieces(4)), "");
    writeFileSync(join(folder, "file"), "");
    match(await fetchImage(socketPath, key, join(folder, "file", "image")), /^Cannot fetch the image of rank 4: /);
    host.close();
  });

  it("that is not there is worth another try", async () => {
    const problem = await storeImage("/nowhere/at/all", { set: 0, number: 1, rank: 0 }, pieces(0));
    equal(problem, "the checkpoint server cannot be reached");
    equal(isPassing(problem), true);
    equal(isPassing("the disk is full"), false);
  });
});
