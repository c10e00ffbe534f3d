/**
 * How a node reaches the dispatcher that has invited it, or to which it offers itself: it calls, and both prove to each other that they are of
 * the job.
 */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ByteQueue } from "../framing/byte-queue.ts";
import { build } from "../messages/node-messages.ts";
import { answerMsMax } from "../transport/handshake/call.ts";
import {
  answerBytes,
  CallerHandshake,
  CallVerdict,
  challengeBytes,
  type Hello,
  ServiceCode,
} from "../transport/handshake/handshake.ts";
import { buildNumber } from "./build-number.ts";
import type { Invitation } from "./invitation.ts";

export type Called =
  | {
      readonly ok: true;
      readonly socket: Socket;
      readonly queue: ByteQueue;
      /** Of one that has offered itself: the number that it has been given. */
      readonly number: number;
    }
  | { readonly ok: false; readonly why: string; readonly failure: Failure };

type Failure =
  /** The call was taken, and nothing was said: the dispatcher is stopped, or very busy. */
  | "mute"
  /** The dispatcher is gone, or does not know this node any more. */
  | "gone"
  /** The dispatcher lives, and wants no process like this one. */
  | "refused"
  /** Anything else. */
  | "lost";

/** Strangers may crowd the port, and the caller that has waited longest is closed: a node that was closed tries again. */
const lostMax = 20;
/** Somebody waits for a word, and the secret may be the wrong one: then nothing comes of calling. */
const lostAsVolunteerMax = 5;
const againMs = 100;

/** Nothing else is known of it: whoever listens there says nothing to a caller that it does not believe. */
const unprovenText = "it does not accept the secret of this node; use the secret file of that job";

/** Calls until the dispatcher accepts or refuses. A dispatcher that does not answer is called again, after twice the time. */
export async function callDispatcher(invitation: Invitation): Promise<Called> {
  let answerMs = answerMsMax;
  for (let lost = 0; ; ) {
    const called = await callOnce(invitation, answerMs);
    if (called.ok || called.failure === "gone" || called.failure === "refused") return called;
    if (called.failure === "mute") answerMs *= 2;
    else if (++lost === (invitation.number === 0 ? lostAsVolunteerMax : lostMax)) return called;
    await sleep(againMs);
  }
}

function helloOf({ number, had }: Invitation): Hello {
  const hello = { from: number, to: 0, incarnation: 0, wanted: 0, generation: 1 };
  if (number > 0) return { ...hello, service: ServiceCode.CONTROL };
  return { ...hello, service: ServiceCode.JOIN, from: had, to: process.pid, wanted: buildNumber(build) };
}

function callOnce(invitation: Invitation, answerMs: number): Promise<Called> {
  const { host, port, jobId, secret } = invitation;
  const hello = helloOf(invitation);
  const handshake = new CallerHandshake({ id: jobId, secret }, hello);
  const queue = new ByteQueue();
  return new Promise((resolve) => {
    let isAnswering = false;
    const socket = connect({ host, port, noDelay: true });
    const end = (called: Called): void => {
      clearTimeout(timer);
      for (const event of ["data", "error", "close"]) socket.removeAllListeners(event);
      // Nothing is read until there is a listener again.
      socket.pause();
      socket.on("error", () => {});
      if (!called.ok) socket.destroy();
      resolve(called);
    };
    const fail = (why: string, failure: Failure): void => end({ ok: false, why, failure });
    const timer = setTimeout(() => fail("no answer in time", socket.connecting ? "lost" : "mute"), answerMs);
    socket.on("error", ({ message, code }: NodeJS.ErrnoException) =>
      fail(message, code === "ECONNREFUSED" ? "gone" : "lost"),
    );
    socket.on("close", () =>
      fail(isAnswering && hello.service === ServiceCode.JOIN ? unprovenText : "the connection was closed", "lost"),
    );
    socket.on("data", (chunk) => {
      queue.push(chunk);
      if (!isAnswering) {
        const challenge = queue.take(challengeBytes);
        if (challenge === null) return;
        const said = handshake.hello(challenge);
        if (said === null) {
          fail("somebody else listens there", "gone");
          return;
        }
        isAnswering = true;
        socket.write(said);
      }
      const bytes = queue.take(answerBytes);
      if (bytes === null) return;
      const answer = handshake.answer(bytes);
      if (answer === null) fail("somebody else listens there", "gone");
      else if (answer.verdict === CallVerdict.WELCOME) end({ ok: true, socket, queue, number: answer.incarnation });
      else if (answer.verdict === CallVerdict.UNLIKE) fail(`it is not Banyan ${build}, as this is`, "refused");
      else if (hello.service === ServiceCode.JOIN) fail("it does not know this node any more", "refused");
      else fail("the invitation is not good any more", "gone");
    });
  });
}
