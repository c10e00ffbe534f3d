/** X7: who can get past a handshake, as bytes alone. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import fc from "../../../core/base/testing/properties.ts";
import {
  answerBytes,
  type CallAnswer,
  CallerHandshake,
  CallVerdict,
  challengeBytes,
  type Heard,
  type Hello,
  helloBytes,
  type JobSecret,
  ListenerHandshake,
  ServiceCode,
  secretBytes,
} from "./handshake.ts";

const job: JobSecret = { id: "a job", secret: Uint8Array.from(randomBytes(secretBytes)) };
const hello: Hello = { service: ServiceCode.RANK, from: 3, to: 4, incarnation: 2, wanted: 1, generation: 7 };
const welcome: CallAnswer = { verdict: CallVerdict.WELCOME, incarnation: 1, generation: 6 };
const refusal: Heard = { kind: "refused", reason: "a hello without the job's proof" };

const listen = (of = job, service: ServiceCode = ServiceCode.RANK) => new ListenerHandshake(of, service);
const said = (caller: CallerHandshake, challenge: Buffer): Buffer => {
  const bytes = caller.hello(challenge);
  assert.ok(bytes !== null);
  return bytes;
};

describe("X7: a handshake", () => {
  it("proves both sides, and says who calls and what the answer is", () => {
    const listener = listen();
    const caller = new CallerHandshake(job, hello);
    assert.equal(listener.challenge.length, challengeBytes);
    const bytes = said(caller, listener.challenge);
    assert.equal(bytes.length, helloBytes);
    assert.deepEqual(listener.take(bytes), { kind: "hello", hello });
    const answer = listener.answer(welcome);
    assert.equal(answer.length, answerBytes);
    assert.deepEqual(caller.answer(answer), welcome);
  });

  it("never carries the secret or the job's name", () => {
    const listener = listen();
    const caller = new CallerHandshake(job, hello);
    const bytes = said(caller, listener.challenge);
    listener.take(bytes);
    const all = Buffer.concat([listener.challenge, bytes, listener.answer(welcome)]);
    for (let at = 0; at + 4 <= secretBytes; at++) assert.equal(all.indexOf(job.secret.subarray(at, at + 4)), -1);
    assert.equal(all.indexOf(job.id), -1);
  });

  it("judges a hello only when it is whole: no byte of a proof can be tried alone", () => {
    const good = said(new CallerHandshake(job, hello), listen().challenge);
    for (let at = 0; at < helloBytes; at++) {
      const listener = listen();
      const right = said(new CallerHandshake(job, hello), listener.challenge);
      const guess = Buffer.from(right);
      guess[at]! ^= 1;
      for (let sent = 0; sent < good.length - 1; sent++) {
        assert.deepEqual(listener.take(guess.subarray(sent, sent + 1)), { kind: "more" });
      }
      assert.deepEqual(listener.take(guess.subarray(helloBytes - 1)), refusal, `byte ${at}`);
    }
  });

  it("takes no hello twice: neither the same connection's nor another's", () => {
    const first = listen();
    const bytes = said(new CallerHandshake(job, hello), first.challenge);
    assert.equal(first.take(bytes).kind, "hello");
    assert.deepEqual(first.take(bytes), { kind: "refused", reason: "more than a hello" });
    assert.deepEqual(listen().take(bytes), refusal, "replayed");
  });

  it("takes no answer of another connection, nor one to another hello", () => {
    const listener = listen();
    const caller = new CallerHandshake(job, hello);
    listener.take(said(caller, listener.challenge));
    const answer = listener.answer(welcome);
    const later = new CallerHandshake(job, hello);
    said(later, listener.challenge);
    assert.equal(later.answer(answer), null, "our nonce is another");
    said(caller, listen().challenge);
    assert.equal(caller.answer(answer), null, "their nonce is another");
    assert.equal(new CallerHandshake(job, hello).answer(answer), null, "before there was a hello");
  });

  it("reflects nothing: what one side says is no proof for the other", () => {
    // Somebody who only sends back what it gets: as a listener…
    const caller = new CallerHandshake(job, hello);
    const bytes = said(caller, listen().challenge);
    assert.equal(caller.answer(bytes.subarray(0, answerBytes)), null);
    assert.equal(caller.answer(bytes.subarray(helloBytes - answerBytes)), null);
    // …as a caller…
    const listener = listen();
    const echo = Buffer.concat([listener.challenge, listener.challenge, listener.challenge]).subarray(0, helloBytes);
    assert.deepEqual(listener.take(echo), refusal);
    // …and who has a victim's own call answer the victim's own challenge: it is true, and says who made it and for whom.
    const victim = listen();
    assert.deepEqual(victim.take(said(new CallerHandshake(job, hello), victim.challenge)), { kind: "hello", hello });
  });

  it("is with one job, one service, one secret", () => {
    for (const other of [
      { ...job, id: "b job" },
      { ...job, secret: Uint8Array.from(randomBytes(secretBytes)) },
    ]) {
      const listener = listen();
      assert.deepEqual(listener.take(said(new CallerHandshake(other, hello), listener.challenge)), refusal);
      const impostor = listen(other);
      const caller = new CallerHandshake(job, hello);
      assert.deepEqual(impostor.take(said(caller, impostor.challenge)), refusal);
      assert.equal(caller.answer(impostor.answer(welcome)), null, "an impostor's answer");
    }
    const logger = listen(job, ServiceCode.LOGGER);
    assert.deepEqual(logger.take(said(new CallerHandshake(job, hello), logger.challenge)), {
      kind: "refused",
      reason: "a hello for another service",
    });
  });

  it("takes generations from 1 on", () => {
    for (const generation of [0, 0x80000000]) {
      const listener = listen();
      const bytes = said(new CallerHandshake(job, { ...hello, generation }), listener.challenge);
      assert.equal(listener.take(bytes).kind, "refused");
    }
  });

  it("nothing that was changed on the way, cut off or made longer passes", () => {
    const flip = (bytes: Buffer, at: number, by: number): Buffer => {
      const changed = Buffer.from(bytes);
      changed[at % changed.length]! ^= by;
      return changed;
    };
    fc.assert(
      fc.property(fc.nat(1000), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const listener = listen();
        const caller = new CallerHandshake(job, hello);
        const bytes = said(caller, listener.challenge);
        assert.notEqual(listen().take(flip(bytes, at, by)).kind, "hello");
        // A changed challenge is no challenge, or its hello is not for this listener.
        const changed = new CallerHandshake(job, hello).hello(flip(listener.challenge, at, by));
        if (changed !== null) assert.deepEqual(listen().take(changed), refusal);
        assert.equal(listener.take(bytes).kind, "hello");
        assert.equal(caller.answer(flip(listener.answer(welcome), at, by)), null);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2 * helloBytes }), (anything) => {
        assert.notEqual(listen().take(anything).kind, "hello");
        const caller = new CallerHandshake(job, hello);
        assert.equal(caller.hello(Buffer.from(anything)), null);
        said(caller, listen().challenge);
        assert.equal(caller.answer(Buffer.from(anything)), null);
      }),
    );
  });
});
