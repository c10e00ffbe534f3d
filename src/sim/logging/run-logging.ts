/**
 * Runs one world under message logging to its end and judges it. Which world, which program, which correlated sets and what
 * goes wrong is its setup, drawn from a seed (run-logging-seed.ts) or written down by a test.
 */
import type { LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import { type RecoveringOutcome, RecoveringRun, type RecoveringSetup } from "../recovery/recovering-run.ts";
import type { StoreFaults } from "./event-log.ts";
import { SimLogging } from "./sim-logging.ts";

export interface LoggingSetup extends RecoveringSetup {
  /** Memory of each rank's payload log; null: it has no bound. */
  readonly logBytesMax: number | null;
  /** Is an event logger that is lost only out of reach? Otherwise it crashes, and a successor takes its place. */
  readonly loggerKeeps?: boolean | undefined;
  /** Of the event logger's store. */
  readonly storeFaults: StoreFaults;
  /** Another protocol than the real one, for tests that want to see it fail. */
  readonly newProtocol?: ((options: LoggingOptions, ports: ProtocolPorts) => LoggingProtocol) | undefined;
}

export interface LoggingOutcome extends RecoveringOutcome<SimLogging> {
  /** In all payload logs at the end. */
  readonly loggedBytes: number;
  /** Payloads that left memory, and that came back. */
  readonly spilled: number;
  readonly fetched: number;
  /** What happened to the event logger's store. */
  readonly stores: SimLogging["eventLog"]["stores"];
}

export function runLogging(setup: LoggingSetup): LoggingOutcome {
  const { setOf, services, logBytesMax, newProtocol, storeFaults } = setup;
  const loggerKeeps = setup.loggerKeeps === true;
  const run = new RecoveringRun(
    setup,
    (ports) => new SimLogging({ setOf, ...services, logBytesMax, newProtocol, loggerKeeps, storeFaults }, ports),
  );
  const outcome = run.judged();
  const { parts, processes } = run;
  return {
    ...outcome,
    loggedBytes: sum(processes.map(({ core }) => (core.protocol as LoggingProtocol).loggedBytes)),
    spilled: parts.spilled,
    fetched: parts.fetched,
    stores: parts.eventLog.stores,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
