/**
 * How two processes of a job prove to each other that they are: challenge and response in both directions, three messages of
 * fixed length (three-pass mutual authentication, ISO/IEC 9798-4). The listener speaks first:
 *
 *   challenge  4 salt · 4 version · 32 nonce                                                      listener → caller
 *   hello      32 nonce · 4 service · 4 from · 4 to · 4 incarnation · 4 wanted · 4 generation · 32 proof   → listener
 *   answer     4 salt · 4 verdict · 4 incarnation · 4 generation · 32 proof                               → caller
 *
 * A proof is an HMAC-SHA-256 under the job's secret over a label for its direction, the job's name, both nonces and every field
 * that has been said. Secret and name never travel. A proof is good for one connection (nonces), in one direction (labels) and
 * for what it says (fields), so an attacker that listens in, or listens in a dead process's place, learns nothing of use. A
 * stranger in the middle that passes everything on gets nowhere either: `wanted` says which life of the listener is meant.
 *
 * Nothing is judged before it is whole, and proofs are compared in constant time, so they cannot be guessed byte by byte. No side ever
 * reads a byte too many: the bytes behind the answer belong to other threads. Pure: bytes go in and out, the owner of the socket
 * limits the time (reception.ts, call.ts).
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export const secretBytes = 32;
export const challengeBytes = 40;
export const helloBytes = 88;
export const answerBytes = 48;
/** Changes whenever frames, openings or these messages do. */
const protocolVersion = 3;
const salt = 0x42616e79;
const nonceBytes = 32;
const helloFieldsAt = nonceBytes;
const helloProofAt = 56;
const answerProofAt = 16;

/** The purpose of a listener: a hello is good for one service alone. */
export const ServiceCode = {
  /** A rank of another node. */
  RANK: 1,
  /** The event logger. */
  LOGGER: 2,
  /** Keepers of files of the job: the dispatcher, a checkpoint server. */
  FILES: 3,
  /** The dispatcher, for its nodes. */
  CONTROL: 4,
  /** A channel memory. */
  MEMORY: 5,
  /** A node that gives away the memory of one of its processes, to that which has room for a clone. */
  CLONE: 6,
  /** The dispatcher, for processes that offer themselves as nodes. */
  JOIN: 7,
} as const;
export type ServiceCode = (typeof ServiceCode)[keyof typeof ServiceCode];

export const CallVerdict = {
  WELCOME: 1,
  /** We are connecting to you ourselves, or have a newer connection already: use that one. */
  YIELD: 2,
  /** The rank you want has ended in order. */
  FINISHED: 3,
  /** The rank you want is not here (any more). */
  ABSENT: 4,
  /** You are of another build. */
  UNLIKE: 5,
} as const;
export type CallVerdict = (typeof CallVerdict)[keyof typeof CallVerdict];

/** The caller and its purpose. 32-bit numbers; their meaning is the service's. */
export interface Hello {
  readonly service: ServiceCode;
  readonly from: number;
  readonly to: number;
  /** The caller's life. */
  readonly incarnation: number;
  /** Which life of the listener is meant: a rank's incarnation, the event logger's port. */
  readonly wanted: number;
  /** Number of the connection between the two ranks, from 1. */
  readonly generation: number;
}

export interface CallAnswer {
  readonly verdict: CallVerdict;
  readonly incarnation: number;
  readonly generation: number;
}

export interface JobSecret {
  readonly id: string;
  /** 32 random bytes, known to the processes of this job only. */
  readonly secret: Uint8Array;
}

/** A caller has said a whole hello, and does not know the secret. */
export const unprovenReason = "a hello without the job's proof";

/** The listener's judgement of the bytes so far. */
export type Heard =
  | { readonly kind: "more" }
  | { readonly kind: "hello"; readonly hello: Hello }
  | { readonly kind: "refused"; readonly reason: string };

/** Labels have one length, so that no two proofs are over the same bytes. */
const Label = { HELLO: "banyan hello ", ANSWER: "banyan answer" } as const;

/** The facts of one connection that both sides know: the hello's fields and both nonces. */
interface Exchange {
  readonly job: JobSecret;
  readonly listenerNonce: Uint8Array;
  readonly callerNonce: Uint8Array;
}

function proof(label: string, { job, listenerNonce, callerNonce }: Exchange, ...fields: Uint8Array[]): Buffer {
  const code = createHmac("sha256", job.secret).update(label).update(createHash("sha256").update(job.id).digest());
  code.update(listenerNonce).update(callerNonce);
  for (const part of fields) code.update(part);
  return code.digest();
}

/** The listener's side of one connection. */
export class ListenerHandshake {
  /** To be sent first. */
  readonly challenge = Buffer.alloc(challengeBytes);
  readonly #job: JobSecret;
  /** The services it listens for. */
  readonly #services: readonly ServiceCode[];
  readonly #nonce: Uint8Array;
  readonly #bytes = Buffer.alloc(helloBytes);
  #have = 0;

