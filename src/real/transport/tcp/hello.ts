/**
 * The first bytes on every connection, spoken by the two main threads. The one who connects says hello: the job's secret
 * first, then who it is and what it wants. The other answers, and proves by a code over the hello's random number that it
 * knows the secret too. Both messages have a fixed length, so nobody ever reads a byte too many: what follows belongs to
 * the ranks' own threads.
 *
 *   hello   32 secret · 4 salt · 4 version · 32 job · 4 from · 4 to · 4 incarnation · 4 generation · 16 random
 *   answer   4 salt · 4 verdict · 4 incarnation · 4 generation · 32 code
 *
 * Decoders answer nothing on bytes they do not like.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export const secretBytes = 32;
export const helloBytes = 104;
export const answerBytes = 48;
/** Changes whenever frames, openings or these messages do. */
const protocolVersion = 1;
const salt = 0x42616e79;
const randomBytes = 16;

export const Verdict = {
  WELCOME: 1,
  /** We are connecting to you ourselves, or have a newer connection already: use that one. */
  YIELD: 2,
  /** The rank you want has ended in order. */
  FINISHED: 3,
  /** The rank you want is not here (any more). */
  ABSENT: 4,
} as const;
export type Verdict = (typeof Verdict)[keyof typeof Verdict];

export interface Hello {
  readonly from: number;
  readonly to: number;
  readonly incarnation: number;
  /** Number of the connection between the two ranks, from 1. */
  readonly generation: number;
  readonly random: Uint8Array;
}

export interface Answer {
  readonly verdict: Verdict;
  readonly incarnation: number;
  readonly generation: number;
}

export interface Job {
  readonly id: string;
  /** 32 random bytes, known to the nodes of this job only. */
  readonly secret: Uint8Array;
}

const jobDigest = (job: Job): Buffer => createHash("sha256").update(job.id).digest();
const answerCode = (job: Job, random: Uint8Array, head: Uint8Array): Buffer =>
  createHmac("sha256", job.secret).update("answer").update(random).update(head).digest();

export function encodeHello(job: Job, hello: Hello): Buffer {
  const bytes = Buffer.alloc(helloBytes);
  bytes.set(job.secret, 0);
  bytes.writeUInt32LE(salt, 32);
  bytes.writeUInt32LE(protocolVersion, 36);
  bytes.set(jobDigest(job), 40);
  bytes.writeUInt32LE(hello.from, 72);
  bytes.writeUInt32LE(hello.to, 76);
  bytes.writeUInt32LE(hello.incarnation, 80);
  bytes.writeUInt32LE(hello.generation, 84);
  bytes.set(hello.random, 88);
  return bytes;
}

/** Is what has come so far, perhaps not all of it, the start of a hello with the right secret? */
export function knowsSecret(job: Job, bytes: Buffer): boolean {
  const known = Math.min(bytes.length, secretBytes);
  return timingSafeEqual(bytes.subarray(0, known), job.secret.subarray(0, known));
}

export function decodeHello(job: Job, bytes: Buffer): Hello | null {
  if (bytes.length !== helloBytes || !knowsSecret(job, bytes)) return null;
  if (bytes.readUInt32LE(32) !== salt || bytes.readUInt32LE(36) !== protocolVersion) return null;
  if (!timingSafeEqual(bytes.subarray(40, 72), jobDigest(job))) return null;
  const generation = bytes.readUInt32LE(84);
  if (generation === 0 || generation > 0x7fffffff) return null;
  return {
    from: bytes.readUInt32LE(72),
    to: bytes.readUInt32LE(76),
    incarnation: bytes.readUInt32LE(80),
    generation,
    random: Uint8Array.from(bytes.subarray(88, 88 + randomBytes)),
  };
}

export function encodeAnswer(job: Job, hello: Hello, answer: Answer): Buffer {
  const bytes = Buffer.alloc(answerBytes);
  bytes.writeUInt32LE(salt, 0);
  bytes.writeUInt32LE(answer.verdict, 4);
  bytes.writeUInt32LE(answer.incarnation, 8);
  bytes.writeUInt32LE(answer.generation, 12);
  bytes.set(answerCode(job, hello.random, bytes.subarray(0, 16)), 16);
  return bytes;
}

export function decodeAnswer(job: Job, hello: Hello, bytes: Buffer): Answer | null {
  if (bytes.length !== answerBytes || bytes.readUInt32LE(0) !== salt) return null;
  if (!timingSafeEqual(bytes.subarray(16), answerCode(job, hello.random, bytes.subarray(0, 16)))) return null;
  const verdict = bytes.readUInt32LE(4);
  if (verdict < Verdict.WELCOME || verdict > Verdict.ABSENT) return null;
  return { verdict: verdict as Verdict, incarnation: bytes.readUInt32LE(8), generation: bytes.readUInt32LE(12) };
}
