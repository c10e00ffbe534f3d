/** MPI_Sendrecv in the data plane of a C rank (docs/adr/0026-waits-and-exchanges-in-the-data-plane.md): two halves of face.wat in one call. */
import exchangeBytes from "./exchange.wat";

type Functions = Record<string, unknown>;

interface Connection {
  /** Exports of plane.wat and face.wat. */
  readonly plane: Functions;
  readonly face: Functions;
  /** Imports as the engine has them, and `restOfExchange`. */
  readonly engine: Functions;
  /** See face.wat. */
  readonly waits: Functions;
}

let exchangeModule: WebAssembly.Module | undefined;

/** The functions that take the place of the engine's imports. */
export function connectExchanges({ plane, face, engine, waits }: Connection): Functions {
  exchangeModule ??= new WebAssembly.Module(exchangeBytes);
  return new WebAssembly.Instance(exchangeModule, { plane, face, engine, waits }).exports;
}
