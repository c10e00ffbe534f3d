import assert, { deepEqual, equal, match } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { frameHeader } from "../framing/frame.ts";
import {
  CallerHandshake,
  CallVerdict,
  challengeBytes,
  helloBytes,
  ListenerHandshake,
  ServiceCode,
} from "../transport/handshake/handshake.ts";
import { Reception } from "../transport/handshake/reception.ts";
import type { Address } from "../transport/sockets/address.ts";
import { appendFileFrom, fetchFile, isPassing, patiently, storeFile, storeFileFrom } from "./client.ts";
import type { CheckpointImage } from "./file-key.ts";
import { FileHost } from "./host.ts";

const folders: string[] = [];
const doors: Reception[] = [];
after(() => {
  // Of tests that failed.
  for (const door of doors) door.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const job = { id: "a test", secret: new Uint8Array(randomBytes(32)) };

/** An image is good unless it says otherwise. */
async function newHost() {
  const folder = mkdtempSync(join(tmpdir(), "banyan-test-"));
  folders.push(folder);
  const host = new FileHost({
    placeOf({ want, file }) {
      const isMeant = want === "append" ? file.kind === "trace" : file.kind === "checkpoint";
      return isMeant && "rank" in file ? join(folder, "kept", `${file.rank}`) : null;
    },
    verify: async (_, path) => (readFileSync(path, "latin1").includes("bad") ? "it is bad" : ""),
  });
  const door = new Reception({
    job,
    service: ServiceCode.FILES,
    place: { address: "127.0.0.1", port: 0 },
    received: (guest) => void host.serve(guest),
    dropped() {},
  });
  doors.push(door);
  const listening = await door.listen();
  assert(listening.ok);
  const address: Address = { host: "127.0.0.1", port: listening.port };
  return { door, folder, kept: join(folder, "kept"), service: { name: "the keeper", address, job } };
}

const pieces = (rank: number): Uint8Array[][] =>
  Array.from({ length: 5 }, (_, i) => [new Uint8Array(300_000).fill(rank), new Uint8Array(i).fill(7)]);
const bytesOf = (rank: number): Buffer => Buffer.concat(pieces(rank).flat());

/** A connection whose two sides know each other. */
function acquainted({ host, port }: Address): Promise<Socket> {
  const fields = { from: 0, to: 0, incarnation: 0, wanted: 0, generation: 1 };
  const caller = new CallerHandshake(job, { service: ServiceCode.FILES, ...fields });
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.on("error", () => {});
    socket.once("data", (challenge: Buffer) => {
      equal(challenge.length, challengeBytes);
      socket.once("data", (answer: Buffer) => {
        equal(caller.answer(answer)?.verdict, CallVerdict.WELCOME);
        resolve(socket);
      });
      socket.write(caller.hello(challenge)!);
    });
  });
}

const image = (rank: number): CheckpointImage => ({ kind: "checkpoint", set: 2, number: 1, rank });

const framed = (text: string): Buffer => Buffer.concat([frameHeader(0, text.length), Buffer.from(text)]);

