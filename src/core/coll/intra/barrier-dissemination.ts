/**
 * Dissemination barrier: ⌈log2 p⌉ rounds of one signal sent and one received, for any p.
 *
 * In round k rank r signals r + 2^k and waits for r − 2^k (mod p), so after the last round every rank has a signal, directly or
 * through others, from every rank. Hensgen, Finkel and Manber, 1988.
 */
import { Rounds, signalFrom, signalTo } from "../engine/rounds.ts";
import type { Place, Schedule } from "../engine/schedule.ts";

export function barrierDissemination({ rank, size }: Place): Schedule {
  const rounds = new Rounds();
  for (let distance = 1; distance < size; distance *= 2) {
    rounds.signal(signalTo((rank + distance) % size), signalFrom((rank - distance + size) % size));
  }
  return rounds.schedule();
}
