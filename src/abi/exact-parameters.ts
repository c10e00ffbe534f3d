/**
 * A function of exactly as many parameters as it is passed. WebAssembly calls such a one directly; for any other, one with rest
 * parameters too, V8 makes a detour (30 to 60 ns a call on Node 20).
 */

// biome-ignore lint/suspicious/noExplicitAny: numbers, and BigInt where C has 64 bits
type Call = (...args: any[]) => number;

export function withParameters(count: number, call: Call): Call {
  switch (count) {
    case 1:
      return (a) => call(a);
    case 2:
      return (a, b) => call(a, b);
    case 3:
      return (a, b, c) => call(a, b, c);
    case 4:
      return (a, b, c, d) => call(a, b, c, d);
    case 5:
      return (a, b, c, d, e) => call(a, b, c, d, e);
    case 6:
      return (a, b, c, d, e, f) => call(a, b, c, d, e, f);
    case 7:
      return (a, b, c, d, e, f, g) => call(a, b, c, d, e, f, g);
    case 8:
      return (a, b, c, d, e, f, g, h) => call(a, b, c, d, e, f, g, h);
    default:
      return call;
  }
}