describe("V4: a keeper of files", () => {
  it("keeps images of seven ranks at once, and gives them back", async () => {
    const { door, folder, kept, service } = await newHost();
    const ranks = [0, 1, 2, 3, 4, 5, 6];
    const nothing = ranks.map(() => "");
    deepEqual(await Promise.all(ranks.map((rank) => storeFile(service, image(rank), pieces(rank)))), nothing);
    const paths = ranks.map((rank) => join(folder, "back", `${rank}`));
    deepEqual(await Promise.all(ranks.map((rank) => fetchFile(service, image(rank), paths[rank]!))), nothing);
    for (const rank of ranks) equal(Buffer.compare(readFileSync(paths[rank]!), bytesOf(rank)), 0);
    rmSync(join(kept, "0"));
    match(await fetchFile(service, image(0), paths[0]!), /Cannot give the image of rank 0: there is no such file/);
    door.close();
  });

  it("takes one from a file, and reads each back before it says that it has it", async () => {
    const { door, folder, service } = await newHost();
    const file = join(folder, "image");
    writeFileSync(file, "good");
    equal(await storeFileFrom(service, image(1), file), "");
    writeFileSync(file, "bad");
    equal(await storeFileFrom(service, image(2), file), "it is bad");
    writeFileSync(file, "");
    equal(await storeFileFrom(service, image(3), file), "");
    equal(await fetchFile(service, image(3), join(folder, "empty")), "");
    equal(readFileSync(join(folder, "empty"), "utf8"), "");
    door.close();
  });

  it("appends to a file that grows what is new of it", async () => {
    const { door, folder, kept, service } = await newHost();
    const [path, file] = [join(folder, "growing"), { kind: "trace", rank: 5 } as const];
    writeFileSync(path, "one two three");
    equal(await appendFileFrom(service, file, { path, from: 0, to: 3 }), "");
    equal(await appendFileFrom(service, file, { path, from: 3, to: 8 }), "");
    equal(readFileSync(join(kept, "5"), "utf8"), "one two ");
    door.close();
  });

  it("keeps nothing of an image whose sender goes away on the way", async () => {
    const { door, kept, service } = await newHost();
    const socket = await acquainted(service.address);
    const request = framed(JSON.stringify({ want: "store", file: image(0) }));
    await new Promise<void>((resolve) =>
      socket.write(Buffer.concat([request, frameHeader(0, 1000), Buffer.alloc(500)]), () => resolve()),
    );
    socket.end();
    await new Promise((resolve) => socket.once("close", resolve));
    // The host hears of it in its own time.
    while (!existsSync(kept) || readdirSync(kept).length > 0) await nextTurn();
    door.close();
  });

  it("keeps an image that is sent again while a part of the first attempt is still there", async () => {
    const { door, kept, service } = await newHost();
    const socket = await acquainted(service.address);
    socket.write(Buffer.concat([framed(JSON.stringify({ want: "store", file: image(4) })), frameHeader(0, 1000)]));
    while (!existsSync(join(kept, "4.part"))) await nextTurn();
    const stored = storeFile(service, image(4), pieces(4));
    while (!existsSync(join(kept, "4.2.part"))) await nextTurn();
    socket.destroy();
    equal(await stored, "");
    equal(Buffer.compare(readFileSync(join(kept, "4")), bytesOf(4)), 0);
    while (readdirSync(kept).length > 1) await nextTurn();
    door.close();
  });

  it("answers nobody who does not speak its language, takes no names for paths, and keeps what it is there for", async () => {
    const { door, folder, service } = await newHost();
    for (const words of [
      "hello",
      "null",
      '{"want":"fetch"}',
      '{"want":"drop","file":{"kind":"checkpoint","set":0,"number":1,"rank":0}}',
      '{"want":"fetch","file":{"kind":"checkpoint","set":"../..","number":1,"rank":0}}',
      '{"want":"fetch","file":{"kind":"program","name":"../../etc/passwd"}}',
      '{"want":"store","file":{"kind":"trace","rank":0}}',
      '{"want":"append","file":{"kind":"checkpoint","set":0,"number":1,"rank":0}}',
    ]) {
      const socket = await acquainted(service.address);
      socket.write(framed(words));
      const answer: Buffer[] = [];
      socket.on("data", (chunk) => answer.push(chunk));
      await new Promise((resolve) => socket.once("close", resolve));
      equal(answer.length, 0, words);
    }
    equal(existsSync(join(folder, "kept")), false);
    door.close();
  });

  it("keeps and gives nothing to whoever does not know the job's secret", async () => {
    const { door, folder, kept, service } = await newHost();
    equal(await storeFile(service, image(0), pieces(0)), "");
    for (const stranger of [
      { ...job, secret: new Uint8Array(32) },
      { ...job, id: "another" },
    ]) {
      const asStranger = { ...service, job: stranger };
      equal(isPassing(service, await fetchFile(asStranger, image(0), join(folder, "stolen"))), true);
      equal(isPassing(service, await storeFile(asStranger, image(1), pieces(1))), true);
    }
    equal(existsSync(join(folder, "stolen")), false);
    deepEqual(readdirSync(kept).length, 1);
    door.close();
  });

  it("that cannot prove to be one gets no byte of an image", async () => {
    let heard = Buffer.alloc(0);
    const impostor = createServer((socket) => {
      socket.on("error", () => {});
      const handshake = new ListenerHandshake({ ...job, secret: new Uint8Array(32) }, ServiceCode.FILES);
      socket.write(handshake.challenge);
      socket.on("data", (chunk) => {
        heard = Buffer.concat([heard, chunk]);
        // An answer of the right form; only its proof is wrong.
        if (heard.length === helloBytes) handshake.take(heard);
        socket.write(handshake.answer({ verdict: CallVerdict.WELCOME, incarnation: 0, generation: 1 }));
      });
    });
    await new Promise<void>((resolve) => impostor.listen(0, "127.0.0.1", resolve));
    const { port } = impostor.address() as AddressInfo;
    const service = { name: "the keeper", address: { host: "127.0.0.1", port }, job };
    equal(isPassing(service, await storeFile(service, image(0), pieces(0))), true);
    equal(heard.length, helloBytes);
    impostor.close();
  });

  it("what is wrong with a disk, here or there, is said in a sentence", async () => {
    const { door, folder, kept, service } = await newHost();
    const missing = join(folder, "nothing");
    match(await storeFileFrom(service, image(4), missing), /^Cannot store the image of rank 4: there is no such file/);
    equal(await storeFile(service, image(4), pieces(4)), "");
    writeFileSync(join(folder, "file"), "");
    match(await fetchFile(service, image(4), join(folder, "file", "image")), /^Cannot fetch the image of rank 4: /);
    mkdirSync(join(kept, "6.part"));
    match(await storeFile(service, image(6), pieces(6)), /^Cannot keep the image of rank 6: /);
    door.close();
  });

  it("that is started again elsewhere is found there", async () => {
    const [first, second] = [await newHost(), await newHost()];
    equal(await storeFile(second.service, image(0), pieces(0)), "");
    first.door.close();
    const services = [{ ...first.service, address: null }, first.service, second.service];
    const path = join(first.folder, "back");
    const tried: number[] = [];
    const next = () => services[tried.push(tried.length) - 1]!;
    equal(await patiently(next, (service) => fetchFile(service, image(0), path)), "");
    deepEqual(tried, [0, 1, 2]);
    equal(Buffer.compare(readFileSync(path), bytesOf(0)), 0);
    second.door.close();
  });

  it("that is not there is worth another try", async () => {
    const service = { name: "the keeper", address: null, job };
    const problem = await storeFile(service, image(0), pieces(0));
    equal(problem, "the keeper cannot be reached");
    equal(isPassing(service, problem), true);
    equal(isPassing(service, "the disk is full"), false);
  });
});
