import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import type binaryenPackage from "binaryen";
import { bridgeFor, withWasmInvokes } from "./wasm-invokes.ts";

type Exports = Record<string, (...numbers: readonly (number | bigint)[]) => number | bigint>;

/** A module as Emscripten makes them: `boom` leaves the stack pointer where it is and throws what it is told to. */
const text = `(module
  (type $none (func)) (type $number (func (param i32) (result i32))) (type $long (func (param i64) (result i64)))
  (import "a" "throw" (func $throw (param i32)))
  (import "a" "v" (func $invoke_v (param i32)))
  (import "a" "ii" (func $invoke_ii (param i32 i32) (result i32)))
  (import "a" "jj" (func $invoke_jj (param i32 i64) (result i64)))
  (global $pointer (mut i32) (i32.const 1000))
  (global $threw (mut i32) (i32.const 0))
  (table $table 6 6 funcref)
  (elem (i32.const 1) $boom $foreign $half $negated $nested)
  (func $boom (global.set $pointer (i32.const 8)) (call $throw (i32.const 1)))
  (func $foreign (global.set $pointer (i32.const 8)) (call $throw (i32.const 2)))
  (func $half (param i32) (result i32)
    (if (i32.and (local.get 0) (i32.const 1)) (then (call $throw (i32.const 1))))
    (i32.shr_u (local.get 0) (i32.const 1)))
  (func $negated (param i64) (result i64)
    (if (i64.eqz (local.get 0)) (then (call $throw (i32.const 1))))
    (i64.sub (i64.const 0) (local.get 0)))
  (func $nested (call $invoke_v (i32.const 1)) (call $throw (global.get $threw)))
  (export "table" (table $table))
  (func (export "save") (result i32) (global.get $pointer))
  (func (export "restore") (param i32) (global.set $pointer (local.get 0)))
  (func (export "setThrew") (param i32 i32) (global.set $threw (local.get 0)))
  (func (export "threw") (result i32) (global.get $threw))
  (func (export "v") (param i32) (call $invoke_v (local.get 0)))
  (func (export "ii") (param i32 i32) (result i32) (call $invoke_ii (local.get 0) (local.get 1)))
  (func (export "jj") (param i32 i64) (result i64) (call $invoke_jj (local.get 0) (local.get 1)))
)`;
const [boom, foreign, half, negated, nested] = [1, 2, 3, 4, 5] as const;

/** The functions around it, letter by letter as in a shortened package, because they are known by their text. */
const script = `
class Q{}var t,R,i,a,l=r=>t.get(r);
return {
  start(x){t=x.table,R=x.save,i=x.restore,a=x.setThrew},
  imports:{a:{
    throw(r){throw r===1?new Q:new Error("of another kind")},
    v:function A(r){var t=R();try{l(r)()}catch(j){if(i(t),!(j instanceof Q))throw j;a(1,0)}},
    ii:function B(r,G){var t=R();try{return l(r)(G)}catch(j){if(i(t),!(j instanceof Q))throw j;a(1,0)}},
    jj:function C(r,G){var t=R();try{return l(r)(G)}catch(j){if(i(t),!(j instanceof Q))throw j;a(1,0);return 0n}}
  }}
}`;

describe("X9 calls of Binaryen that may throw stay in WebAssembly", () => {
  let binaryen: typeof binaryenPackage;
  let bytes: Uint8Array;

  it("those of the version that is installed do", async () => {
    const given: unknown[] = [];
    const engine = WebAssembly as unknown as {
      instantiate: (bytes: Uint8Array, imports: object) => Promise<unknown>;
    };
    const instantiate = engine.instantiate;
    engine.instantiate = (bytes, imports) => {
      for (const members of Object.values(imports)) given.push(...Object.values(members as object));
      return instantiate(bytes, imports);
    };
    try {
      binaryen = (await withWasmInvokes(() => import("binaryen"))).default;
    } finally {
      engine.instantiate = instantiate;
    }
    bytes = binaryen.parseText(text).emitBinary();
    const texts = given.map(String);
    ok(texts.filter((each) => each.includes("[native code]")).length > 20, `${texts.length} functions`);
    deepEqual(
      texts.filter((each) => /^function \w+\(\w+[\w,]*\)\{var \w+=\w+\(\);try/.test(each)),
      [],
    );
  });

  /** The module, with calls in JavaScript or in WebAssembly. */
  function start(isBridged: boolean): { exports: Exports; steps: (string | number | bigint)[] } {
    const { start: begin, imports } = new Function(script)();
    const bridge = isBridged ? bridgeFor(bytes, imports) : undefined;
    equal(bridge !== undefined, isBridged);
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), bridge?.imports ?? imports);
    begin(exports);
    bridge?.join(exports);
    return { exports: exports as unknown as Exports, steps: [] };
  }

  it("results, exceptions of C++ and the stack pointer are the same", () => {
    const [plain, bridged] = [false, true].map((isBridged) => {
      const { exports, steps } = start(isBridged);
      const look = (result: number | bigint | undefined): void => {
        steps.push(result ?? "nothing", exports["threw"]!(), exports["save"]!());
        exports["setThrew"]!(0, 0);
      };
      look(exports["ii"]!(half, 84));
      look(exports["ii"]!(half, 85));
      look(exports["jj"]!(negated, 2n ** 40n));
      look(exports["jj"]!(negated, 0n));
      look(exports["v"]!(boom));
      look(exports["v"]!(nested));
      return steps;
    });
    deepEqual(bridged, plain);
    deepEqual(bridged?.slice(0, 6), [42, 0, 1000, 0, 1, 1000]);
  });

  it("any other exception goes on, and so does a trap", () => {
    const { exports } = start(true);
    throws(() => exports["v"]!(foreign), /of another kind/);
    equal(exports["threw"]!(), 0);
    throws(() => exports["v"]!(0), WebAssembly.RuntimeError);
    equal(exports["threw"]!(), 0);
    equal(exports["ii"]!(half, 6), 3);
  });

  it("a module of another kind is left alone", () => {
    const small = binaryen.parseText('(module (func (export "f")))').emitBinary();
    equal(bridgeFor(small, { a: {} }), undefined);
    const { imports } = new Function(script.replaceAll("try{", "try {"))();
    match(String(imports.a.v), /try \{/);
    equal(bridgeFor(bytes, imports), undefined);
  });

  it("whoever instantiates a compiled module meanwhile gets its instance", async () => {
    const empty = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
    const instance = await withWasmInvokes(() => WebAssembly.instantiate(empty, {}));
    ok(instance instanceof WebAssembly.Instance);
  });
});
