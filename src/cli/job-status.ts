/** A running job in one line, for a terminal: its size, how long it runs, how busy it is, and the last thing that happened. */
import { countText, secondsText } from "../core/base/amounts.ts";
import type { JobEvent } from "../real/job/report/job-event.ts";

interface JobSize {
  readonly ranks: number;
  readonly nodes: number;
}

/** What a job has done so far. */
interface JobCounts {
  readonly messages: number;
}

/** The rate is that of the last seconds: a program that waits shows it. It changes once a second: the line shall be quiet. */
const rateMs = 2_000;
const rateShownMs = 1_000;

export class JobStatus {
  readonly #size: JobSize;
  readonly #startMs: number;
  #doing = "";
  /** What it waits for before it begins, whatever else it does meanwhile; empty: nothing. */
  #missing = "";
  #checkpoints = 0;
  #last = "";
  readonly #counts: { readonly atMs: number; readonly messages: number }[] = [];
  #rate = 0;
  #ratedMs = 0;

  constructor(size: JobSize, nowMs: number) {
    this.#size = size;
    this.#startMs = nowMs;
  }

  heard(event: JobEvent): void {
    switch (event.kind) {
      case "compiling":
        this.#doing = `compiling ${event.program} …`;
        return;
      case "gathering":
        this.#missing =
          event.joined < event.wanted ? `waiting for nodes, ${event.joined} of ${event.wanted} have joined` : "";
        return;
      case "started":
        this.#doing = "";
        return;
      case "checkpoint":
        this.#checkpoints++;
        return;
      case "node-lost":
        this.#last = `node ${event.node} lost at ${secondsText(event.afterMs)}`;
        return;
      case "rank-lost":
        this.#last = `rank ${event.rank} lost at ${secondsText(event.afterMs)}`;
        return;
      case "moved":
        this.#last = `moved at ${secondsText(event.afterMs)}`;
        return;
      case "recovered":
        this.#last = `recovered in ${secondsText(event.caughtUpMs)}`;
        return;
      default:
        return;
    }
  }

  text(nowMs: number, { messages }: JobCounts, columns: number): string {
    this.#counts.push({ atMs: nowMs, messages });
    while (this.#counts.length > 2 && nowMs - this.#counts[1]!.atMs >= rateMs) this.#counts.shift();
    if (nowMs - this.#ratedMs >= rateShownMs) {
      this.#rate = this.#rateNow();
      this.#ratedMs = nowMs;
    }
    const time = secondsOf(nowMs - this.#startMs);
    const doing = this.#missing || this.#doing;
    const parts = doing === "" ? this.#runningParts(time) : [doing, time];
    return clipped(`banyan: ${parts.join(" · ")}`, columns);
  }

  #runningParts(time: string): string[] {
    const { ranks, nodes } = this.#size;
    const rate = this.#rate;
    return [
      `${countText(ranks, "rank")} on ${countText(nodes, "node")}`,
      time,
      ...(rate > 0 ? [`${amountOf(rate)} messages/s`] : []),
      ...(this.#checkpoints > 0 ? [countText(this.#checkpoints, "checkpoint")] : []),
      ...(this.#last === "" ? [] : [this.#last]),
    ];
  }

  #rateNow(): number {
    const [first, last] = [this.#counts[0]!, this.#counts.at(-1)!];
    const ms = last.atMs - first.atMs;
    // A node that is lost takes its count along.
    return ms <= 0 ? 0 : Math.max(0, (1000 * (last.messages - first.messages)) / ms);
  }
}

/** Whole seconds: the line is renewed a few times in each, and shall not flicker. */
function secondsOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const rest = String(seconds % 60).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes}:${rest}`
    : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

/** Two or three digits. */
function amountOf(rate: number): string {
  if (rate < 10) return rate.toFixed(1);
  if (rate < 1000) return rate.toFixed(0);
  if (rate < 1e6) return `${(rate / 1e3).toPrecision(rate < 1e5 ? 2 : 3)} k`;
  return `${(rate / 1e6).toPrecision(3)} M`;
}

function clipped(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;
}
