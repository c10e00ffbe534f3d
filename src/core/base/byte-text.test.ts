import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesOfText, hasOddBytes, textOfBytes } from "./byte-text.ts";
import fc from "./testing/properties.ts";

describe("M5 texts of C programs", () => {
  it("are characters where they are UTF-8, a byte order mark among them", () => {
    for (const text of ["", "grid", "Gitter größer", "格子", "🌳", "\ufeffmarked"]) {
      const bytes = Uint8Array.from(Buffer.from(text));
      equal(textOfBytes(bytes), text);
      deepEqual(bytesOfText(text), bytes);
      equal(hasOddBytes(text), false);
    }
  });

  it("come back byte for byte where they are not", () => {
    const odd = [
      [0xe9],
      [0x63, 0x61, 0x66, 0xe9],
      [0xed, 0xb2, 0x80],
      [0xf0, 0x9f, 0x8c],
      [0xc3, 0xa9, 0xff, 0x21],
      [0x80],
    ];
    for (const list of odd) {
      const bytes = Uint8Array.from(list);
      const text = textOfBytes(bytes);
      deepEqual(bytesOfText(text), bytes);
      equal(hasOddBytes(text), true);
    }
    equal(textOfBytes(Uint8Array.of(0xc3, 0xa9, 0xff)), "é\udcff");
  });

  it("whatever bytes they are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => deepEqual(bytesOfText(textOfBytes(bytes)), bytes)),
    );
  });

  it("and different bytes are different texts", () => {
    const all = Array.from({ length: 256 }, (_, byte) => textOfBytes(Uint8Array.of(byte)));
    equal(new Set(all).size, 256);
  });
});
