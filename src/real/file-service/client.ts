/** A node's end: images go to a checkpoint server while they are being made, and come back for a restart. */
import { closeSync, createReadStream, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import type { Piece } from "../../image/encoder.ts";
import { ImageError } from "../../image/image-error.ts";
import { fileError } from "../image/file-error.ts";
import { answerMsMax } from "../transport/handshake/call.ts";
import {
  answerBytes,
  CallerHandshake,
  challengeBytes,
  type Hello,
  type Job,
  Service,
  Verdict,
} from "../transport/handshake/handshake.ts";
import { Frames } from "./frames.ts";
import { answerIn, encoded, type ImageKey, type Request } from "./image-key.ts";

/** Where a server is, and what it is known by. */
export interface Server {
  readonly socketPath: string;
  readonly job: Job;
}

/** What is wrong; empty: the server has it, and has read it back. The next piece is made while this one travels. */
export async function storeImage(server: Server, key: ImageKey, pieces: Iterable<Piece>): Promise<string> {
  return withServer(server, { kind: "store", ...key }, async (frames) => {
    for (const piece of pieces) if (!(await frames.write(piece))) return gone;
    await frames.write([]);
    const answer = await frames.next();
    return answer === null ? gone : answerIn(answer).problem;
  });
}

/** The same of an image that is on this node's disk. */
export async function storeImageFile(server: Server, key: ImageKey, path: string): Promise<string> {
  return withServer(server, { kind: "store", ...key }, async (frames) => {
    for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) {
      if (!(await frames.write([piece as Buffer]))) return gone;
    }
    await frames.write([]);
    const answer = await frames.next();
    return answer === null ? gone : answerIn(answer).problem;
  });
}

/** What is wrong; empty: it is there. */
export async function fetchImage(server: Server, key: ImageKey, path: string): Promise<string> {
  return withServer(server, { kind: "fetch", ...key }, async (frames) => {
    const answer = await frames.next();
    if (answer === null) return gone;
    const { problem } = answerIn(answer);
    return problem === "" ? receive(frames, path) : problem;
  });
}

/** A file that is not whole never has the name. */
async function receive(frames: Frames, path: string): Promise<string> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const part = `${path}.part`;
  rmSync(part, { force: true });
  const file = openSync(part, "wx", 0o600);
  let piece: Buffer | null;
  try {
    for (piece = await frames.next(); piece !== null && piece.length > 0; piece = await frames.next()) {
      for (let done = 0; done < piece.length; ) done += writeSync(file, piece, done);
    }
  } finally {
    closeSync(file);
  }
  if (piece === null) {
    rmSync(part, { force: true });
    return gone;
  }
  renameSync(part, path);
  return "";
}

const gone = "the checkpoint server is gone";
const unreachable = "the checkpoint server cannot be reached";

/** Is it worth trying again? */
export const isPassing = (problem: string): boolean => problem === gone || problem === unreachable;

async function withServer(
  { socketPath, job }: Server,
  request: Request,
  use: (frames: Frames) => Promise<string>,
): Promise<string> {
  const socket = await connected(socketPath);
  if (socket === null) return unreachable;
  try {
    const frames = new Frames(socket);
    if (!(await shakeHands(socket, frames, job))) return unreachable;
    return (await frames.write(encoded(request))) ? await use(frames) : gone;
  } catch (error) {
    // This node's own disk.
    const known = fileError(`Cannot ${request.kind} the image of rank ${request.rank}`, error);
    if (known instanceof ImageError) return known.message;
    throw error;
  } finally {
    socket.destroy();
  }
}

function connected(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(socket));
    socket.once("error", () => resolve(null));
  });
}

/** Nothing of an image leaves before the server has proven that it is of this job. */
async function shakeHands(socket: Socket, frames: Frames, job: Job): Promise<boolean> {
  const timer = setTimeout(() => socket.destroy(), answerMsMax);
  try {
    const hello: Hello = { service: Service.IMAGES, from: 0, to: 0, incarnation: 0, wanted: 0, generation: 1 };
    const handshake = new CallerHandshake(job, hello);
    const challenge = await frames.raw(challengeBytes);
    const said = challenge === null ? null : handshake.hello(challenge);
    if (said === null || socket.destroyed) return false;
    socket.write(said);
    const bytes = await frames.raw(answerBytes);
    return bytes !== null && handshake.answer(bytes)?.verdict === Verdict.WELCOME;
  } finally {
    clearTimeout(timer);
  }
}
