/**
 * The node's end of the file service: sends files to their keeper while they are being made, and fetches files from it. Each file has a
 * connection of its own, so that none waits behind a large one. A piece is made, or read, when the one before is on its way: at most two are
 * in memory.
 */
import { closeSync, createReadStream, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Piece } from "../../image/encoder.ts";
import { ImageError } from "../../image/image-error.ts";
import { imageFileError } from "../image/file-error.ts";
import { answerMsMax } from "../transport/handshake/call.ts";
import {
  answerBytes,
  CallerHandshake,
  CallVerdict,
  challengeBytes,
  type Hello,
  type JobSecret,
  ServiceCode,
} from "../transport/handshake/handshake.ts";
import type { Address } from "../transport/sockets/address.ts";
import { answerIn, encoded, type FileKey, type FileRequest, fileText } from "./file-key.ts";
import { Frames } from "./frames.ts";

/** A keeper of files: the dispatcher or a checkpoint server. */
export interface FileService {
  /** For messages to people: "the checkpoint server". */
  readonly name: string;
  /** Null: it is not there at the moment. */
  readonly address: Address | null;
  /** The secret by which both know each other. */
  readonly job: JobSecret;
}

const pieceBytes = 1 << 20;
const patienceMs = 10_000;
const retryMs = 50;

/** Returns the problem; empty: the service has the file. The next piece is made while this one travels. */
export function storeFile(service: FileService, file: FileKey, pieces: Iterable<Piece>): Promise<string> {
  return deliver(service, { want: "store", file }, pieces);
}

/** The same of a file that is on this node's disk. */
export function storeFileFrom(service: FileService, file: FileKey, path: string): Promise<string> {
  return deliver(service, { want: "store", file }, piecesOf({ path, from: 0, to: Number.POSITIVE_INFINITY }));
}

/** Sends further bytes of a file that grows. Returns the problem; empty: the service has them. */
export function appendFileFrom(service: FileService, file: FileKey, part: FilePart): Promise<string> {
  return deliver(service, { want: "append", file }, piecesOf(part));
}

interface FilePart {
  readonly path: string;
  readonly from: number;
  /** Behind the last byte. */
  readonly to: number;
}

/** Returns the problem; empty: the file is at `path`, complete. */
export function fetchFile(service: FileService, file: FileKey, path: string): Promise<string> {
  return withService(service, { want: "fetch", file }, async (frames) => {
    const problem = await answered(service, frames);
    return problem === "" ? receive(service, frames, path) : problem;
  });
}

/**
 * Repeats an attempt while the service cannot be reached or goes away, for a while: a service that was lost is started again, perhaps at another
 * address, and strangers may crowd its port. Only for attempts that can be repeated: those about files that are complete or absent.
 */
export async function patiently(
  serviceNow: () => FileService,
  attempt: (service: FileService) => Promise<string>,
): Promise<string> {
  for (let waitedMs = 0; ; waitedMs += retryMs) {
    const service = serviceNow();
    const problem = await attempt(service);
    if (!isPassing(service, problem) || waitedMs >= patienceMs) return problem;
    await sleep(retryMs);
  }
}

/** Is it worth trying again? */
export const isPassing = (service: FileService, problem: string): boolean =>
  problem === gone(service) || problem === unreachable(service);

const gone = ({ name }: FileService): string => `${name} is gone`;
const unreachable = ({ name }: FileService): string => `${name} cannot be reached`;

async function* piecesOf({ path, from, to }: FilePart): AsyncGenerator<Piece> {
  const stream = createReadStream(path, { start: from, end: to - 1, highWaterMark: pieceBytes });
  for await (const piece of stream) yield [piece as Buffer];
}

function deliver(
  service: FileService,
  request: FileRequest,
  pieces: Iterable<Piece> | AsyncIterable<Piece>,
): Promise<string> {
  return withService(service, request, async (frames) => {
    for await (const piece of pieces) {
      // An empty frame is the end.
      if (piece.some(({ length }) => length > 0) && !(await frames.write(piece))) return gone(service);
    }
    await frames.write([]);
    return answered(service, frames);
  });
}

async function answered(service: FileService, frames: Frames): Promise<string> {
  const frame = await frames.next();
  if (frame === null) return gone(service);
  return answerIn(frame)?.problem ?? `the answer of ${service.name} cannot be understood`;
}

/** A file has its name only when it is complete. */
async function receive(service: FileService, frames: Frames, path: string): Promise<string> {
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
    return gone(service);
  }
  renameSync(part, path);
  return "";
}

async function withService(
  service: FileService,
  request: FileRequest,
  use: (frames: Frames) => Promise<string>,
): Promise<string> {
  const socket = service.address === null ? null : await connected(service.address);
  if (socket === null) return unreachable(service);
  try {
    const frames = new Frames(socket);
    if (!(await shakeHands(socket, frames, service.job))) return unreachable(service);
    return (await frames.write(encoded(request))) ? await use(frames) : gone(service);
  } catch (error) {
    // An error of this node's own disk.
    const known = imageFileError(`Cannot ${request.want} ${fileText(request.file)}`, error);
    if (known instanceof ImageError) return known.message;
    throw error;
  } finally {
    socket.destroy();
  }
}

function connected({ host, port }: Address): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, noDelay: true }, () => resolve(socket));
    socket.once("error", () => resolve(null));
  });
}

/** Nothing of a file leaves before the service has proven that it is of this job. */
async function shakeHands(socket: Socket, frames: Frames, job: JobSecret): Promise<boolean> {
  const timer = setTimeout(() => socket.destroy(), answerMsMax);
  try {
    const hello: Hello = { service: ServiceCode.FILES, from: 0, to: 0, incarnation: 0, wanted: 0, generation: 1 };
    const handshake = new CallerHandshake(job, hello);
    const challenge = await frames.raw(challengeBytes);
    const said = challenge === null ? null : handshake.hello(challenge);
    if (said === null || socket.destroyed) return false;
    socket.write(said);
    const bytes = await frames.raw(answerBytes);
    return bytes !== null && handshake.answer(bytes)?.verdict === CallVerdict.WELCOME;
  } finally {
    clearTimeout(timer);
  }
}
