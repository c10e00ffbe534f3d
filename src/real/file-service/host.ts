/**
 * The keeper's end of the file service: takes files of a job from nodes and gives them to nodes. The dispatcher keeps all kinds of files, a
 * checkpoint server keeps images. The owner of the host decides which files there are, and their paths.
 *
 * Callers have proven that they know the job's secret (transport/handshake). A connection that ends before its file is complete leaves nothing
 * behind, except of a file that grows: the bytes that have arrived stay. Nothing here blocks the thread.
 */
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { unreachable } from "../../core/base/assert.ts";
import { imageFileError } from "../image/file-error.ts";
import { CallVerdict } from "../transport/handshake/handshake.ts";
import type { Guest } from "../transport/handshake/reception.ts";
import { startReading } from "../transport/sockets/raw-socket.ts";
import { ArrivingFile } from "./arriving-file.ts";
import { encoded, type FileKey, type FileRequest, fileText, requestIn } from "./file-key.ts";
import { Frames } from "./frames.ts";

interface FileHostOptions {
  /** The path of the requested file; null: the request is not allowed here. */
  placeOf(request: FileRequest): string | null;
  /** A file was stored: the problem with it, empty if there is none. */
  verify(file: FileKey, path: string): Promise<string>;
}

const pieceBytes = 1 << 20;

export class FileHost {
  readonly #options: FileHostOptions;

  constructor(options: FileHostOptions) {
    this.#options = options;
  }

  /** Serves a caller until it goes, or sends anything but a request. */
  async serve({ socket, answer }: Guest): Promise<void> {
    const frames = new Frames(socket);
    socket.write(answer({ verdict: CallVerdict.WELCOME, incarnation: 0, generation: 0 }));
    startReading(socket);
    for (let frame = await frames.next(); frame !== null; frame = await frames.next()) {
      const request = requestIn(frame);
      const path = request === null ? null : this.#options.placeOf(request);
      if (request === null || path === null) break;
      if (!(await this.#answer(frames, request, path))) break;
    }
    socket.destroy();
  }

  /** False: the caller is gone. */
  #answer(frames: Frames, { want, file }: FileRequest, path: string): Promise<boolean> {
    switch (want) {
      case "fetch":
        return give(frames, file, path);
      case "append":
        return this.#take(frames, file, () => grow(path));
      case "store":
        return this.#take(frames, file, () => this.#arrive(file, path));
      default:
        return unreachable(want);
    }
  }

  async #arrive(file: FileKey, path: string): Promise<Target> {
    const arriving = await ArrivingFile.begin(path);
    return {
      write: (piece) => arriving.write(piece),
      end: async () => {
        await arriving.commit();
        return this.#options.verify(file, path);
      },
      discard: () => arriving.discard(),
    };
  }

  async #take(frames: Frames, file: FileKey, begin: () => Promise<Target>): Promise<boolean> {
    const what = `Cannot keep ${fileText(file)}`;
    let problem = "";
    const note = (error: unknown): void => {
      problem ||= textOf(what, error);
    };
    const target = await begin().catch(note);
    let piece: Buffer | null;
    // Read to the end in any case: the sender hears of a problem when it has sent everything.
    for (piece = await frames.next(); piece !== null && piece.length > 0; piece = await frames.next()) {
      if (problem === "") await target?.write(piece).catch(note);
    }
    if (problem === "" && piece !== null) problem = (await target?.end().catch(note)) ?? problem;
    else await target?.discard().catch(() => {});
    return piece !== null && frames.write(encoded({ problem }));
  }
}

/** The destination of the pieces of a file. */
interface Target {
  write(piece: Buffer): Promise<void>;
  /** All pieces have come: the problem, empty if there is none. */
  end(): Promise<string>;
  /** Called instead of `end` when pieces are missing. */
  discard(): Promise<void>;
}

async function grow(path: string): Promise<Target> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, "a", 0o600);
  return {
    write: (piece) => file.writeFile(piece),
    end: async () => {
      await file.close();
      return "";
    },
    discard: () => file.close(),
  };
}

/** False: the caller is gone. */
async function give(frames: Frames, key: FileKey, path: string): Promise<boolean> {
  const file = await open(path, "r").catch((error: unknown) => textOf(`Cannot give ${fileText(key)}`, error));
  if (typeof file === "string") return frames.write(encoded({ problem: file }));
  try {
    await frames.write(encoded({ problem: "" }));
    const piece = Buffer.alloc(pieceBytes);
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, pieceBytes);
      if (!(await frames.write([piece.subarray(0, bytesRead)]))) return false;
      if (bytesRead === 0) return true;
    }
  } finally {
    await file.close();
  }
}

function textOf(what: string, error: unknown): string {
  const known = imageFileError(what, error);
  return known instanceof Error ? known.message : `${what}: ${String(error)}`;
}
