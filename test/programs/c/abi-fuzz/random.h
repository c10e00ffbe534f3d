/* Random numbers that follow from the seed, the episode, the rank and the call alone: any call can be drawn again. */
#include <stdint.h>

static uint64_t random_state;

static uint64_t mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t next_random(void) {
    return mixed(random_state += 0x9e3779b97f4a7c15u);
}

static void seed_random(uint64_t seed, uint64_t episode, uint64_t stream, uint64_t call) {
    random_state = mixed(mixed(mixed(seed) + episode) * 31 + stream) * 31 + call;
}

static int below(int count) {
    return (int)(next_random() % (uint64_t)count);
}

/* So many times in a hundred. */
static int often(int percent) {
    return below(100) < percent;
}

#define ONE_OF(list) (list)[below((int)(sizeof(list) / sizeof *(list)))]
