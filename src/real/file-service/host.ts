/**
 * The host of a checkpoint server: takes images as they are being made, writes them to its own disk, reads each back before it
 * says that it has it, and gives them to whoever restarts. Which of them count is decided elsewhere (core/service/checkpoint-server.ts).
 *
 * It listens on a socket in the job's folder, which only the job's user can enter, and hears only whoever knows the job's secret
 * (transport/handshake). A connection that ends before its image does leaves nothing behind.
 */
import { closeSync, mkdirSync, openSync, readSync, rmSync } from "node:fs";
import { fileError } from "../image/file-error.ts";
import { PartFile } from "../image/part-file.ts";
import { imagePath } from "../node/image-path.ts";
import { type Job, Service, Verdict } from "../transport/handshake/handshake.ts";
import { type Guest, Reception } from "../transport/handshake/reception.ts";
import { startReading } from "../transport/tcp/raw-socket.ts";
import { Frames } from "./frames.ts";
import { encoded, folderOfCheckpoint, type ImageKey, requestIn } from "./image-key.ts";

interface CheckpointHostOptions {
  readonly job: Job;
  /** For the images. */
  readonly folder: string;
  readonly socketPath: string;
  /** Reads an image: what is wrong with it, empty if nothing. */
  verify(path: string): Promise<string>;
}

const pieceBytes = 1 << 20;

export class CheckpointHost {
  readonly #options: CheckpointHostOptions;
  readonly #door: Reception;

  constructor(options: CheckpointHostOptions) {
    this.#options = options;
    this.#door = new Reception({
      job: options.job,
      service: Service.IMAGES,
      place: { path: options.socketPath },
      received: (guest) => void this.#serve(guest),
      dropped() {},
    });
  }

  /** What is wrong; empty: it listens. */
  async listen(): Promise<string> {
    // Of a life before.
    rmSync(this.#options.socketPath, { force: true });
    const listening = await this.#door.listen();
    return listening.ok ? "" : listening.reason;
  }

  close(): void {
    this.#door.close();
  }

  /** Nobody will ask for that checkpoint any more. */
  drop(set: number, number: number): void {
    rmSync(folderOfCheckpoint(this.#options.folder, set, number), { recursive: true, force: true });
  }

  async #serve({ socket, answer }: Guest): Promise<void> {
    const frames = new Frames(socket);
    socket.write(answer({ verdict: Verdict.WELCOME, incarnation: 0, generation: 0 }));
    startReading(socket);
    for (let frame = await frames.next(); frame !== null; frame = await frames.next()) {
      const request = requestIn(frame);
      if (request === null) break;
      if (request.kind === "fetch") await this.#give(frames, request);
      else if (!(await this.#keep(frames, request))) break;
    }
    socket.destroy();
  }

  /** False: who sends it is gone. */
  async #keep(frames: Frames, key: ImageKey): Promise<boolean> {
    const path = this.#pathOf(key);
    const what = `Cannot keep image ${path}`;
    let problem = "";
    let file: PartFile | undefined;
    let piece: Buffer | null;
    try {
      mkdirSync(folderOfCheckpoint(this.#options.folder, key.set, key.number), { recursive: true });
      file = new PartFile(path);
    } catch (error) {
      problem = textOf(what, error);
    }
    // To the end in any case: its sender hears what is wrong when it has finished speaking.
    for (piece = await frames.next(); piece !== null && piece.length > 0; piece = await frames.next()) {
      if (problem === "") problem = attempt(what, () => file!.write([piece!]));
    }
    if (problem === "" && piece !== null) problem = attempt(what, () => file!.commit());
    if (problem !== "" || piece === null) file?.discard();
    if (piece === null) return false;
    if (problem === "") problem = await this.#options.verify(path);
    return frames.write(encoded({ problem }));
  }

  async #give(frames: Frames, key: ImageKey): Promise<void> {
    const path = this.#pathOf(key);
    let file: number;
    try {
      file = openSync(path, "r");
    } catch (error) {
      await frames.write(encoded({ problem: textOf(`Cannot give image ${path}`, error) }));
      return;
    }
    try {
      await frames.write(encoded({ problem: "" }));
      const piece = Buffer.alloc(pieceBytes);
      for (let bytes = readSync(file, piece); bytes > 0; bytes = readSync(file, piece)) {
        if (!(await frames.write([piece.subarray(0, bytes)]))) return;
      }
      await frames.write([]);
    } finally {
      closeSync(file);
    }
  }

  #pathOf({ set, number, rank }: ImageKey): string {
    return imagePath(folderOfCheckpoint(this.#options.folder, set, number), rank);
  }
}

function attempt(what: string, act: () => void): string {
  try {
    act();
    return "";
  } catch (error) {
    return textOf(what, error);
  }
}

function textOf(what: string, error: unknown): string {
  const known = fileError(what, error);
  return known instanceof Error ? known.message : `${what}: ${String(error)}`;
}
