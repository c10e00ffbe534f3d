/**
 * The ping-pong measurement behind `latency`, `bandwidth`, `tcp` and `c-latency`: half a round trip of one message, for each size.
 *
 * Both sides send and receive one buffer. Each size is warmed up and then measured in batches; a rank sees only completed round
 * trips, so a batch is long enough for the clock.
 */
import { banyanOrdinary, banyanShared } from "../contenders/contenders.ts";
import type { Lab } from "../lab.ts";
import type { Measurement } from "../measuring/measure.ts";
import { mapSeries, type Series } from "../measuring/series.ts";

interface PingPongOptions {
  /** Each rank on a node of its own, with only TCP between them. */
  readonly tcp: boolean;
  /** Smaller messages are left out. */
  readonly bytesMin?: number;
}

const sizes = Array.from({ length: 23 }, (_, power) => 2 ** power);
/** The sizes of the goals, and one between. */
const sizesQuick = [8, 1 << 10, 8 << 10, 64 << 10, 1 << 20];
const batches = 5;
const warmBatches = 10;
/** Few enough that even spinning peers on a busy machine are soon through. */
const roundsQuickDivisor = 1_000;

/** Latency and bandwidth are two views of one measurement, which a session makes once. */
const done = new WeakMap<Lab, Promise<Measurement>>();

export function pingPongInNode(lab: Lab): Promise<Measurement> {
  const measurement = done.get(lab) ?? pingPong(lab, { tcp: false });
  done.set(lab, measurement);
  return measurement;
}

/** Batches, warm-up batches and `<bytes>:<round trips>` for each size, as the programs take them. */
export function pingPongNumbers({ quick }: Lab, { tcp, bytesMin = 1 }: PingPongOptions): string[] {
  if (quick) {
    const few = (bytes: number): number => Math.max(4, rounds(bytes, tcp) / roundsQuickDivisor);
    return ["3", "1", ...sizesQuick.map((bytes) => `${bytes}:${few(bytes)}`)];
  }
  const chosen = sizes.filter((bytes) => bytes >= bytesMin);
  return [String(batches), String(warmBatches), ...chosen.map((bytes) => `${bytes}:${rounds(bytes, tcp)}`)];
}

/** The same for the program in C, which can receive in more than one way. */
export function pingPongInC(numbers: readonly string[]): string[] {
  return ["latency_us", "named", ...numbers];
}

/** Of quick runs as well: what takes a second on a quiet machine may take a minute on a busy one. */
export const pingPongLimit = { timeLimitMs: 120_000 };

export function pingPong(lab: Lab, { tcp }: PingPongOptions): Promise<Measurement> {
  const numbers = pingPongNumbers(lab, { tcp });
  const options = pingPongLimit;
  const job = { program: "ping-pong", ranks: 2 };
  const nodes = tcp ? 2 : 1;
  return lab.measure([
    lab.own({ ...job, contender: banyanShared, nodes, args: ["shared", ...numbers] }, options),
    lab.own({ ...job, contender: banyanOrdinary, nodes, args: ["ordinary", ...numbers] }, options),
    ...lab.ofPeers({ ...job, tcp, args: () => pingPongInC(numbers) }, options),
  ]);
}

/** Round trips in a batch: some ten milliseconds of them. */
function rounds(bytes: number, tcp: boolean): number {
  if (bytes <= 1 << 10) return tcp ? 2_000 : 20_000;
  if (bytes <= 8 << 10) return tcp ? 2_000 : 5_000;
  if (bytes <= 64 << 10) return tcp ? 500 : 1_000;
  if (bytes <= 512 << 10) return 200;
  return 40;
}

/** Bytes in a microsecond are megabytes in a second. */
export function asBandwidth(series: readonly Series[]): Series[] {
  return series.map((one) => mapSeries(one, "bandwidth_mbs", (latencyUs, bytes) => bytes / latencyUs));
}
