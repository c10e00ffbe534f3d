/**
 * CRC-32 (reversed polynomial 0xEDB88320, as zip and Ethernet have it): every flipped bit and every damaged run of up to 32 bits is
 * noticed. For small records that are read rarely; images have a faster checksum (`image/checksum.ts`).
 */
const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 0 ? rest >>> 1 : (rest >>> 1) ^ 0xedb88320;
  return rest;
});

/** The checksum as an unsigned number. `before` is the checksum of the bytes in front. */
export function crc32(bytes: Uint8Array, before = 0): number {
  let crc = ~before;
  for (const byte of bytes) crc = (crc >>> 8) ^ table[(crc ^ byte) & 0xff]!;
  return ~crc >>> 0;
}