  constructor(
    job: JobSecret,
    service: ServiceCode | readonly ServiceCode[],
    nonce: Uint8Array = randomBytes(nonceBytes),
  ) {
    this.#job = job;
    this.#services = [service].flat();
    this.#nonce = nonce;
    this.challenge.writeUInt32LE(salt, 0);
    this.challenge.writeUInt32LE(protocolVersion, 4);
    this.challenge.set(nonce, 8);
  }

  /** Bytes from the caller. */
  take(bytes: Uint8Array): Heard {
    if (this.#have + bytes.length > helloBytes) return refused("more than a hello");
    this.#bytes.set(bytes, this.#have);
    this.#have += bytes.length;
    return this.#have < helloBytes ? { kind: "more" } : this.#judge();
  }

  #judge(): Heard {
    const expected = proof(Label.HELLO, this.#exchange, this.#fields);
    if (!timingSafeEqual(expected, this.#bytes.subarray(helloProofAt))) return refused(unprovenReason);
    const hello = decodeFields(this.#fields);
    if (hello === null || !this.#services.includes(hello.service)) return refused("a hello for another service");
    return { kind: "hello", hello };
  }

  /** To a hello that was heard. */
  answer(answer: CallAnswer): Buffer {
    const bytes = Buffer.alloc(answerBytes);
    bytes.writeUInt32LE(salt, 0);
    bytes.writeUInt32LE(answer.verdict, 4);
    bytes.writeUInt32LE(answer.incarnation, 8);
    bytes.writeUInt32LE(answer.generation, 12);
    bytes.set(proof(Label.ANSWER, this.#exchange, this.#fields, bytes.subarray(0, answerProofAt)), answerProofAt);
    return bytes;
  }

  get #fields(): Buffer {
    return this.#bytes.subarray(helloFieldsAt, helloProofAt);
  }

  get #exchange(): Exchange {
    return { job: this.#job, listenerNonce: this.#nonce, callerNonce: this.#bytes.subarray(0, nonceBytes) };
  }
}

/** The caller's side of one connection. */
export class CallerHandshake {
  readonly #job: JobSecret;
  readonly #nonce: Uint8Array;
  readonly #fields: Buffer;
  #exchange: Exchange | null = null;

  constructor(job: JobSecret, hello: Hello, nonce: Uint8Array = randomBytes(nonceBytes)) {
    this.#job = job;
    this.#nonce = nonce;
    this.#fields = encodeFields(hello);
  }

  /** The hello for that challenge; null: the challenge is not from this job. */
  hello(challenge: Buffer): Buffer | null {
    if (challenge.length !== challengeBytes) return null;
    if (challenge.readUInt32LE(0) !== salt || challenge.readUInt32LE(4) !== protocolVersion) return null;
    const listenerNonce = Uint8Array.from(challenge.subarray(8));
    this.#exchange = { job: this.#job, listenerNonce, callerNonce: this.#nonce };
    return Buffer.concat([this.#nonce, this.#fields, proof(Label.HELLO, this.#exchange, this.#fields)]);
  }

  /** Null: the sender does not know the secret, or the answer is for another hello. */
  answer(bytes: Buffer): CallAnswer | null {
    if (this.#exchange === null || bytes.length !== answerBytes) return null;
    const expected = proof(Label.ANSWER, this.#exchange, this.#fields, bytes.subarray(0, answerProofAt));
    if (!timingSafeEqual(expected, bytes.subarray(answerProofAt)) || bytes.readUInt32LE(0) !== salt) return null;
    const verdict = bytes.readUInt32LE(4);
    if (verdict < CallVerdict.WELCOME || verdict > CallVerdict.UNLIKE) return null;
    return { verdict: verdict as CallVerdict, incarnation: bytes.readUInt32LE(8), generation: bytes.readUInt32LE(12) };
  }
}

const refused = (reason: string): Heard => ({ kind: "refused", reason });

function encodeFields(hello: Hello): Buffer {
  const { service, from, to, incarnation, wanted, generation } = hello;
  const fields = Buffer.alloc(helloProofAt - helloFieldsAt);
  for (const [index, value] of [service, from, to, incarnation, wanted, generation].entries()) {
    fields.writeUInt32LE(value, 4 * index);
  }
  return fields;
}

function decodeFields(fields: Buffer): Hello | null {
  const [service, from, to, incarnation, wanted, generation] = [0, 4, 8, 12, 16, 20].map((at) =>
    fields.readUInt32LE(at),
  ) as [ServiceCode, number, number, number, number, number];
  if (generation === 0 || generation > 0x7fffffff) return null;
  return { service, from, to, incarnation, wanted, generation };
}
