/*
 * Watched bytes: three regions of the memory of which a copy is kept. A call may change what it was told it may write, and
 * nothing else; `check` says which byte was changed nevertheless.
 *
 *   low    the first bytes, where whoever takes NULL or a small number for an address writes
 *   arena  where buffers, lists and texts are placed, with bytes between them that nobody may touch
 *   edge   the last bytes of the memory
 */
#include <stdint.h>
#include <string.h>

enum { LOW_BYTES = 1024, ARENA_BYTES = 1 << 20, EDGE_BYTES = 4096, RANGES = 4096, GAP = 32 };

struct range {
    uint32_t from, to;
};

static unsigned char arena[ARENA_BYTES] __attribute__((aligned(64)));
static unsigned char arena_copy[ARENA_BYTES];
static unsigned char low_copy[LOW_BYTES];
static unsigned char edge_copy[EDGE_BYTES];
/* Where the next thing is placed, and where those of this call begin. */
static uint32_t arena_used, call_begin;
/* What may be changed: by this call, and by operations that are still under way. */
static struct range allowed[64], pending[RANGES];
static int allowed_count, pending_count;

static uint64_t memory_end(void) {
    return (uint64_t)__builtin_wasm_memory_size(0) << 16;
}

/* An address as a pointer, in a way that lets the compiler think nothing of it: 0 is an address here. */
static unsigned char *at(uint32_t address) {
    __asm__("" : "+r"(address));
    return (unsigned char *)(uintptr_t)address;
}

static uint32_t edge_begin(void) {
    return (uint32_t)(memory_end() - EDGE_BYTES);
}

static void watch(void) {
    for (uint32_t i = 0; i < ARENA_BYTES; i++) arena_copy[i] = (unsigned char)(i * 37 + (i >> 8) * 11 + 0x5a);
    memcpy(arena, arena_copy, ARENA_BYTES);
    for (uint32_t i = 0; i < EDGE_BYTES; i++) edge_copy[i] = (unsigned char)(i * 29 + 0xa5);
    memcpy(at(edge_begin()), edge_copy, EDGE_BYTES);
    for (uint32_t i = 0; i < LOW_BYTES; i++) low_copy[i] = *at(i);
}

/* So many bytes for this call, with a gap on both sides; 0: there is no room left in this episode. */
static uint32_t place(uint32_t bytes, uint32_t alignment) {
    uint32_t begin = ((arena_used + GAP + 15) & ~15u) + alignment;
    if (begin + bytes + 2 * GAP > ARENA_BYTES) return 0;
    arena_used = begin + bytes;
    return (uint32_t)(uintptr_t)arena + begin;
}

static int has_room(void) {
    return arena_used < ARENA_BYTES - (256 << 10) && pending_count < RANGES - 64;
}

/* Puts an argument's bytes into the arena: they are ours, so the copy has them too. */
static void put(uint32_t address, const void *bytes, uint32_t length) {
    memcpy(at(address), bytes, length);
    uint32_t offset = address - (uint32_t)(uintptr_t)arena;
    if (offset < ARENA_BYTES) memcpy(arena_copy + offset, bytes, length);
}

static void allow(uint32_t from, uint32_t bytes) {
    if (bytes > 0 && allowed_count < 64) allowed[allowed_count++] = (struct range){from, from + bytes};
}

static int is_in(const struct range *ranges, int count, uint32_t address) {
    for (int i = count - 1; i >= 0; i--) {
        if (address >= ranges[i].from && address < ranges[i].to) return 1;
    }
    return 0;
}

/* The first byte of a region that was changed and may not be; −1: there is none. What may be changed is taken over. */
static int64_t changed(uint32_t region, unsigned char *copy, uint32_t from, uint32_t to) {
    const unsigned char *now = at(region);
    while (from < to) {
        /* Compared in blocks: nearly all of them are equal. */
        uint32_t end = from + 256 < to ? from + 256 : to;
        if (memcmp(now + from, copy + from, end - from) != 0) {
            for (uint32_t i = from; i < end; i++) {
                if (now[i] == copy[i]) continue;
                uint32_t address = region + i;
                if (!is_in(allowed, allowed_count, address) && !is_in(pending, pending_count, address)) return address;
                copy[i] = now[i];
            }
        }
        from = end;
    }
    return -1;
}

/* After a call: what it had, and its surroundings. */
static int64_t check_call(void) {
    uint32_t from = call_begin > GAP ? call_begin - GAP : 0;
    int64_t byte = changed((uint32_t)(uintptr_t)arena, arena_copy, from, arena_used + GAP);
    if (byte < 0) byte = changed(0, low_copy, 0, LOW_BYTES);
    if (byte < 0) byte = changed(edge_begin(), edge_copy, 0, EDGE_BYTES);
    return byte;
}

/* Everything. */
static int64_t check_all(void) {
    int64_t byte = changed((uint32_t)(uintptr_t)arena, arena_copy, 0, ARENA_BYTES);
    return byte < 0 ? check_call() : byte;
}

static void begin_call(void) {
    call_begin = arena_used;
    allowed_count = 0;
}

/* What the call may write it may write later, too: it has left something under way. */
static void keep_allowed(void) {
    for (int i = 0; i < allowed_count && pending_count < RANGES; i++) pending[pending_count++] = allowed[i];
}

static void begin_watching(void) {
    arena_used = pending_count = 0;
    begin_call();
}
