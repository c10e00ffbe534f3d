/**
 * Bytes of a C program as a text, and back, without loss. Bytes that are UTF-8 become their characters. Any other byte, which is at
 * least 0x80, becomes a lone surrogate, U+DC80 to U+DCFF, which no UTF-8 has: such a text comes back byte for byte, and shows as
 * replacement characters where it is printed. (Python calls this "surrogateescape", PEP 383.)
 */
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();
const escapedFirst = 0xdc00;
/** Pairs of surrogates are one character here, and do not match. */
const escaped = /[\udc80-\udcff]/u;
const sequenceBytesMax = 4;

/** `bytes` is not shared memory. */
export function textOfBytes(bytes: Uint8Array): string {
  return decoded(bytes) ?? textWithEscapes(bytes);
}

export function bytesOfText(text: string): Uint8Array {
  if (!escaped.test(text)) return encoder.encode(text);
  const parts: number[] = [];
  for (const character of text) {
    if (escaped.test(character)) parts.push(character.charCodeAt(0) - escapedFirst);
    else parts.push(...encoder.encode(character));
  }
  return Uint8Array.from(parts);
}

/** Does the text stand for bytes that are no UTF-8? */
export function hasOddBytes(text: string): boolean {
  return escaped.test(text);
}

/** Undefined: they are no UTF-8. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

function textWithEscapes(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const character = characterAt(bytes, at);
    text += character === undefined ? String.fromCharCode(escapedFirst + bytes[at]!) : character.text;
    at += character?.bytes ?? 1;
  }
  return text;
}

/** The character of UTF-8 that begins there, if there is one. */
function characterAt(bytes: Uint8Array, at: number): { text: string; bytes: number } | undefined {
  for (let count = 1; count <= sequenceBytesMax && at + count <= bytes.length; count++) {
    const text = decoded(bytes.subarray(at, at + count));
    if (text !== undefined) return { text, bytes: count };
  }
  return undefined;
}
