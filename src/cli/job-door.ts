/**
 * Where `banyan ps` finds running jobs: a socket for each, named after the process of its dispatcher, in a folder of the cache that only its
 * user may enter. A job that cannot have one runs all the same. Question and answer are one line each.
 */
import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { cacheFolder } from "../cc/cache.ts";
import { distrustServer, prepareFolder } from "../cc/server-place.ts";
import type { Moved, MoveOrder } from "../real/job/recovery/job-moves.ts";

/** Names of sockets are short: 104 bytes on macOS, 108 on Linux. */
const socketNameMax = 100;
/** A job that does not answer for so long is not shown: it takes a second to ask its nodes. */
const answerMsMax = 3_000;
const questionCharactersMax = 96;

/** What a job says of itself. */
export interface JobAnswer {
  readonly ranks: number;
  readonly nodes: number;
  readonly protocol: string;
  /** By the calendar. */
  readonly sinceMs: number;
  readonly command: string;
  /** Where its ranks are, line by line; null: not asked. */
  readonly table: readonly string[] | null;
  /** Why an order cannot be carried out; empty: it is, or none was given. */
  readonly obstacle: string;
}

/** The last are orders: ranks shall go on elsewhere. */
export type JobQuestion = "job" | "ranks" | `move ${string}`;

const moveShape =
  /^move (?:node (\d{1,15})|rank (\d{1,15})(?: replica (\d{1,15}))?(?: from (\d{1,15}))?)(?: onto (\d{1,15}))?$/;
const isQuestion = (text: string): text is JobQuestion => text === "job" || text === "ranks" || moveShape.test(text);

export function moveQuestion({ moved, onto }: MoveOrder): JobQuestion {
  return `move ${movedText(moved)}${onto === null ? "" : ` onto ${onto}`}`;
}

function movedText(moved: Moved): string {
  if (moved.kind === "node") return `node ${moved.node}`;
  const { rank, replica, from = null } = moved;
  return `rank ${rank}${replica === null ? "" : ` replica ${replica}`}${from === null ? "" : ` from ${from}`}`;
}

/** Null: that is no order. */
export function moveOrder(question: JobQuestion): MoveOrder | null {
  const found = moveShape.exec(question);
  if (found === null) return null;
  const [node, rank, replica, from, onto] = found
    .slice(1)
    .map((digits) => (digits === undefined ? null : Number(digits)));
  const moved: Moved =
    typeof node === "number"
      ? { kind: "node", node }
      : { kind: "rank", rank: rank ?? 0, replica: replica ?? null, ...(typeof from === "number" ? { from } : {}) };
  return { moved, onto: onto ?? null };
}

const folder = (): string => join(cacheFolder(process.env), "jobs");
const socketOf = (pid: number): string => join(folder(), `${pid}.sock`);

/** The returned function closes the door. */
export function openDoor(answer: (question: JobQuestion) => Promise<JobAnswer>): () => void {
  const path = socketOf(process.pid);
  if (Buffer.byteLength(path) > socketNameMax || prepareFolder(folder()) !== undefined) return () => {};
  const guests = new Set<Socket>();
  const server: Server = createServer((guest) => {
    guests.add(guest);
    guest.on("close", () => guests.delete(guest)).on("error", () => guest.destroy());
    let asked = "";
    guest.setEncoding("utf8").on("data", (text) => {
      asked += text;
      const end = asked.indexOf("\n");
      if (end < 0 && asked.length <= questionCharactersMax) return;
      guest.removeAllListeners("data");
      const question = asked.slice(0, end);
      if (!isQuestion(question)) guest.destroy();
      else void answer(question).then((told) => guest.end(`${JSON.stringify(told)}\n`));
    });
    guest.unref();
  });
  // Nobody can ask, and the job runs all the same.
  server.on("error", () => {});
  rmSync(path, { force: true });
  server.listen(path, () => chmodSync(path, 0o600));
  server.unref();
  return () => {
    server.close();
    for (const guest of guests) guest.destroy();
    rmSync(path, { force: true });
  };
}

/** Process ids of this user's jobs, as far as their doors are there. */
export function knownJobs(): number[] {
  let names: string[];
  try {
    names = readdirSync(folder());
  } catch {
    return [];
  }
  const pids = names.flatMap((name) => /^(\d+)\.sock$/.exec(name)?.[1] ?? []).map(Number);
  return pids.filter((pid) => isOurs(pid)).sort((a, b) => a - b);
}

/** Never another user's: neither a folder that others may enter nor a socket that is not ours is spoken to. */
function isOurs(pid: number): boolean {
  const socket = socketOf(pid);
  const status = lstatSync(socket, { throwIfNoEntry: false });
  if (status === undefined) return false;
  return distrustServer({ folder: folder(), socket, lock: "", log: "" }) === undefined;
}

/** Undefined: there is no such job, or it does not answer. */
export function askJob(pid: number, question: JobQuestion): Promise<JobAnswer | undefined> {
  if (!isOurs(pid)) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(socketOf(pid));
    socket.setTimeout(answerMsMax, () => socket.destroy());
    socket.setEncoding("utf8");
    socket.on("connect", () => socket.write(`${question}\n`));
    socket.on("data", (piece) => {
      text += piece;
    });
    socket.on("error", (error) => {
      // A dispatcher that was killed has left its door behind.
      if ("code" in error && error.code === "ECONNREFUSED") rmSync(socketOf(pid), { force: true });
    });
    socket.on("close", () => resolve(text.endsWith("\n") ? (JSON.parse(text) as JobAnswer) : undefined));
  });
}
