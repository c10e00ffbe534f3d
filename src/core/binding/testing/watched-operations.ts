/**
 * A layer between a program and its process that changes nothing: it holds the face to its promises (operations.ts) and remembers
 * what was started. Every request is asked about only while it is under way, read only when it is complete, and given back once.
 */
import { assert } from "../../base/assert.ts";
import type { RecordId } from "../../base/brand.ts";
import type { Communicator } from "../../process/communicator.ts";
import type { Operations } from "../operations.ts";

/** Methods whose first argument, or second one, is a request under way; `complete`: and it must be over. */
const asks: Readonly<Record<string, { readonly index: number; readonly complete?: true; readonly gives?: true }>> = {
  endHeld: { index: 0, gives: true },
  completeOwn: { index: 0 },
  failOwn: { index: 0, complete: true },
  isComplete: { index: 0 },
  errorOf: { index: 0, complete: true },
  isStalled: { index: 0, complete: true },
  bytesOf: { index: 0, complete: true },
  readOutcome: { index: 1, complete: true },
  isMessage: { index: 0 },
  end: { index: 0, complete: true, gives: true },
  abandon: { index: 0, gives: true },
  finishLater: { index: 0, gives: true },
  cancel: { index: 0 },
  wait: { index: 0 },
};

/** The short ways, which leave no request. */
const shortWays = new Set(["sendNow", "receiveNow", "meet"]);

export interface Watched {
  readonly operations: Operations;
  /** Requests that have been started and not given back, by the name of their start. */
  readonly open: ReadonlyMap<RecordId, string>;
  /** What was started and given back, in order. */
  readonly log: readonly string[];
  /** The process goes on with requests of an earlier life, which this layer has not seen. */
  restored(): void;
}

export function watched(inner: Operations): Watched {
  const open = new Map<RecordId, string>();
  const log: string[] = [];
  let hasEarlierLife = false;
  const isOpen = (name: string, request: RecordId): void =>
    assert(hasEarlierLife || open.has(request), `${name} is about request ${request}, which is not under way`);

  function call(name: string, method: (...args: unknown[]) => unknown, args: unknown[]): unknown {
    const asked = asks[name];
    if (asked !== undefined) {
      const request = args[asked.index] as RecordId;
      isOpen(name, request);
      assert(
        asked.complete === undefined || inner.isComplete(request),
        `${name} is about an operation that is not over`,
      );
      if (asked.gives) open.delete(request);
    }
    const result = method.apply(inner, args);
    if (/^start/.test(name)) {
      assert(
        !open.has(result as RecordId) || name === "startFinalBarrier",
        `${name} gives a request that is under way`,
      );
      open.set(result as RecordId, name);
    }
    if (/^start/.test(name) || shortWays.has(name)) log.push(line(name, args));
    if (asked?.gives) log.push("given back");
    return result;
  }

  const operations = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || typeof name !== "string") return value;
      return (...args: unknown[]) => call(name, value as (...args: unknown[]) => unknown, args);
    },
  });
  const restored = (): void => {
    hasEarlierLife = true;
  };
  return { operations, open, log, restored };
}

const isCommunicator = (value: unknown): value is Communicator =>
  typeof value === "object" && value !== null && "context" in value;

/** Of messages their length, peer, tag and mode; of collectives their kind. Pointers and requests differ from run to run. */
function line(name: string, [comm, ...rest]: readonly unknown[]): string {
  if (!isCommunicator(comm)) return name;
  const isMessage = /send|receive/i.test(name);
  const told = rest.filter(
    (value, i) => typeof value === "string" || (isMessage && i > 0 && typeof value === "number"),
  );
  return [name, ...told].join(" ");
}
