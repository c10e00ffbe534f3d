/**
 * The actions of one rank, as Chrome trace events (the JSON that Perfetto and chrome://tracing open), one object a line,
 * appended to the rank's own file. The dispatcher joins the ranks' files at the end.
 *
 * Spans (send, recv, wait, collectives) are complete events; a message is an arrow (flow event) from its send to its match,
 * identified by channel and sequence number. Times are the machine's clock in microseconds, so the ranks of all nodes of a
 * machine lie on one axis.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import type { EngineTracer } from "../../core/p2p/engine.ts";
import { steadyMs } from "../machine/steady-clock.ts";

interface RankTracerOptions {
  readonly file: string;
  readonly rank: number;
  readonly node: number;
  /** Called when the trace cannot be written any more (a full disk): ends the job, does not return. */
  failed(reason: string): never;
}

const flushBytes = 256 << 10;
const nestedMax = 16;

/** Also the `Tracer` of mpi/host.ts: real/process/rank-host.ts passes it on as such. */
export class RankTracer implements EngineTracer {
  readonly #file: number;
  readonly #options: RankTracerOptions;
  readonly #origin = performance.timeOrigin;
  /** Spans that have begun and not ended: name, arguments, start. Bounded: calls nest two or three deep. */
  readonly #names: string[] = [];
  readonly #arguments: string[] = [];
  readonly #starts: number[] = [];
  #text = "";

  constructor(options: RankTracerOptions) {
    this.#options = options;
    this.#file = openSync(options.file, "a");
    const { rank, node } = options;
    this.#event(`{"ph":"M","name":"process_name","pid":${node},"tid":${rank},"args":{"name":"node ${node}"}}`);
    this.#event(`{"ph":"M","name":"thread_name","pid":${node},"tid":${rank},"args":{"name":"rank ${rank}"}}`);
    this.#event(`{"ph":"M","name":"thread_sort_index","pid":${node},"tid":${rank},"args":{"sort_index":${rank}}}`);
  }

  #now(): number {
    return (this.#origin + steadyMs()) * 1000;
  }

  begin(name: string, peer: number, tag: number, bytes: number): void {
    if (this.#names.length >= nestedMax) return;
    this.#names.push(name);
    this.#arguments.push(peer === -1 && bytes === 0 ? "{}" : `{"peer":${peer},"tag":${tag},"bytes":${bytes}}`);
    this.#starts.push(this.#now());
  }

  end(): void {
    const name = this.#names.pop();
    const args = this.#arguments.pop();
    const start = this.#starts.pop();
    if (name === undefined || args === undefined || start === undefined) return;
    const { rank, node } = this.#options;
    const duration = this.#now() - start;
    this.#event(
      `{"ph":"X","name":"${name}","cat":"mpi","pid":${node},"tid":${rank},"ts":${start.toFixed(3)},"dur":${duration.toFixed(3)},"args":${args}}`,
    );
  }

  sent(dest: number, tag: number, bytes: number, sequence: number): void {
    this.#arrow("s", `${this.#options.rank}>${dest}#${sequence}`, tag, bytes);
  }

  matched(source: number, tag: number, bytes: number, sequence: number): void {
    const { rank, node } = this.#options;
    this.#event(
      `{"ph":"i","s":"t","name":"match","cat":"mpi","pid":${node},"tid":${rank},"ts":${this.#now().toFixed(3)},"args":{"source":${source},"tag":${tag},"bytes":${bytes}}}`,
    );
    this.#arrow("f", `${source}>${rank}#${sequence}`, tag, bytes);
  }

  #arrow(phase: "s" | "f", id: string, tag: number, bytes: number): void {
    const { rank, node } = this.#options;
    this.#event(
      `{"ph":"${phase}","bp":"e","name":"message","cat":"message","id":"${id}","pid":${node},"tid":${rank},"ts":${this.#now().toFixed(3)},"args":{"tag":${tag},"bytes":${bytes}}}`,
    );
  }

  #event(line: string): void {
    this.#text += `${line}\n`;
    if (this.#text.length > flushBytes) this.flush();
  }

  flush(): void {
    const text = this.#text;
    this.#text = "";
    try {
      writeSync(this.#file, text);
    } catch (error) {
      this.#options.failed((error as Error).message);
    }
  }

  close(): void {
    this.flush();
    closeSync(this.#file);
  }
}
